package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"agent/internal/scratch"
)

// PushSpec says what goes where.
type PushSpec struct {
	Branch string
	Commit string
	Base   string // the commit that the work began on
	Author string // of commits that have to be made again
	There  bool   // the branch is somebody's and must exist
}

// Push sends a commit to a branch of the URL that [Clone] got, never by force,
// and returns what the branch holds. What is there already is no error. If the
// branch has moved, the commits that did not go out yet are put onto it once. A working copy
// from [Open] cannot be pushed.
func (r *Repo) Push(ctx context.Context, spec PushSpec) (commit string, err error) {
	if err := checkBranch(spec.Branch); err != nil {
		return "", fmt.Errorf("git push: %w", err)
	}
	if r.auth.url == "" {
		return "", errors.New("git push: the working copy was not cloned here")
	}
	if !hexName(spec.Commit) || !hexName(spec.Base) {
		return "", errors.New("git push: the commits must be names of objects")
	}
	there, err := r.auth.branch(ctx, spec.Branch)
	switch {
	case err != nil:
		return "", err
	case there == spec.Commit:
		return there, r.published(ctx, spec.Commit)
	case there == "" && spec.There:
		return "", &Error{"push", Gone, "the branch " + spec.Branch + " does not exist any more"}
	}
	err = r.push(ctx, spec.Commit, spec.Branch)
	var failed *Error
	switch {
	case err == nil:
		return spec.Commit, r.published(ctx, spec.Commit)
	case !errors.As(err, &failed) || failed.Kind != Moved:
		return "", err
	}
	if commit, err = r.rebase(ctx, spec); err != nil {
		return "", err
	}
	if err := r.push(ctx, commit, spec.Branch); err != nil {
		return "", err
	}
	return commit, r.published(ctx, spec.Commit)
}

// publishedRef is the last commit of the working copy that went out, perhaps in
// another form on top of what others had pushed.
const publishedRef = "refs/agent/published"

func (r *Repo) published(ctx context.Context, commit string) error {
	if err := r.unlock("push", publishedRef); err != nil {
		return err
	}
	_, err := r.git(ctx, "update-ref", "--no-deref", publishedRef, commit)
	return err
}

// PublishedBase is the commit that the next ones come after: base, but in a copy that was
// made again since a commit of it went out. There it is the last of those, as far as the
// branch still has it: what begins at base would not fit onto it.
func (r *Repo) PublishedBase(ctx context.Context, base, branch, last string) (string, error) {
	if !hexName(last) || r.auth.url == "" || checkBranch(branch) != nil {
		return base, nil
	}
	out, err := r.git(ctx, "rev-parse", "--quiet", "--verify", publishedRef+"^{commit}")
	known := strings.TrimSpace(out)
	if err != nil || !hexName(known) {
		tip, err := r.fetch(ctx, "refs/heads/"+branch)
		if err == nil && tip != last {
			tip, err = r.fetch(ctx, last) // somebody pushed since; not all servers give it
		}
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case IsTemporary(err):
			return "", err // the branch may have it all the same
		case err != nil || tip != last:
			return base, nil
		}
		known = last
		if err := r.published(ctx, last); err != nil {
			return "", err
		}
	}
	if _, err := r.git(ctx, "merge-base", "--is-ancestor", base, known); err == nil {
		return base, nil
	}
	return known, ctx.Err()
}

// unpublished is the commit after which those begin that did not go out yet.
func (r *Repo) unpublished(ctx context.Context, spec PushSpec) string {
	out, err := r.git(ctx, "rev-parse", "--quiet", "--verify", publishedRef+"^{commit}")
	last := strings.TrimSpace(out)
	if err != nil || last == spec.Commit || !hexName(last) {
		return spec.Base
	}
	if _, err := r.git(ctx, "merge-base", "--is-ancestor", last, spec.Commit); err != nil {
		return spec.Base
	}
	return last
}

func (r *Repo) push(ctx context.Context, commit, branch string) error {
	_, err := r.run(ctx, command{
		name: "push", args: []string{"--quiet", "--no-verify", "--no-signed", "--recurse-submodules=no", "--", r.auth.url, commit + ":refs/heads/" + branch},
		auth: r.auth, limit: cloneLimit,
	})
	return err
}

// branch is the commit of a branch of the remote, "" if there is none.
func (a auth) branch(ctx context.Context, branch string) (string, error) {
	out, err := command{name: "ls-remote", args: []string{"--quiet", "--refs", "--", a.url, "refs/heads/" + branch},
		dir: os.TempDir(), env: []string{"GIT_DIR=/dev/null"}, auth: a}.run(ctx)
	if err != nil {
		return "", err
	}
	for line := range strings.SplitSeq(out, "\n") {
		if commit, name, _ := strings.Cut(line, "\t"); name == "refs/heads/"+branch && hexName(commit) {
			return commit, nil
		}
	}
	return "", nil
}

// HasBranch reports whether the remote at the URL has a branch.
func HasBranch(ctx context.Context, o Options, branch string) (bool, error) {
	a, err := newAuth(o)
	if err != nil {
		return false, fmt.Errorf("git ls-remote: %w", err)
	}
	if checkBranch(branch) != nil {
		return false, nil
	}
	commit, err := a.branch(ctx, branch)
	return commit != "", err
}

// fetch gets the latest commit of a reference of the remote.
func (r *Repo) fetch(ctx context.Context, ref string) (commit string, err error) {
	if err := r.unlock("fetch", "shallow"); err != nil {
		return "", err
	}
	_, err = r.run(ctx, command{
		name: "fetch", args: []string{"--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance", "--update-head-ok",
			"--no-write-fetch-head", "--", r.auth.url, "+" + ref + ":refs/agent/fetched"},
		auth: r.auth, limit: cloneLimit,
	})
	if err != nil {
		return "", err
	}
	out, err := r.git(ctx, "rev-parse", "--verify", "refs/agent/fetched^{commit}")
	return strings.TrimSpace(out), err
}

// rebase puts the commits since the base onto what the branch of the remote
// holds now. It is done in a directory of its own, so that the working copy stays
// as it is, and a process that is killed here leaves nothing that counts.
func (r *Repo) rebase(ctx context.Context, spec PushSpec) (commit string, err error) {
	onto, err := r.fetch(ctx, "refs/heads/"+spec.Branch)
	if err != nil {
		return "", err
	}
	dir, remove, err := scratch.Dir(scratch.Git)
	if err != nil {
		return "", fmt.Errorf("git rebase: %w", err)
	}
	defer remove()
	config, err := r.config(ctx)
	if err != nil {
		return "", err
	}
	format := "--object-format=sha1"
	if len(spec.Commit) == 64 {
		format = "--object-format=sha256"
	}
	if _, err := (command{name: "init", dir: dir, trees: []string{dir}, args: []string{"--quiet", "--template=", format, dir}}).run(ctx); err != nil {
		return "", err
	}
	if err := r.lend(dir, config); err != nil {
		return "", fmt.Errorf("git rebase: %w", err)
	}
	spec.Base = r.unpublished(ctx, spec)
	return r.rebaseIn(ctx, dir, onto, spec)
}

// lend lets a repository of our own use the commits of the working copy.
func (r *Repo) lend(dir string, config map[string][]string) error {
	if err := r.check(); err != nil {
		return err
	}
	root, err := OpenDir(r.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	own := filepath.Join(dir, ".git")
	shallow, err := root.ReadFile(".git/shallow")
	if err == nil {
		err = os.WriteFile(filepath.Join(own, "shallow"), shallow, 0o600)
	} else if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, os.WriteFile(filepath.Join(own, "config"), []byte(format(config)), 0o600))
}

func (r *Repo) rebaseIn(ctx context.Context, dir, onto string, spec PushSpec) (string, error) {
	who := identity.FindStringSubmatch(spec.Author)
	if who == nil {
		return "", fmt.Errorf("git rebase: the author %q is not a name and an address", spec.Author)
	}
	run := func(name string, args ...string) (string, error) {
		return command{name: name, args: args, dir: dir, trees: []string{dir, filepath.Join(r.Dir, ".git", "objects")}, env: []string{
			"GIT_DIR=" + filepath.Join(dir, ".git"), "GIT_WORK_TREE=" + dir,
			"GIT_OBJECT_DIRECTORY=" + filepath.Join(r.Dir, ".git", "objects"),
			"GIT_COMMITTER_NAME=" + who[1], "GIT_COMMITTER_EMAIL=" + who[2],
		}}.run(ctx)
	}
	if _, err := run("reset", "--quiet", "--hard", spec.Commit); err != nil {
		return "", err
	}
	if _, err := run("rebase", "--quiet", "--no-verify", "--no-autostash", "--no-gpg-sign", "--no-stat", "--committer-date-is-author-date",
		"--onto", onto, spec.Base); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", &Error{"rebase", Conflict, "the commits do not fit onto what the branch " + spec.Branch + " holds now"}
	}
	out, err := run("rev-parse", "--verify", "HEAD^{commit}")
	return strings.TrimSpace(out), err
}
