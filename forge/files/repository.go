package files

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agent/forge"
)

// Repository is the configured one, or that in which the directory lies.
func (c *Client) Repository(_ context.Context, key forge.TaskKey) (forge.Repository, error) {
	const op = "read repository"
	if err := c.check(op, key); err != nil {
		return forge.Repository{}, err
	}
	if where := c.cfg.Repository; where != "" && !filepath.IsAbs(where) {
		return forge.Repository{CloneURL: where, Private: true}, nil // git finds its default branch
	}
	dir, gitDir := c.cfg.Repository, ""
	if dir == "" {
		dir, gitDir = around(c.cfg.Directory)
	} else {
		gitDir = gitDirOf(dir)
	}
	if gitDir == "" {
		where := c.cfg.Repository
		if where == "" {
			where = c.cfg.Directory
		}
		return forge.Repository{}, &forge.Error{Kind: forge.NotFound, Op: op, Message: where + " is not in a git repository: set `repository`"}
	}
	clone, head := dir, gitDir
	if common, linked := commonDir(gitDir); linked { // the working copy of another repository
		clone = common
	}
	return forge.Repository{CloneURL: clone, DefaultBranch: branchOf(head), Private: true}, nil
}

// around finds the working copy that a directory lies in.
func around(dir string) (top, gitDir string) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for {
		if gitDir = gitDirOf(dir); gitDir != "" {
			return dir, gitDir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", ""
		}
		dir = parent
	}
}

// gitDirOf is where git keeps what it knows of a directory: in its .git, where a file
// .git points to, or in itself if it is bare. "" if it is no repository.
func gitDirOf(dir string) string {
	inside := filepath.Join(dir, ".git")
	info, err := os.Stat(inside)
	switch {
	case err == nil && info.IsDir():
		return inside
	case err == nil:
		text, err := os.ReadFile(inside)
		to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
		if err != nil || !ok {
			return ""
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		return to
	}
	for _, part := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, part)); err != nil {
			return ""
		}
	}
	return dir
}

// commonDir is the repository that a linked working copy belongs to.
func commonDir(gitDir string) (dir string, linked bool) {
	text, err := os.ReadFile(filepath.Join(gitDir, "commondir"))
	if err != nil {
		return "", false
	}
	dir = strings.TrimSpace(string(text))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(gitDir, dir)
	}
	return dir, true
}

// branchOf is the branch that is checked out, "" if none is.
func branchOf(gitDir string) string {
	text, err := os.ReadFile(filepath.Join(gitDir, "HEAD"))
	if err != nil {
		return ""
	}
	branch, _ := strings.CutPrefix(strings.TrimSpace(string(text)), "ref: refs/heads/")
	if strings.HasPrefix(string(text), "ref: ") {
		return branch
	}
	return ""
}

// FindChange looks for a branch that the task notes.
func (c *Client) FindChange(ctx context.Context, key forge.TaskKey, branch string) (*forge.Change, error) {
	f, _, err := c.do(ctx, "find change", key, nil)
	if err != nil || !slices.ContainsFunc(f.doc.head.Changes, func(noted change) bool { return noted.Branch == branch }) {
		return nil, err
	}
	found := c.change(key, branch)
	return &found, nil
}

// OpenChange notes a branch that was pushed. That is all that a directory can do.
func (c *Client) OpenChange(ctx context.Context, key forge.TaskKey, spec forge.ChangeSpec) (forge.Change, error) {
	const op = "open change"
	if spec.Branch == "" || spec.Branch == spec.Base {
		return forge.Change{}, invalid(op, "the change has no branch of its own")
	}
	_, _, err := c.do(ctx, op, key, func(d *document, _ *side) error {
		if slices.ContainsFunc(d.head.Changes, func(noted change) bool { return noted.Branch == spec.Branch }) {
			return invalid(op, "the branch is noted already")
		}
		return d.setChanges(append(d.head.Changes, change{spec.Branch, spec.Base}))
	})
	if err != nil {
		return forge.Change{}, err
	}
	return c.change(key, spec.Branch), nil
}

// change is a branch, which has no page: the address says where it is.
func (c *Client) change(key forge.TaskKey, branch string) forge.Change {
	repo, err := c.Repository(context.Background(), key)
	if err != nil {
		repo.CloneURL = c.cfg.Directory // it was there when the branch was pushed
	}
	return forge.Change{Number: key.Number, URL: repo.CloneURL + "#" + branch, Branch: branch}
}
