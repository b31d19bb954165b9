package contexts

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"agent/eventlog"
	"agent/internal/exhaustive"
	"agent/internal/fsx"
)

// seedTasks are keys of every length, with escapes, and several contexts of some.
func seedTasks(rng *rand.Rand, n int) []Info {
	var all []Info
	for i := range n {
		task := fmt.Sprintf("forge.example/o/r%d/issues/%d", i%7, rng.Intn(n))
		switch i % 50 {
		case 0:
			task += strings.Repeat("long", rng.Intn(4000))
		case 1:
			task += "\"\\\n<題>"
		case 2:
			task = ""
		}
		all = append(all, Info{UUID: fmt.Sprintf("%08x-0000-4000-8000-%012x", rng.Uint32(), i), TaskKey: task,
			Title: strings.Repeat("t\"\\", rng.Intn(30)), State: []string{StateRunning, StateCompleted, StateDamaged}[rng.Intn(3)], Created: at, Updated: at, Ended: at, CostUSD: 1.25, Archived: i%2 == 0, modified: int64(i), Head: eventlog.Head{Seq: uint64(i), Hash: rng.Uint64()}})
	}
	return all
}

// Every context is found by its task, no other is, and with few reads.
func TestIndexSearch(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, exhaustive.Of(1000, 4000)} {
		rng := rand.New(rand.NewSource(1))
		infos := seedTasks(rng, n)
		byTask := map[string][]string{}
		for _, i := range infos {
			byTask[i.TaskKey] = append(byTask[i.TaskKey], i.UUID)
		}
		s, err := Open(fsx.NewMem(), Options{})
		must(t, err)
		must(t, s.SeedIndex(slices.Values(infos)))
		x, err := s.snapshot()
		must(t, err)
		reads := &readCounter{File: x.f}
		x.f = reads
		for task, want := range byTask {
			found, err := x.ofTask(task)
			must(t, err)
			var got []string
			for _, i := range found {
				got = append(got, i.UUID)
			}
			if slices.Sort(want); !slices.Equal(got, want) {
				t.Fatalf("%d contexts: %.40q has %v, want %v", n, task, got, want)
			}
		}
		if most := 30*len(byTask) + len(infos); n > 100 && reads.n > most {
			t.Errorf("%d contexts: %d reads for %d lookups", n, reads.n, len(byTask))
		}
		for _, i := range infos {
			if got, found, err := x.get(i.TaskKey, i.UUID); err != nil || !found || got != i {
				t.Fatalf("got %+v, %v %v, want %+v", got, found, err, i)
			}
			for _, other := range []string{i.TaskKey + "0", "~", "a", i.TaskKey[:len(i.TaskKey)/2] + "\x01"} {
				if _, there := byTask[other]; there {
					continue
				}
				if found, err := x.ofTask(other); err != nil || len(found) > 0 {
					t.Fatalf("%d contexts: found %q: %v %v", n, other, found, err)
				}
			}
		}
		must(t, x.Close())
	}
}

// readCounter counts reads.
type readCounter struct {
	fsx.File
	n int
}

func (c *readCounter) ReadAt(b []byte, at int64) (int, error) {
	c.n++
	return c.File.ReadAt(b, at)
}

// What a query leaves out by the record alone is what it leaves out by the log.
func TestQueries(t *testing.T) {
	m := fsx.NewMem()
	s := history(t, m, 60)
	var all []Info
	for i, err := range s.Infos(Query{}) {
		must(t, err)
		all = append(all, i)
	}
	middle := all[len(all)/2].Updated
	for _, q := range []Query{
		{States: []string{StateCompleted, StateFailed}}, {States: []string{StatePaused}}, {TaskKey: keyOf(3)}, {TaskKey: "forge.example/no"},
		{Repository: "forge.example/o/r1"}, {Since: middle}, {Until: middle}, {Since: middle, Until: middle},
	} {
		var want, got []string
		for _, i := range all {
			if q.fits(&i) {
				want = append(want, i.UUID)
			}
		}
		for i, err := range s.Infos(q) {
			must(t, err)
			got = append(got, i.UUID)
		}
		if !slices.Equal(got, want) || fmt.Sprint(q.TaskKey) != "forge.example/no" && len(want) == 0 {
			t.Errorf("%+v: %v, want %v", q, got, want)
		}
	}
}
