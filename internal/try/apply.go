package try

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ChangedError names originals that were changed since they were copied.
type ChangedError struct{ Paths []string }

func (e *ChangedError) Error() string {
	return "changed meanwhile, so the change is not applied: " + strings.Join(e.Paths, ", ")
}

// diff makes one diff against the snapshot of the patch that the context left, which
// may have several commits.
func (t *Try) diff(ctx context.Context, patch []byte) ([]byte, error) {
	if len(patch) == 0 {
		return nil, nil
	}
	if err := t.clearIndex(changeIndex); err != nil {
		return nil, err
	}
	if _, err := t.inChange(ctx, nil, "read-tree", "HEAD"); err != nil {
		return nil, err
	}
	if _, err := t.inChange(ctx, patch, "apply", "--cached", "--whitespace=nowarn"); err != nil {
		return nil, err
	}
	return t.diffOf(ctx, nil)
}

// Indexes beside the repositories, which the change is put into.
const (
	changeIndex = "change.index" // of the snapshot
	branchIndex = "branch.index" // of the user's repository
)

func (t *Try) index(name string) string { return "GIT_INDEX_FILE=" + filepath.Join(t.dir, name) }

// clearIndex removes what a process that was killed has left of an index. This one holds the lock of the try.
func (t *Try) clearIndex(name string) (err error) {
	for _, suffix := range []string{"", ".lock"} {
		if failed := os.Remove(filepath.Join(t.dir, name+suffix)); !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// inChange runs git on the snapshot with the change.
func (t *Try) inChange(ctx context.Context, input []byte, args ...string) ([]byte, error) {
	return git(ctx, t.repository(), append([]string{t.index(changeIndex)}, own...), input, args...)
}

// Apply changes the originals, all or none. It refuses if one of them is not as it was copied, and goes on where a
// process that was killed has changed some.
func (t *Try) Apply(ctx context.Context, diff []byte) error {
	files, err := t.changes(ctx)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(t.Source.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var rest, changed []string
	for _, f := range files {
		asCopied, err := f.copied.is(root, f.path)
		if err != nil {
			return err
		}
		asWanted, err := f.wanted.is(root, f.path)
		switch {
		case err != nil:
			return err
		case asCopied:
			rest = append(rest, f.path)
		case !asWanted:
			changed = append(changed, f.path)
		}
	}
	switch {
	case changed != nil:
		return &ChangedError{changed}
	case rest == nil:
		return nil
	case len(rest) < len(files):
		if diff, err = t.diffOf(ctx, rest); err != nil {
			return err
		}
	}
	if _, err = git(ctx, t.Source.Dir, own, diff, "apply", "--whitespace=nowarn"); err != nil {
		return errors.Join(err, t.putBack(context.WithoutCancel(ctx), root, files, rest))
	}
	return nil
}

func (t *Try) diffOf(ctx context.Context, paths []string) ([]byte, error) {
	args := []string{"diff", "--cached", "--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "HEAD", "--"}
	for _, path := range paths {
		args = append(args, ":(literal)"+path)
	}
	return t.inChange(ctx, nil, args...)
}

// putBack makes those of paths again what was copied.
func (t *Try) putBack(ctx context.Context, root *os.Root, files []change, paths []string) (err error) {
	for _, f := range files {
		if !slices.Contains(paths, f.path) {
			continue
		}
		if failed := t.write(ctx, root, f.path, f.copied); failed != nil {
			err = errors.Join(err, fmt.Errorf("%s could not be put back: %w", f.path, failed))
		}
	}
	return err
}

// change is a file that the change touches: as it was copied, and as the change wants it.
type change struct {
	path           string
	copied, wanted version
}

// version is a mode and a blob, as git writes them.
type version struct{ mode, blob string }

// Modes as git writes them.
const (
	absent     = "000000"
	executable = "100755"
	link       = "120000"
)

// changes lists what differs between the snapshot and the index, into which diff has put the change.
func (t *Try) changes(ctx context.Context) (all []change, err error) {
	out, err := t.inChange(ctx, nil, "diff", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "HEAD")
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		f := strings.Fields(strings.TrimPrefix(fields[i], ":")) // two modes, two blobs, and what was done
		if len(f) != 5 {
			return nil, fmt.Errorf("git diff: %q", fields[i])
		}
		all = append(all, change{fields[i+1], version{f[0], f[2]}, version{f[1], f[3]}})
	}
	return all, err
}

// is reports whether a file is like that.
func (v version) is(root *os.Root, path string) (bool, error) {
	info, err := root.Lstat(path)
	gone := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	switch {
	case v.mode == absent:
		return gone, nil
	case gone:
		return false, nil
	case err != nil:
		return false, err
	case v.mode == link:
		target, err := root.Readlink(path)
		return err == nil && blobOf([]byte(target)) == v.blob, nil
	case !info.Mode().IsRegular() || (info.Mode()&0o100 != 0) != (v.mode == executable):
		return false, nil
	}
	now, err := root.ReadFile(path)
	return err == nil && blobOf(now) == v.blob, err
}

// blobOf is the name that git gives a content in a repository of ours.
func blobOf(content []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// write makes a file like that.
func (t *Try) write(ctx context.Context, root *os.Root, path string, v version) error {
	if same, err := v.is(root, path); same || err != nil {
		return err
	}
	if err := root.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return err
	}
	if v.mode == absent {
		return nil
	}
	content, err := git(ctx, t.repository(), own, nil, "cat-file", "blob", v.blob)
	if err == nil {
		err = root.MkdirAll(filepath.Dir(path), 0o777)
	}
	switch {
	case err != nil:
		return err
	case v.mode == link:
		return root.Symlink(string(content), path)
	case v.mode == executable:
		return root.WriteFile(path, content, 0o777)
	}
	return root.WriteFile(path, content, 0o666)
}

// check refuses what cannot be done with a change, before anything is paid for it.
func (u Use) check(ctx context.Context, s Source) error {
	if u.Branch != "" {
		if err := s.mayBranch(ctx, u.Branch); err != nil {
			return fmt.Errorf("--branch: %w", err)
		}
	}
	if u.Patch != "" {
		if err := mayWrite(u.Patch); err != nil {
			return fmt.Errorf("--patch: %w", err)
		}
	}
	if u.Apply {
		if err := access(s.Dir, unix.W_OK|unix.X_OK); err != nil {
			return fmt.Errorf("--apply: %w", err)
		}
	}
	return nil
}

// mayWrite asks whether a file can be written, and makes none.
func mayWrite(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = access(filepath.Dir(path), unix.W_OK|unix.X_OK)
	case err == nil && info.IsDir():
		err = syscall.EISDIR
	case err == nil:
		err = access(path, unix.W_OK)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func access(path string, how uint32) error {
	if err := unix.Faccessat(unix.AT_FDCWD, path, how, unix.AT_EACCESS); err != nil {
		return &fs.PathError{Op: "write to", Path: path, Err: err}
	}
	return nil
}

// mayBranch reports why a branch cannot be made. git is asked to, and to leave it.
func (s Source) mayBranch(ctx context.Context, name string) error {
	head, err := s.base(ctx, name)
	if err != nil {
		return err
	}
	todo := fmt.Sprintf("start\ncreate refs/heads/%s %s\nprepare\nabort\n", name, head)
	if _, err := git(ctx, s.Dir, nil, []byte(todo), "update-ref", "--stdin"); err != nil {
		return fmt.Errorf("the branch %s cannot be made, take another name: %w", name, err)
	}
	return nil
}

// base is the commit that a branch begins at.
func (s Source) base(ctx context.Context, branch string) (commit string, err error) {
	if !s.Git {
		return "", fmt.Errorf("%s is no git repository: --patch or --apply work without one", s.Dir)
	}
	if _, err := os.Stat(s.Dir); err != nil {
		return "", err
	}
	if _, err := git(ctx, s.Dir, nil, nil, "check-ref-format", "--branch", branch); err != nil {
		return "", fmt.Errorf("%q is not the name of a branch: %w", branch, err)
	}
	out, err := git(ctx, s.Dir, nil, nil, "rev-parse", "--verify", "HEAD^{commit}")
	if err != nil {
		return "", fmt.Errorf("there is no commit to begin a branch at, --patch or --apply work without one: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Branch makes a branch of the user's repository with the change on top of its latest
// commit. The files in the directory stay as they are. One that a process has made that was
// killed then is taken.
func (t *Try) Branch(ctx context.Context, name string, diff []byte, message string) error {
	head, err := t.Source.base(ctx, name)
	if err != nil {
		return err
	}
	if err := t.clearIndex(branchIndex); err != nil {
		return err
	}
	env := append([]string{t.index(branchIndex)}, identity...)
	run := func(input []byte, args ...string) (string, error) {
		out, err := git(ctx, t.Source.Dir, env, input, args...)
		return strings.TrimSpace(string(out)), err
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
	const content = "--format=%T %P%n%B" // tree, parent and message
	if made, err := run(nil, "log", "-1", content, "refs/heads/"+name, "--"); err == nil && made == tree+" "+head+"\n"+strings.TrimSpace(message) {
		return t.clearIndex(branchIndex)
	}
	commit, err := run([]byte(message), "commit-tree", tree, "-p", head, "-F", "-")
	if err != nil {
		return err
	}
	if _, err = run(nil, "update-ref", "refs/heads/"+name, commit, strings.Repeat("0", len(commit))); err != nil {
		return fmt.Errorf("the branch %s was not made: %w", name, err)
	}
	return t.clearIndex(branchIndex)
}
