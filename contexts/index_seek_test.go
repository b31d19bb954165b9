package contexts

import (
	"encoding/binary"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/google/uuid"

	"agent/internal/fsx"
)

// spread gives UUIDs that lie as they like.
var spread = map[string]func(rng *rand.Rand, i int) id16{
	"even":     func(rng *rand.Rand, _ int) (id id16) { rng.Read(id[:]); return id },
	"in a row": func(_ *rand.Rand, i int) (id id16) { binary.BigEndian.PutUint64(id[8:], uint64(i)); return id },
	"in heaps": func(rng *rand.Rand, i int) (id id16) {
		rng.Read(id[6:])
		id[0] = byte(i % 3 * 127)
		return id
	},
}

// Whatever UUIDs there are, each is found, and none that is not there, with few reads.
func TestSeek(t *testing.T) {
	const n = 5000
	for name, make := range spread {
		rng := rand.New(rand.NewSource(1))
		known := map[id16]bool{}
		for i := range n {
			known[make(rng, i)] = true
		}
		m := fsx.NewMem()
		s, err := Open(m, Options{})
		must(t, err)
		must(t, s.FabricateIndex(func(yield func(Info) bool) {
			for id := range known {
				if !yield(Info{UUID: uuid.UUID(id).String(), TaskKey: "forge.example/o/r/issues/" + id.String(), State: StateCompleted}) {
					return
				}
			}
		}))
		x, err := s.snapshot()
		must(t, err)
		reads := &readCounter{File: x.f}
		x.f = reads
		for id := range known {
			if of, err := x.ofKey("forge.example/o/r/issues/" + id.String()); err != nil || len(of) != 1 || of[0].rec.uuid() != id {
				t.Fatalf("%s: %s: %d found, %v", name, id, len(of), err)
			}
		}
		if most := 20; reads.n > most*len(known) {
			t.Errorf("%s: %d reads for a lookup", name, reads.n/len(known))
		}
		for range 100 {
			var other id16
			rng.Read(other[:])
			if _, found, err := x.get(other); found || err != nil {
				t.Fatalf("%s: found what is not there: %v", name, err)
			}
		}
		for _, edge := range []id16{{}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}} {
			if _, found, err := x.get(edge); found != known[edge] || err != nil {
				t.Fatalf("%s: %s: %v %v", name, edge, found, err)
			}
		}
		x.Close()
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
		q.Unread = true
		for i, err := range s.Infos(q) {
			must(t, err)
			got = append(got, i.UUID)
		}
		if !slices.Equal(got, want) || fmt.Sprint(q.TaskKey) != "forge.example/no" && len(want) == 0 {
			t.Errorf("%+v: %v, want %v", q, got, want)
		}
	}
}
