package eventlog

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"agent/internal/fsx"
)

func TestBlobs(t *testing.T) {
	fsys, _ := newOS(t)
	b := NewBlobs(fsys, ".")
	for _, data := range []string{"", "x", strings.Repeat("large ", 100_000), "x"} {
		name, err := b.Put([]byte(data))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := b.Get(name); err != nil || string(got) != data {
			t.Errorf("%d bytes: got %d, %v", len(data), len(got), err)
		}
	}
	list, err := fsys.ReadDir(BlobDir)
	if err != nil || len(list) != 3 {
		t.Errorf("%d files, %v", len(list), err)
	}
}

func TestBlobErrors(t *testing.T) {
	fsys, dir := newOS(t)
	b := NewBlobs(fsys, ".")
	name, err := b.Put([]byte("content"))
	if err != nil {
		t.Fatal(err)
	}
	file := dir + "/" + BlobDir + "/" + name
	for _, bent := range []string{"", "contenT", "content and more"} {
		if err := os.WriteFile(file, []byte(bent), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Get(name); !errors.Is(err, ErrBlobDamaged) {
			t.Errorf("%q: %v", bent, err)
		}
	}
	if err := errors.Join(os.Remove(file), os.Symlink("/etc/hostname", file)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Get(name); !errors.Is(err, ErrBlobDamaged) {
		t.Errorf("link: %v", err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Get(name); !errors.Is(err, ErrBlobMissing) {
		t.Errorf("removed: %v", err)
	}
	for _, bad := range []string{"", "../events.jsonl", strings.ToUpper(name), name + "0", strings.Repeat("g", 64)} {
		if _, err := b.Get(bad); !errors.Is(err, ErrBlobDamaged) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestBlobIsDurableWhenPut: or the event that names it would point to nothing.
func TestBlobIsDurableWhenPut(t *testing.T) {
	data := bytes.Repeat([]byte("b"), 2000)
	for n := 1; ; n++ {
		m := fsx.NewMem()
		m.KillAt(n, n%2 == 0)
		name, err := NewBlobs(m, ".").Put(data)
		for seed := range int64(10) {
			after := m.Crash(seed, float64(seed%5)/4)
			if seed == 0 {
				after = m.Kill()
			}
			b := NewBlobs(after, ".")
			if err == nil {
				if got, err := b.Get(name); err != nil || !bytes.Equal(got, data) {
					t.Fatalf("stored, and after the crash %v", err)
				}
			}
			again, err := b.Put(data) // whatever the crash left
			if err != nil {
				t.Fatal(err)
			}
			if got, err := NewBlobs(after.Crash(seed, 0), ".").Get(again); err != nil || !bytes.Equal(got, data) {
				t.Fatalf("killed at %d, seed %d: stored again, and %v", n, seed, err)
			}
		}
		if err == nil {
			break
		}
	}
}
