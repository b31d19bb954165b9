package contexts

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"agent/eventlog/event"
	"agent/internal/exhaustive"
	"agent/internal/fsx"
)

// answers is everything that the index is asked, in a form that can be compared.
type answers struct {
	All    []Info
	Tasks  map[string][]Info
	Live   map[string]string
	Find   map[string]string
	Counts map[string]int
}

var infoForm = cmp.Options{cmpopts.IgnoreUnexported(Info{}), cmpopts.EquateErrors(),
	cmp.Transformer("text", func(err error) string { return fmt.Sprint(err) })}

func keyOf(n int) string { return fmt.Sprintf("forge.example/o/r%d/issues/%d", n%2, n) }

func numbered(n int) string { return fmt.Sprintf("%02x1b2c3d-0000-4000-8000-%012x", (n*37)%256, n) }

func ask(t *testing.T, s *Store, keys int) answers {
	t.Helper()
	a := answers{Tasks: map[string][]Info{}, Live: map[string]string{}, Find: map[string]string{}}
	for i, err := range s.Infos(Query{}) {
		must(t, err)
		a.All = append(a.All, i)
		a.Find[i.UUID], _ = s.Find(i.UUID[:8])
	}
	for n := range keys {
		of, err := s.OfTask(keyOf(n))
		must(t, err)
		a.Tasks[keyOf(n)] = of
		id, _, err := s.Active(keyOf(n))
		must(t, err)
		a.Live[keyOf(n)] = id
	}
	var err error
	a.Counts, err = s.Counts()
	must(t, err)
	return a
}

// truth is what the logs say.
func truth(t *testing.T, fsys fsx.FS, keys int) answers {
	t.Helper()
	s, err := Open(hidden{fsys}, Options{ReadOnly: true})
	must(t, err)
	return ask(t, s, keys)
}

// hidden is a file system without an index.
type hidden struct{ fsx.FS }

func (h hidden) OpenFile(name string, flag int, perm fs.FileMode) (fsx.File, error) {
	if filepath.Dir(name) == indexDir {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return h.FS.OpenFile(name, flag, perm)
}

// live makes a random step in a store with some tasks.
func step(t *testing.T, s *Store, rng *rand.Rand, n, keys int) {
	t.Helper()
	k := keyOf(rng.Intn(keys))
	id, live, err := s.Active(k)
	must(t, err)
	now := at.Add(time.Duration(n) * time.Minute)
	var c *Context
	if !live {
		first := created(numbered(n))
		first.TaskKey, first.Title = k, fmt.Sprintf("title %d 題", n)
		c, err = s.Create(first, now)
	} else {
		c, err = s.Acquire(id, nil)
	}
	must(t, err)
	defer c.Close()
	for _, b := range [][]event.Body{
		{&event.LLMRequested{Estimated: 7}, &event.LLMReplied{Usage: event.Usage{Prompt: 5, Completion: 2}}},
		{&event.ContextPaused{Until: event.Until{Kind: "signal"}}},
		{&event.ContextResumed{}, &event.ToolRequested{}, &event.ToolReplied{}},
		{&event.ContextAwaiting{}}, {&event.ContextCompleted{}}, {&event.ContextStopped{}}, {&event.ContextFailed{}},
	}[rng.Intn(7)] {
		_, err := c.Append(event.Event{Time: now, Body: b})
		must(t, err)
	}
	must(t, c.Relocate())
}

func history(t *testing.T, m fsx.FS, steps int) *Store {
	t.Helper()
	s, err := Open(m, Options{})
	must(t, err)
	s.tail = 5
	rng := rand.New(rand.NewSource(1))
	for n := range steps {
		step(t, s, rng, n, 8)
	}
	return s
}

func TestIndexAnswersAsTheLogsDo(t *testing.T) {
	m := fsx.NewMem()
	s, err := Open(m, Options{})
	must(t, err)
	s.tail = 5
	rng := rand.New(rand.NewSource(1))
	for n := range 30 {
		step(t, s, rng, n, 8)
		if x, err := s.snapshot(); err != nil || !x.complete {
			t.Fatalf("step %d: the index is not complete: %v", n, err)
		}
		if diff := cmp.Diff(truth(t, m, 8), ask(t, s, 8), infoForm); diff != "" {
			t.Fatalf("step %d: the logs say (-), the index says (+):\n%s", n, diff)
		}
	}
	if x, _ := s.snapshot(); x.trailer.Contexts == 0 {
		t.Error("the tail was never merged")
	}
}

// indexFiles are the files of an index, to be put back later.
func indexFiles(t *testing.T, fsys fsx.FS) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, name := range []string{indexFile, tailFile} {
		data, err := fsx.ReadFile(fsys, name, 1<<20)
		must(t, err)
		files[name] = data
	}
	return files
}

func put(t *testing.T, fsys fsx.FS, files map[string][]byte) {
	t.Helper()
	for name, data := range files {
		must(t, fsx.WriteFile(fsys, name, data))
	}
}

// Deleted, cut at every byte, older in whole and in part: no answer changes, and
// after Heal the index is complete again.
func TestDamagedIndex(t *testing.T) {
	m := fsx.NewMem()
	s := history(t, m, 30)
	older := indexFiles(t, m)
	rng := rand.New(rand.NewSource(2))
	for n := 30; n < 50; n++ {
		step(t, s, rng, n, 8)
	}
	now := indexFiles(t, m)
	want := truth(t, m, 8)
	check := func(name string, heal bool) {
		t.Helper()
		if diff := cmp.Diff(want, ask(t, s, 8), infoForm); diff != "" {
			t.Errorf("%s: the logs say (-), the index says (+):\n%s", name, diff)
		}
		if !heal {
			return
		}
		must(t, healed(s))
		if x, err := s.snapshot(); err != nil || !x.complete {
			t.Errorf("%s: not healed: %v", name, err)
		}
		if diff := cmp.Diff(want, ask(t, s, 8), infoForm); diff != "" {
			t.Errorf("%s, healed: the logs say (-), the index says (+):\n%s", name, diff)
		}
		put(t, m, now)
	}
	check("sound", false)
	for name, data := range now {
		for n := 0; n < len(data); n += exhaustive.Of(3011, 211) {
			put(t, m, map[string][]byte{name: data[:n]})
			check(fmt.Sprintf("%s cut at %d", name, n), true)
		}
		for n, b := range data {
			if b == '\n' && n%exhaustive.Every(3) == 0 {
				put(t, m, map[string][]byte{name: data[:n+1]})
				check(fmt.Sprintf("%s cut after the line that ends at %d", name, n), true)
			}
		}
	}
	put(t, m, older)
	check("older", true)
	put(t, m, map[string][]byte{indexFile: older[indexFile]})
	check("older contexts.jsonl, new tail", true)
	put(t, m, map[string][]byte{tailFile: older[tailFile]})
	check("older tail", true)
	must(t, m.Remove(tailFile))
	check("no tail", true)
	must(t, m.Remove(indexFile))
	check("no contexts.jsonl", true)
	must(t, m.RemoveAll(indexDir))
	check("no index", true)
	put(t, m, map[string][]byte{indexFile: {}, tailFile: {}})
	check("empty files", true)
	for name, data := range now {
		put(t, m, map[string][]byte{name: append(slices.Clone(data), make([]byte, 512)...)})
		check("NULs at the end of "+name, true)
		put(t, m, map[string][]byte{name: bytes.Replace(data, fmt.Appendf(nil, `"format":%d`, indexFormat), fmt.Appendf(nil, `"format":%d`, indexFormat+1), 1)})
		check("newer "+name, true)
		lines := bytes.SplitAfter(data, []byte("\n"))
		put(t, m, map[string][]byte{name: slices.Concat(append(slices.Clone(lines[:2]), lines[3:]...)...)})
		check(name+" without a line", true)
		lines[1], lines[2] = lines[2], lines[1]
		put(t, m, map[string][]byte{name: slices.Concat(lines...)})
		check(name+" with two lines exchanged", true)
	}
	put(t, m, map[string][]byte{indexDir + "/contexts": []byte("agentidx"), indexDir + "/stamp": []byte("agentstm")})
	must(t, m.Remove(indexFile))
	check("index of the previous format", true)
	if _, err := m.Lstat(indexDir + "/stamp"); !isMissing(err) {
		t.Errorf("the files of the previous format were left: %v", err)
	}
}

// A field of a newer release is skipped, and survives a merge.
func TestIndexWithNewField(t *testing.T) {
	m := fsx.NewMem()
	s := history(t, m, 30)
	want := truth(t, m, 8)
	lines := bytes.SplitAfter(indexFiles(t, m)[indexFile], []byte("\n"))
	var data []byte
	for _, line := range lines[:len(lines)-2] {
		body, _, ok := unseal(bytes.TrimSuffix(line, []byte("\n")), 0)
		if !ok {
			t.Fatalf("not a line: %s", line)
		}
		body = append(bytes.Clone(body), `,"colour":"a, \"b\" {c}","weight":1.5e3,"new":true`...)
		data = fmt.Appendf(data, "%s%s%08x\"}\n", body, crcStart, crc32.Checksum(body, castagnoli))
	}
	body, _, _ := unseal(bytes.TrimSuffix(lines[len(lines)-2], []byte("\n")), 0)
	trailer, _ := parseMark(body)
	trailer.Bytes = int64(len(data))
	data, _ = seal(data, 0, trailer.body())
	put(t, m, map[string][]byte{indexFile: data})
	check := func() {
		t.Helper()
		if diff := cmp.Diff(want, ask(t, s, 8), infoForm); diff != "" {
			t.Errorf("the logs say (-), the index says (+):\n%s", diff)
		}
	}
	check()
	x, err := s.load()
	must(t, err)
	must(t, s.replaced(x, nil), x.Close())
	check()
	if n := bytes.Count(indexFiles(t, m)[indexFile], []byte(`"weight":1.5e3`)); n < 3 {
		t.Errorf("%d lines kept the field", n)
	}
}

// A flipped bit in every byte.
func TestFlippedIndex(t *testing.T) {
	m := fsx.NewMem()
	const keys = 2
	s, err := Open(m, Options{})
	must(t, err)
	rng := rand.New(rand.NewSource(1))
	for n, tail := range []int{5, 5, 5, 0, 5} {
		s.tail = tail
		step(t, s, rng, n, keys)
	}
	files := indexFiles(t, m)
	want := truth(t, m, keys)
	for name, data := range files {
		for i := 0; i < len(data); i += exhaustive.Every(37) {
			flipped := slices.Clone(data)
			flipped[i] ^= 1 << (i % 8)
			put(t, m, map[string][]byte{name: flipped})
			if diff := cmp.Diff(want, ask(t, s, keys), infoForm); diff != "" {
				t.Fatalf("byte %d of %s: the logs say (-), the index says (+):\n%s", i, name, diff)
			}
		}
		put(t, m, files)
	}
}

// Directories that somebody copied or moved by hand are seen; for removed ones see
// TestLost.
func TestHandsInTheStore(t *testing.T) {
	for name, do := range map[string]func(t *testing.T, dir string){
		"copied": func(t *testing.T, dir string) {
			other := t.TempDir()
			must(t, os.Chmod(other, 0o700))
			s, err := openReal(other, Options{})
			must(t, err)
			made(t, s, numbered(7), &event.ContextStopped{})
			must(t, os.CopyFS(dir+"/completed/"+numbered(7), os.DirFS(other+"/completed/"+numbered(7))))
			must(t, os.Chmod(dir+"/completed/"+numbered(7)+"/events.jsonl", 0o600))
		},
		"moved": func(t *testing.T, dir string) { must(t, os.Rename(dir+"/paused/"+idA, dir+"/running/"+idA)) },
	} {
		s, dir := realStore(t, Options{})
		made(t, s, idA, &event.ContextPaused{})
		made(t, s, idC, &event.ContextCompleted{})
		do(t, dir)
		fsys, err := fsx.OpenOS(dir)
		must(t, err)
		want := truth(t, fsys, 1)
		for range 2 {
			if diff := cmp.Diff(want, ask(t, s, 1), infoForm); diff != "" {
				t.Errorf("%s: the logs say (-), the index says (+):\n%s", name, diff)
			}
			must(t, healed(s))
		}
	}
}

// A log that is shorter than the index remembers is damage for everybody, and
// repair makes it usable.
func TestShorterThanTheIndex(t *testing.T) {
	s, dir := realStore(t, Options{})
	made(t, s, idA, &event.ContextPaused{})
	name := dir + "/paused/" + idA + "/events.jsonl"
	data, err := os.ReadFile(name)
	must(t, err)
	cut := slices.Index(data, '\n') + 1
	must(t, os.WriteFile(name, data[:cut], 0o600))
	wantExit(t, second(s.Acquire(idA, nil)), ExitDamage)
	for i, err := range s.Infos(Query{}) {
		must(t, err)
		if i.State != StateDamaged || ExitCode(i.Err) != ExitDamage || i.TaskKey != key {
			t.Errorf("listed as %+v", i)
		}
	}
	lost, err := s.Repair(idA, at)
	if err != nil || lost.Lines != 1 {
		t.Fatalf("repaired %+v, %v", lost, err)
	}
	c, events := acquire(t, s, idA)
	if len(events) != 2 || c.Dir() != Running {
		t.Errorf("%d events, in %s", len(events), c.Dir())
	}
}

// indexed is a run with merges, to be killed anywhere.
func indexed(fsys fsx.FS) error {
	s, err := Open(fsys, Options{})
	if err != nil {
		return err
	}
	s.tail = 2
	for n := range 3 {
		first := created(numbered(n))
		first.TaskKey = keyOf(n)
		c, err := s.Create(first, at)
		if err != nil {
			return err
		}
		defer c.Close()
		for _, b := range []event.Body{&event.ContextPaused{}, &event.ContextCompleted{}}[:n%2+1] {
			if _, err := c.Append(event.Event{Time: at, Body: b}); err != nil {
				return err
			}
			if err := c.Relocate(); err != nil {
				return err
			}
		}
	}
	_, err = s.RebuildIndex(nil)
	return err
}

// Killed and cut from power at every operation of index, merge and rebuild: the
// answers are those of the logs at once, and after Heal.
func TestIndexKilledAnywhere(t *testing.T) {
	for n := 1; ; n += exhaustive.Every(5) {
		m := fsx.NewMem()
		m.KillAt(n, n/4%2 == 0)
		if err := indexed(m); err == nil {
			if n < 80 {
				t.Fatalf("only %d operations", n)
			}
			return
		}
		ends := []func() *fsx.Mem{func() *fsx.Mem { return m.Crash(int64(n), 0) }, func() *fsx.Mem { return m.Crash(int64(n), 1) },
			func() *fsx.Mem { return m.Crash(int64(n), 0.5) }, m.Kill}
		for i, end := range ends[n%4 : n%4+1] {
			after := end()
			s, err := Open(after, Options{})
			must(t, err)
			want := truth(t, after, 3)
			if diff := cmp.Diff(want, ask(t, s, 3), infoForm); diff != "" {
				t.Fatalf("operation %d, case %d: the logs say (-), the index says (+):\n%s", n, i, diff)
			}
			must(t, healed(s))
			if diff := cmp.Diff(want, ask(t, s, 3), infoForm); diff != "" {
				t.Fatalf("operation %d, case %d, healed: the logs say (-), the index says (+):\n%s", n, i, diff)
			}
		}
	}
}

func TestSeedIndex(t *testing.T) {
	s, _ := realStore(t, Options{})
	must(t, s.SeedIndex(func(yield func(Info) bool) {
		for n := range 3000 {
			if !yield(Info{UUID: numbered(n), TaskKey: keyOf(n % 1000), State: StateCompleted, Created: at, Updated: at, Ended: at}) {
				return
			}
		}
	}))
	x, err := s.snapshot()
	must(t, err)
	defer x.Close()
	of, err := x.ofTask(keyOf(500))
	if err != nil || len(of) != 3 || !x.complete || x.trailer.Contexts != 3000 {
		t.Errorf("%d contexts of the task, complete %v, %+v, %v", len(of), x.complete, x.trailer, err)
	}
	n := 0
	for r, err := range x.rows() {
		must(t, err)
		if r.TaskKey == "" {
			t.Fatal("a line without its key")
		}
		n++
	}
	if n != 3000 {
		t.Errorf("%d lines", n)
	}
}

// Several processes at once: nothing is lost, nothing waits for ever, and the
// index is complete at the end.
func TestIndexOfSeveralProcesses(t *testing.T) {
	s, dir := realStore(t, Options{})
	var processes sync.WaitGroup
	for p := range 4 {
		processes.Go(func() {
			own, err := openReal(dir, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			own.tail = 7
			for n := range 8 {
				first := created(numbered(p*100 + n))
				first.TaskKey = keyOf(p)
				c, err := own.Create(first, at)
				if err != nil {
					t.Error(err)
					return
				}
				for _, b := range []event.Body{&event.ContextPaused{}, &event.ContextResumed{}, &event.ContextCompleted{}}[:n%4] {
					if _, err := c.Append(event.Event{Time: at, Body: b}); err != nil {
						t.Error(err)
					}
					if err := c.Relocate(); err != nil {
						t.Error(err)
					}
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	processes.Wait()
	fsys, err := fsx.OpenOS(dir)
	must(t, err)
	if diff := cmp.Diff(truth(t, fsys, 4), ask(t, s, 4), infoForm); diff != "" {
		t.Errorf("the logs say (-), the index says (+):\n%s", diff)
	}
	x, err := s.snapshot()
	must(t, err)
	defer x.Close()
	if !x.complete {
		t.Error("the index is not complete")
	}
}

func healed(s *Store) error {
	_, err := s.Heal(context.Background(), nil)
	return err
}
