package fsx

import (
	"testing"
)

var _ FS = (*OS)(nil)

func TestWriteFileReadBack(t *testing.T) {
	o, err := OpenOS(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := MkdirSync(o, "a/b"); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(o, "a/b/c", []byte("x")); err != nil {
		t.Fatal(err)
	}
	got, err := ReadFile(o, "a/b/c", 1)
	if err != nil || string(got) != "x" {
		t.Fatalf("got %q, %v", got, err)
	}
	l, err := o.TryLock("a/l")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.TryLock("a/l"); err == nil {
		t.Fatal("locked twice")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}
