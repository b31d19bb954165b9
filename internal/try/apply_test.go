package try

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// tried is a try of a directory with one file of each kind, and a change of all of them.
func tried(t *testing.T) (t0 *Try, diff []byte) {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, "a.txt", "a\n", 0o644)
	put(t, dir, "run.sh", "old\n", 0o755)
	put(t, dir, "gone.txt", "gone\n", 0o600)
	put(t, dir, "sub/b.txt", "b\n", 0o644)
	must(t, os.Symlink("a.txt", filepath.Join(dir, "link")))
	source, err := Open(t.Context(), dir)
	must(t, err)
	t0, err = New(t.Context(), t.TempDir(), source, Use{})
	must(t, err)

	work := t.TempDir()
	run := func(args ...string) []byte {
		t.Helper()
		out, err := git(t.Context(), work, own, nil, args...)
		must(t, err)
		return out
	}
	run("clone", "-q", t0.repository(), ".")
	put(t, work, "a.txt", "A\n", 0o644)
	put(t, work, "run.sh", "new\n", 0o755)
	put(t, work, "sub/b.txt", "B\n", 0o755)
	put(t, work, "new/c.txt", "c\n", 0o644)
	must(t, os.Remove(filepath.Join(work, "gone.txt")))
	must(t, os.Remove(filepath.Join(work, "link")))
	must(t, os.Symlink("run.sh", filepath.Join(work, "link")))
	run("add", "-A")
	diff, err = t0.diff(t.Context(), run("diff", "--cached", "--binary", "--no-renames", "HEAD"))
	must(t, err)
	return t0, diff
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, dir, name, text string, mode os.FileMode) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(text), mode))
	must(t, os.Chmod(path, mode))
}

// as counts the files of the change that stand as they were copied, and as the change wants them.
func (t *Try) as(tt *testing.T) (copied, wanted int) {
	tt.Helper()
	root, err := os.OpenRoot(t.Source.Dir)
	must(tt, err)
	defer root.Close()
	files, err := t.changes(context.Background())
	must(tt, err)
	for _, f := range files {
		is, err := f.copied.is(root, f.path)
		must(tt, err)
		if is {
			copied++
		}
		is, err = f.wanted.is(root, f.path)
		must(tt, err)
		if is {
			wanted++
		}
	}
	return copied, wanted
}

func TestApply(t *testing.T) {
	t0, diff := tried(t)
	if copied, wanted := t0.as(t); copied != 6 || wanted != 0 {
		t.Fatalf("before: %d, %d", copied, wanted)
	}
	must(t, t0.Apply(t.Context(), diff))
	if copied, wanted := t0.as(t); copied != 0 || wanted != 6 {
		t.Errorf("after: %d, %d", copied, wanted)
	}
	must(t, t0.Apply(t.Context(), diff)) // it is done
}

// A process that was killed while it applied has left some files changed: the rest follows.
func TestApplyGoesOn(t *testing.T) {
	t0, diff := tried(t)
	put(t, t0.Source.Dir, "a.txt", "A\n", 0o644)
	put(t, t0.Source.Dir, "new/c.txt", "c\n", 0o644)
	must(t, os.Remove(filepath.Join(t0.Source.Dir, "gone.txt")))
	must(t, t0.Apply(t.Context(), diff))
	if copied, wanted := t0.as(t); copied != 0 || wanted != 6 {
		t.Errorf("after: %d, %d", copied, wanted)
	}
}

func TestApplyRefuses(t *testing.T) {
	t0, diff := tried(t)
	put(t, t0.Source.Dir, "a.txt", "mine\n", 0o644)
	var changed *ChangedError
	if err := t0.Apply(t.Context(), diff); !errors.As(err, &changed) || !slices.Equal(changed.Paths, []string{"a.txt"}) {
		t.Errorf("%v", err)
	}
	if copied, wanted := t0.as(t); copied != 5 || wanted != 0 {
		t.Errorf("after: %d, %d", copied, wanted)
	}
}

// What git could not finish is undone.
func TestApplyIsUndone(t *testing.T) {
	t0, diff := tried(t)
	must(t, t0.Apply(t.Context(), diff))
	root, err := os.OpenRoot(t0.Source.Dir)
	must(t, err)
	defer root.Close()
	files, err := t0.changes(t.Context())
	must(t, err)
	put(t, t0.Source.Dir, "a.txt", "", 0o644) // half of it was written
	must(t, t0.putBack(t.Context(), root, files, []string{"a.txt", "run.sh", "gone.txt", "sub/b.txt", "link", "new/c.txt"}))
	if copied, wanted := t0.as(t); copied != 6 || wanted != 0 {
		t.Errorf("after: %d, %d", copied, wanted)
	}
}

// A process that was killed has left git's lock; another one that lives keeps this one out.
func TestApplyAfterAKill(t *testing.T) {
	t0, diff := tried(t)
	for _, left := range []string{changeIndex, changeIndex + ".lock"} {
		put(t, t0.dir, left, "half", 0o600)
	}
	again, err := t0.diff(t.Context(), diff)
	if err != nil || string(again) != string(diff) {
		t.Errorf("%v\n%s", err, again)
	}
	lock, err := t0.lock()
	must(t, err)
	if _, err := t0.lock(); err == nil {
		t.Error("two processes hold the lock")
	}
	must(t, lock.Close())
	lock, err = t0.lock()
	must(t, err)
	must(t, lock.Close())
}

// A branch that a process has made that was killed then is taken, and no other one.
func TestBranchAfterAKill(t *testing.T) {
	t0, diff := tried(t)
	run := func(args ...string) string {
		t.Helper()
		out, err := git(t.Context(), t0.Source.Dir, own, nil, args...)
		must(t, err)
		return string(out)
	}
	run("init", "-q", "-b", "main")
	run("add", "-A")
	run("commit", "-q", "-m", "Begin")
	t0.Source.Git = true
	must(t, t0.Branch(t.Context(), "fix", diff, "Fix it\n\nAgent-Context: u\n"))
	made := run("rev-parse", "fix")
	for _, left := range []string{branchIndex, branchIndex + ".lock"} {
		put(t, t0.dir, left, "half", 0o600)
	}
	must(t, t0.Branch(t.Context(), "fix", diff, "Fix it\n\nAgent-Context: u\n"))
	if again := run("rev-parse", "fix"); again != made {
		t.Errorf("the branch was %s and is %s", made, again)
	}
	if err := t0.Branch(t.Context(), "fix", diff, "Fix it\n\nAgent-Context: v\n"); err == nil {
		t.Error("the branch of another context was taken")
	}
	run("branch", "mine")
	if err := t0.Branch(t.Context(), "mine", diff, "Fix it\n\nAgent-Context: u\n"); err == nil {
		t.Error("the user's branch was taken")
	}
}

// A fork has its own wish, and a file that is not whole is never read.
func TestWishes(t *testing.T) {
	dir := t.TempDir()
	origin, fork := &Try{dir: dir, UUID: "u"}, &Try{dir: dir, UUID: "f", fork: true}
	wants := func(who *Try, now, want Use) {
		t.Helper()
		if got, err := who.Wish(t.Context(), now); err != nil || got != want {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
	patch := Use{Patch: filepath.Join(dir, "p")}
	wants(origin, Use{}, Use{})
	wants(fork, patch, patch)
	wants(origin, Use{}, Use{})
	wants(fork, Use{}, patch)
	must(t, save(fork.wishFile(), wish{patch, true}))
	wants(fork, Use{}, Use{})
	other := Use{Patch: filepath.Join(dir, "q")}
	wants(origin, other, other)
	wants(fork, Use{}, Use{})
	if left, _ := filepath.Glob(filepath.Join(dir, ".new-*")); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
}
