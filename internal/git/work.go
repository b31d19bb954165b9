package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Head is the commit that is checked out, 40 or 64 hex digits.
func (r *Repo) Head(ctx context.Context) (commit string, err error) {
	out, err := r.git(ctx, "rev-parse", "--verify", "HEAD^{commit}")
	return strings.TrimSpace(out), err
}

// Status returns the paths that differ from the commit, sorted, relative, with
// slashes; untracked files one by one, ignored ones and submodules not at all.
func (r *Repo) Status(ctx context.Context) ([]string, error) {
	out, err := r.run(ctx, command{
		name: "status", args: []string{"--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all"},
		env: []string{"GIT_OPTIONAL_LOCKS=0"},
	})
	if err != nil {
		return nil, err
	}
	var paths []string
	for entry := range strings.SplitSeq(out, "\x00") {
		if len(entry) > 3 { // two letters and a space
			paths = append(paths, entry[3:])
		}
	}
	slices.Sort(paths)
	return paths, nil
}

var identity = regexp.MustCompile(`^([^<>[:cntrl:]]*[^<>[:cntrl:] ]) <([^<>[:cntrl:] ]+)>$`)

// CommitAll puts everything that Status shows into one commit on branch, which
// is made from the current commit if it does not exist. author is
// "Name <address>". changed are the paths of the new commit; if there was
// nothing to commit it is empty, and commit is the branch's last one.
func (r *Repo) CommitAll(ctx context.Context, branch, message, author string) (commit string, changed []string, err error) {
	if err := checkBranch(branch); err != nil {
		return "", nil, fmt.Errorf("git commit: %w", err)
	}
	who := identity.FindStringSubmatch(author)
	if who == nil {
		return "", nil, fmt.Errorf("git commit: the author %q is not a name and an address", author)
	}
	if err := r.check(); err != nil {
		return "", nil, fmt.Errorf("git commit: %w", err)
	}
	if err := r.unlock(branch); err != nil {
		return "", nil, err
	}
	if err := r.enter(ctx, branch); err != nil {
		return "", nil, err
	}
	if err := r.add(ctx); err != nil {
		return "", nil, err
	}
	staged, err := r.paths(ctx, "diff-index", "--cached", "--no-renames", "HEAD", "--")
	if err != nil {
		return "", nil, err
	}
	if len(staged) > 0 {
		_, err = r.run(ctx, command{
			name: "commit", args: []string{"--quiet", "--no-verify", "--no-gpg-sign", "--cleanup=whitespace", "--file=-"},
			input: message, env: []string{
				"GIT_AUTHOR_NAME=" + who[1], "GIT_AUTHOR_EMAIL=" + who[2],
				"GIT_COMMITTER_NAME=" + who[1], "GIT_COMMITTER_EMAIL=" + who[2],
			},
		})
		if err != nil {
			return "", nil, err
		}
	}
	commit, err = r.Head(ctx)
	return commit, staged, err
}

// add puts all changes into the index, but leaves submodules: for each, git would
// start another one that obeys the configuration in there.
func (r *Repo) add(ctx context.Context) error {
	index, err := r.git(ctx, "ls-files", "--stage", "-z")
	if err != nil {
		return err
	}
	paths := ".\x00"
	for entry := range strings.SplitSeq(index, "\x00") {
		if what, path, _ := strings.Cut(entry, "\t"); strings.HasPrefix(what, "160000 ") {
			paths += ":(top,exclude,literal)" + path + "\x00"
		}
	}
	_, err = r.run(ctx, command{
		name: "add", args: []string{"--all", "--pathspec-from-file=-", "--pathspec-file-nul"},
		input: paths, magic: true,
	})
	return err
}

// unlock removes the locks of a git that was killed. Nobody else writes here:
// the caller holds the context's lock, and no git outlives its agent.
func (r *Repo) unlock(branch string) error {
	for _, name := range []string{"index", "HEAD", "refs/heads/" + branch} {
		err := os.Remove(filepath.Join(r.Dir, ".git", filepath.FromSlash(name)+".lock"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("git commit: %w", err)
		}
	}
	return nil
}

// enter makes branch the current one and keeps all changes.
func (r *Repo) enter(ctx context.Context, branch string) error {
	current, err := r.git(ctx, "rev-parse", "--symbolic-full-name", "HEAD")
	if err != nil {
		return err
	}
	if strings.TrimSpace(current) == "refs/heads/"+branch {
		return nil
	}
	known, err := r.git(ctx, "for-each-ref", "--format=%(refname)", "--", "refs/heads/"+branch)
	if err != nil {
		return err
	}
	if strings.TrimSpace(known) == "refs/heads/"+branch {
		_, err = r.git(ctx, "switch", "--quiet", "--no-guess", branch)
	} else {
		_, err = r.git(ctx, "switch", "--quiet", "--create", branch)
	}
	return err
}

// Changed returns the paths that differ between HEAD and the commit where it left base, sorted.
func (r *Repo) Changed(ctx context.Context, base string) ([]string, error) {
	if base == "" || strings.HasPrefix(base, "-") || strings.Contains(base, "..") {
		return nil, fmt.Errorf("git diff: %q is not a commit", base)
	}
	return r.paths(ctx, "diff", "--no-renames", "--no-ext-diff", "--no-textconv", base+"...HEAD", "--")
}

// paths runs a comparison and returns the names it prints.
func (r *Repo) paths(ctx context.Context, name string, args ...string) ([]string, error) {
	out, err := r.git(ctx, name, append([]string{"--name-only", "-z"}, args...)...)
	if err != nil || out == "" {
		return nil, err
	}
	paths := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	slices.Sort(paths)
	return paths, nil
}

// Push sends the branch to the URL that [Clone] got, never by force. What is
// there already is no error. A working copy from [Open] cannot be pushed.
func (r *Repo) Push(ctx context.Context, branch string) error {
	if err := checkBranch(branch); err != nil {
		return fmt.Errorf("git push: %w", err)
	}
	if r.auth.url == "" {
		return errors.New("git push: the working copy was not cloned here")
	}
	ref := "refs/heads/" + branch
	_, err := r.run(ctx, command{
		name: "push", args: []string{"--quiet", "--no-verify", "--no-signed", "--recurse-submodules=no", "--", r.auth.url, ref + ":" + ref},
		auth: r.auth,
	})
	return err
}
