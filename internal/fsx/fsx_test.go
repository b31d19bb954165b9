package fsx

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

var (
	_ FS = (*OS)(nil)
	_ FS = (*Mem)(nil)
)

func newOS(t testing.TB) (*OS, string) {
	t.Helper()
	dir := t.TempDir()
	o, err := OpenOS(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	return o, dir
}

// both runs a test against the two implementations.
func both(t *testing.T, f func(t *testing.T, fsys FS)) {
	t.Run("OS", func(t *testing.T) { o, _ := newOS(t); f(t, o) })
	t.Run("Mem", func(t *testing.T) { f(t, NewMem()) })
}

func put(t testing.TB, fsys FS, name, content string) {
	t.Helper()
	if err := WriteFile(fsys, name, []byte(content)); err != nil {
		t.Fatal(err)
	}
}

func TestWriteAndReadFile(t *testing.T) {
	both(t, func(t *testing.T, fsys FS) {
		if err := MkdirSync(fsys, "a/b"); err != nil {
			t.Fatal(err)
		}
		put(t, fsys, "a/b/c", "old and long")
		put(t, fsys, "a/b/c", "new")
		if got, err := ReadFile(fsys, "a/b/c", 3); err != nil || string(got) != "new" {
			t.Errorf("got %q, %v", got, err)
		}
		if _, err := ReadFile(fsys, "a/b/c", 2); !errors.Is(err, ErrTooLarge) {
			t.Errorf("over the limit: %v", err)
		}
		list, err := fsys.ReadDir("a/b")
		if err != nil || len(list) != 1 {
			t.Errorf("left in the directory: %v, %v", list, err)
		}
		info, err := fsys.Lstat("a/b/c")
		if err != nil || info.Mode() != 0o600 || info.Size() != 3 {
			t.Errorf("info %v, %v", info, err)
		}
	})
}

func TestRenameNoReplace(t *testing.T) {
	both(t, func(t *testing.T, fsys FS) {
		for _, d := range []string{"from/x", "to/empty"} {
			if err := fsys.MkdirAll(d, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := fsys.RenameNoReplace("from/x", "to/empty"); !errors.Is(err, fs.ErrExist) {
			t.Errorf("onto an empty directory: %v", err)
		}
		if err := fsys.RenameNoReplace("from/y", "to/y"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("of nothing: %v", err)
		}
		if err := fsys.RenameNoReplace("from/x", "to/x"); err != nil {
			t.Errorf("to a free name: %v", err)
		}
		if _, err := fsys.Lstat("to/x"); err != nil {
			t.Error(err)
		}
	})
}

func TestNamesStayBelowRoot(t *testing.T) {
	both(t, func(t *testing.T, fsys FS) {
		for _, name := range []string{"", "/etc", "..", "../x", "a/../b", "a//b", "a/", "./a"} {
			if _, err := fsys.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600); err == nil {
				t.Errorf("%q was opened", name)
			}
			if err := fsys.MkdirAll(name, 0o700); err == nil {
				t.Errorf("%q was created", name)
			}
		}
	})
}

func TestLock(t *testing.T) {
	both(t, func(t *testing.T, fsys FS) {
		l, err := fsys.TryLock("lock")
		if err != nil {
			t.Fatal(err)
		}
		if held, err := fsys.Locked("lock"); !held || err != nil {
			t.Errorf("while it is held: %v, %v", held, err)
		}
		if _, err := fsys.TryLock("lock"); !errors.Is(err, ErrLocked) {
			t.Errorf("second lock: %v", err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		for _, name := range []string{"lock", "never"} {
			if held, err := fsys.Locked(name); held || err != nil {
				t.Errorf("%s, which nobody holds: %v, %v", name, held, err)
			}
		}
		l, err = fsys.TryLock("lock")
		if err != nil {
			t.Errorf("after unlock: %v", err)
		}
		defer l.Close()
		if _, err := fsys.TryLock("missing/lock"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("without directory: %v", err)
		}
	})
}

func TestFree(t *testing.T) {
	both(t, func(t *testing.T, fsys FS) {
		if bytes, inodes, err := fsys.Free(); err != nil || bytes == 0 || inodes == 0 {
			t.Errorf("%d bytes, %d inodes, %v", bytes, inodes, err)
		}
	})
}

// TestMemIsLikeOS holds the model against the real thing.
func TestMemIsLikeOS(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		o, err := OpenOS(dir)
		if err != nil {
			rt.Fatal(err)
		}
		defer o.Close()
		m := NewMem()
		name := rapid.SampledFrom([]string{"a", "b", "d", "d/a", "d/e", "d/e/a", "a/x"})
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			op := rapid.SampledFrom(differential).Draw(rt, "op")
			from, to := name.Draw(rt, "name"), name.Draw(rt, "other")
			want, got := op(o, from, to), op(m, from, to)
			if want != got {
				rt.Fatalf("%s %s: real %q, model %q", from, to, want, got)
			}
			if want, got := tree(o, "."), tree(m, "."); want != got {
				rt.Fatalf("real tree\n%s\nmodel\n%s", want, got)
			}
		}
	})
}

var differential = []func(fsys FS, name, other string) string{
	func(f FS, a, _ string) string { return verdict(f.Mkdir(a, 0o700)) },
	func(f FS, a, _ string) string { return verdict(f.MkdirAll(a, 0o700)) },
	func(f FS, a, _ string) string { return verdict(f.Remove(a)) },
	func(f FS, a, _ string) string { return verdict(f.RemoveAll(a)) },
	func(f FS, a, b string) string { return verdict(f.Rename(a, b)) },
	func(f FS, a, b string) string { return verdict(f.RenameNoReplace(a, b)) },
	func(f FS, a, _ string) string { return verdict(f.SyncDir(a)) },
	func(f FS, a, b string) string { return edit(f, a, os.O_RDWR|os.O_CREATE|os.O_APPEND, b) },
	func(f FS, a, b string) string { return edit(f, a, os.O_RDWR, b) },
	func(f FS, a, b string) string { return edit(f, a, os.O_RDWR|os.O_CREATE|os.O_EXCL, b) },
	func(f FS, a, b string) string { return edit(f, a, os.O_RDWR|os.O_TRUNC, b) },
	func(f FS, a, b string) string { return edit(f, a, os.O_RDONLY, b) },
}

// edit does all one can do with an open file.
func edit(fsys FS, name string, flag int, text string) string {
	f, err := fsys.OpenFile(name, flag, 0o600)
	if err != nil {
		return verdict(err)
	}
	defer f.Close()
	n, werr := f.Write([]byte(text))
	start := make([]byte, 4)
	m, rerr := f.ReadAt(start, 1)
	terr := f.Truncate(9)
	rest, _ := io.ReadAll(f)
	return fmt.Sprint(n, werr != nil, m, string(start[:m]), rerr, terr != nil && flag != os.O_RDONLY, string(rest))
}

// verdict reduces an error to what callers branch on.
func verdict(err error) string {
	for _, kind := range []error{fs.ErrNotExist, fs.ErrExist, syscall.ENOTDIR, fs.ErrInvalid, ErrNotRegular} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	return fmt.Sprint(err != nil)
}

// tree prints a directory with all that is in it.
func tree(fsys FS, dir string) string {
	list, err := fsys.ReadDir(dir)
	if err != nil {
		return err.Error()
	}
	out := ""
	for _, e := range list {
		name := e.Name()
		if dir != "." {
			name = dir + "/" + name
		}
		out += name + "\n"
		if e.IsDir() {
			out += tree(fsys, name)
			continue
		}
		data, err := ReadFile(fsys, name, 1<<20)
		out += fmt.Sprintf("  %q %v\n", data, err)
	}
	return out
}

func TestParents(t *testing.T) {
	var got []string
	for p := range parents("a/b/c") {
		got = append(got, p)
	}
	if !slices.Equal(got, []string{"a", "a/b", "a/b/c"}) {
		t.Error(got)
	}
}
