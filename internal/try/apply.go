package try

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ChangedError names originals that were changed since they were copied.
type ChangedError struct{ Paths []string }

func (e *ChangedError) Error() string {
	return "changed meanwhile, so nothing was applied: " + strings.Join(e.Paths, ", ")
}

// diff makes one diff against the snapshot of the patch that the context left, which
// may have several commits.
func (t *Try) diff(ctx context.Context, patch []byte) ([]byte, error) {
	if len(patch) == 0 {
		return nil, nil
	}
	if _, err := git(ctx, t.repository(), own, nil, "reset", "-q", "--hard"); err != nil {
		return nil, err
	}
	if _, err := git(ctx, t.repository(), own, patch, "apply", "--index", "--whitespace=nowarn"); err != nil {
		return nil, err
	}
	return git(ctx, t.repository(), own, nil, "diff", "--cached", "--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "HEAD")
}

// Apply changes the originals, all or none. It refuses if one of them is not as it was copied.
func (t *Try) Apply(ctx context.Context, diff []byte) error {
	out, err := git(ctx, t.repository(), own, nil, "diff", "--cached", "--name-only", "-z", "--no-renames", "HEAD")
	if err != nil {
		return err
	}
	var changed []string
	for path := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		same, err := t.same(ctx, path)
		if err != nil {
			return err
		}
		if !same {
			changed = append(changed, path)
		}
	}
	if changed != nil {
		return &ChangedError{changed}
	}
	_, err = git(ctx, t.Source.Dir, own, diff, "apply", "--whitespace=nowarn")
	return err
}

// same reports whether an original is as the snapshot has it.
func (t *Try) same(ctx context.Context, path string) (bool, error) {
	entry, err := git(ctx, t.repository(), own, nil, "ls-tree", "-z", "HEAD", "--", ":(literal)"+path)
	if err != nil {
		return false, err
	}
	root, err := os.OpenRoot(t.Source.Dir)
	if err != nil {
		return false, err
	}
	defer root.Close()
	info, err := root.Lstat(path)
	gone := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	switch {
	case len(entry) == 0:
		return gone, nil
	case gone:
		return false, nil
	case err != nil:
		return false, err
	}
	mode, _, _ := strings.Cut(string(entry), " ")
	was, err := git(ctx, t.repository(), own, nil, "cat-file", "blob", "HEAD:"+path)
	if err != nil {
		return false, err
	}
	if mode == "120000" {
		target, err := root.Readlink(path)
		return err == nil && target == string(was), nil
	}
	if !info.Mode().IsRegular() || (info.Mode()&0o100 != 0) != (mode == "100755") {
		return false, nil
	}
	now, err := root.ReadFile(path)
	return bytes.Equal(now, was), err
}

// check refuses what cannot be done with a change, before anything is paid for it.
func (u Use) check(ctx context.Context, s Source) error {
	if u.Branch != "" {
		if err := s.mayBranch(ctx, u.Branch); err != nil {
			return err
		}
	}
	if u.Patch != "" {
		if err := mayWrite(u.Patch); err != nil {
			return fmt.Errorf("--patch: %w", err)
		}
	}
	if u.Apply {
		if err := unix.Faccessat(unix.AT_FDCWD, s.Dir, unix.W_OK|unix.X_OK, unix.AT_EACCESS); err != nil {
			return fmt.Errorf("--apply: write to %s: %w", s.Dir, err)
		}
	}
	return nil
}

// mayWrite tries to open a file for writing. What is in it stays.
func mayWrite(path string) error {
	_, err := os.Lstat(path)
	absent := errors.Is(err, fs.ErrNotExist)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	err = f.Close()
	if absent {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// mayBranch reports why a branch cannot be made. git is asked to, and to leave it.
func (s Source) mayBranch(ctx context.Context, name string) error {
	if !s.Git {
		return fmt.Errorf("--branch: %s is no git repository: --patch or --apply work without one", s.Dir)
	}
	if _, err := git(ctx, s.Dir, nil, nil, "check-ref-format", "--branch", name); err != nil {
		return fmt.Errorf("--branch: %q is not the name of a branch", name)
	}
	head, err := git(ctx, s.Dir, nil, nil, "rev-parse", "--verify", "HEAD^{commit}")
	if err != nil {
		return errors.New("--branch: the repository has no commit to begin a branch at: --patch or --apply work without one")
	}
	todo := fmt.Sprintf("start\ncreate refs/heads/%s %sprepare\nabort\n", name, head)
	if _, err := git(ctx, s.Dir, nil, []byte(todo), "update-ref", "--stdin"); err != nil {
		return fmt.Errorf("--branch: the branch %s cannot be made, take another name: %w", name, err)
	}
	return nil
}

// Branch makes a branch of the user's repository with the change on top of its latest
// commit. The files in the directory stay as they are.
func (t *Try) Branch(ctx context.Context, name string, diff []byte, message string) error {
	if !t.Source.Git {
		return fmt.Errorf("%s is no git repository: --patch or --apply work without one", t.Source.Dir)
	}
	index := filepath.Join(t.dir, "index")
	defer os.Remove(index)
	env := append([]string{"GIT_INDEX_FILE=" + index}, own[2:]...)
	run := func(input []byte, args ...string) (string, error) {
		out, err := git(ctx, t.Source.Dir, env, input, args...)
		return strings.TrimSpace(string(out)), err
	}
	if _, err := run(nil, "check-ref-format", "--branch", name); err != nil {
		return fmt.Errorf("%q is not the name of a branch", name)
	}
	head, err := run(nil, "rev-parse", "--verify", "HEAD^{commit}")
	if err != nil {
		return errors.New("the repository has no commit to begin a branch at")
	}
	if _, err = run(nil, "read-tree", head); err != nil {
		return err
	}
	if _, err = run(diff, "apply", "--cached", "--whitespace=nowarn"); err != nil {
		return fmt.Errorf("the change does not fit on the latest commit, as it builds on files that are not committed: %w", err)
	}
	tree, err := run(nil, "write-tree")
	if err != nil {
		return err
	}
	commit, err := run([]byte(message), "commit-tree", tree, "-p", head, "-F", "-")
	if err != nil {
		return err
	}
	if _, err = run(nil, "update-ref", "refs/heads/"+name, commit, strings.Repeat("0", len(commit))); err != nil {
		return fmt.Errorf("the branch %s was not made: %w", name, err)
	}
	return nil
}
