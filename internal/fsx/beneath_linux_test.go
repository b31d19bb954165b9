package fsx

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"
)

// What one call of the kernel says is what steps say that look at each parent.
func TestBeneathAgreesWithSteps(t *testing.T) {
	quick, dir := newOS(t)
	steps, err := OpenOS(dir)
	must(t, err)
	defer steps.Close()
	steps.quick.missing.Store(true)
	must(t, os.MkdirAll(dir+"/a/b", 0o700), os.WriteFile(dir+"/a/b/f", []byte("some text"), 0o640), os.Symlink("f", dir+"/a/b/link"),
		os.Symlink("/etc", dir+"/a/etc"), os.Symlink("a", dir+"/here"), syscall.Mkfifo(dir+"/a/fifo", 0o600))
	used := 0
	for _, name := range []string{".", "a", "a/b", "a/b/f", "a/b/link", "a/etc", "a/etc/passwd", "here/b/f", "a/fifo", "no", "no/f", "a/b/f/g", "../x", "/etc", "a//b", ""} {
		if _, _, ok := quick.quick.lstat(name); ok {
			used++
		}
		one, oneErr := quick.Lstat(name)
		other, otherErr := steps.Lstat(name)
		if got, want := described(one, oneErr), described(other, otherErr); got != want {
			t.Errorf("lstat %q: %s, want %s", name, got, want)
		}
		for _, flag := range []int{os.O_RDONLY, os.O_WRONLY | os.O_APPEND, os.O_RDWR, os.O_WRONLY | os.O_APPEND | os.O_CREATE} {
			got, want := opened(quick, name, flag), opened(steps, name, flag)
			if got != want {
				t.Errorf("open %q with %x: %s, want %s", name, flag, got, want)
			}
		}
	}
	if used < 8 {
		t.Errorf("only %d names took the quick way", used)
	}
}

// To add to a file takes the quick way once the file is there.
func TestBeneathAppends(t *testing.T) {
	o, _ := newOS(t)
	const name, flag = "f", os.O_WRONLY | os.O_APPEND | os.O_CREATE
	if _, _, ok := o.quick.openFile(name, flag); ok {
		t.Error("made a file")
	}
	opened(o, name, flag)
	f, err, ok := o.quick.openFile(name, flag)
	if !ok || err != nil {
		t.Fatalf("not quick: %v", err)
	}
	must(t, f.Close())
	for _, more := range []int{os.O_EXCL, os.O_TRUNC} {
		if _, _, ok := o.quick.openFile(name, flag|more); ok {
			t.Errorf("took flag %x", more)
		}
	}
}

func described(info fs.FileInfo, err error) string {
	if err != nil {
		return cause(err)
	}
	st := info.Sys().(*syscall.Stat_t)
	mode := info.Mode().String()
	if mode[0] == 'p' {
		mode = "?" + mode[1:] // not regular is all that matters
	}
	return fmt.Sprint(info.Name(), info.Size(), mode, info.ModTime().UnixNano(), info.IsDir(), st.Ino, st.Uid)
}

func cause(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err.Error() // the steps name the call that failed
	}
	return err.Error()
}

func opened(o *OS, name string, flag int) string {
	f, err := o.OpenFile(name, flag, 0o600)
	if err != nil {
		return cause(err)
	}
	defer f.Close()
	info, err := f.Stat()
	return fmt.Sprint(info.Size(), err)
}
