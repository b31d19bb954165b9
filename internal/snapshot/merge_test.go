package snapshot

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent/internal/fsx"
)

// TestMerge: one pack that git reads has every object of the many that saves left, in a
// part of the room.
func TestMerge(t *testing.T) {
	files := map[string]string{}
	for i := range 200 {
		files[fmt.Sprintf("pkg%d/file%d.txt", i/40, i)] = strings.Repeat(fmt.Sprintf("line %d\n", i), 20)
	}
	r := newRepo(t, Options{}, files)
	for i := range 30 {
		r.write(fmt.Sprintf("pkg%d/file%d.txt", i%5, i%5*40+i/10), fmt.Sprintf("version %d\n", i))
		r.save(Request{})
	}
	list := func() string {
		return r.alone("cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname) %(objectsize)")
	}
	before, size := list(), sizeBelow(t, r.stored)
	if err := r.store.Merge(); err != nil {
		t.Fatal(err)
	}
	packs, _ := filepath.Glob(r.stored + "/pack/*.idx")
	if len(packs) != 1 {
		t.Fatalf("packs: %v", packs)
	}
	if out := git(t, r.dir, "verify-pack", "-v", packs[0]); !strings.Contains(out, "chain length") {
		t.Errorf("there are no deltas:\n%s", out)
	}
	if after := list(); after != before {
		t.Errorf("the objects are\n%s\nbefore\n%s", after, before)
	}
	if now := sizeBelow(t, r.stored); now*3 > size {
		t.Errorf("%d bytes, before %d", now, size)
	}
	again := must1(OpenStore(r.store.files))
	if broken := again.Broken(); len(broken) > 0 {
		t.Errorf("broken: %v", broken)
	}
	r.write("pkg0/file0.txt", "after\n")
	r.save(Request{})
	if err := must1(OpenStore(r.store.files)).Merge(); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.store.Blob(nameOf(SHA1, kindBlob, []byte("version 3\n"))); !ok {
		t.Error("a store that was opened before does not find what was merged")
	}
}

func sizeBelow(t *testing.T, dir string) (size int64) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "pack", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	return size
}

// TestMergeKilledAnywhere: every object can be read after a kill or a power cut at every
// operation of a merge.
func TestMergeKilledAnywhere(t *testing.T) {
	for n := 1; ; n++ {
		m := fsx.NewMem()
		s := must1(OpenStore(folder{m}))
		var all []object
		for i := range 4 {
			o := newObject(SHA1, kindBlob, []byte(strings.Repeat(fmt.Sprintf("content %d\n", i), 50)))
			all = append(all, o)
			if err := s.put(SHA1, []object{o}); err != nil {
				t.Fatal(err)
			}
		}
		m.KillAt(m.Ops()+n, true)
		err := s.Merge()
		if err != nil && !errors.Is(err, fsx.ErrKilled) {
			t.Fatal(err)
		}
		for i, next := range []*fsx.Mem{m.Crash(1, 0), m.Crash(2, 0.5), m.Kill()} {
			s := must1(OpenStore(folder{next}))
			for _, o := range all {
				if _, ok := s.Blob(o.name); !ok {
					t.Fatalf("killed at %d (%d): %s is lost", n, i, o.name)
				}
			}
		}
		if err == nil {
			return
		}
	}
}

// TestDeltas: whatever two contents are, the delta makes the one of the other.
func TestDeltas(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(random.IntN(3))
		}
		return b
	}
	for range 3000 {
		source := text(random.IntN(400))
		target := append(append(append([]byte{}, source[:random.IntN(len(source)+1)]...), text(random.IntN(200))...), source[random.IntN(len(source)+1):]...)
		if random.IntN(50) == 0 {
			source, target = append(source, make([]byte, 200_000)...), append(target, make([]byte, 200_000)...)
		}
		delta := encodeDelta(source, target, 1<<30)
		if got, err := patch(source, delta, maxObject); err != nil || string(got) != string(target) {
			t.Fatalf("%d bytes to %d: %v", len(source), len(target), err)
		}
	}
	for range 3000 {
		back := random.Int64N(1 << random.IntN(32))
		if got, used := readBack(writeBack(back)); got != back || used != len(writeBack(back)) {
			t.Fatalf("%d is read as %d", back, got)
		}
	}
}
