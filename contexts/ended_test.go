package contexts

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent/internal/exhaustive"
	"agent/internal/fsx"
)

// Ended agrees with what all logs say, however many are asked for.
func TestEnded(t *testing.T) {
	m := fsx.NewMem()
	s := history(t, m, 120)
	var all []Info
	want := map[string]int{}
	for _, i := range truth(t, m, 8).All {
		if i.Over() {
			all = append(all, i)
			want[i.State]++
		}
	}
	slices.SortFunc(all, func(a, b Info) int { return b.Ended.Compare(a.Ended) })
	if len(all) < 12 {
		t.Fatalf("only %d contexts ended", len(all))
	}
	for _, most := range []int{1, 2, 5, len(all) - 1, len(all), 1000} {
		counts, checked, err := s.Ended(most)
		must(t, err)
		if diff := cmp.Diff(want, counts) + cmp.Diff(all[:min(most, len(all))], checked, infoForm); diff != "" {
			t.Errorf("of the %d latest the logs say (-), Ended says (+):\n%s", most, diff)
		}
	}
}

// One that is not what the index remembers is read, and one that lies among the
// ended ones without having ended is found, however long ago it was put there.
func TestEndedFindsDamage(t *testing.T) {
	m := fsx.NewMem()
	s := history(t, m, 120)
	counts, checked, err := s.Ended(1000)
	must(t, err)
	newest := checked[0]
	name := string(Completed) + "/" + newest.UUID + "/events.jsonl"
	data, err := fsx.ReadFile(m, name, 1<<20)
	must(t, err)
	data[len(data)/2] ^= 1
	put(t, m, map[string][]byte{name: data})
	var live string
	for e, err := range s.Unfinished() {
		must(t, err)
		live = e.UUID
	}
	from, err := s.DirOf(live)
	must(t, err)
	must(t, m.Rename(string(from)+"/"+live, string(Completed)+"/"+live))
	after, checked, err := s.Ended(1)
	must(t, err)
	damaged := map[string]bool{}
	for _, i := range checked {
		damaged[i.UUID] = i.State == StateDamaged
	}
	if len(checked) != 2 || !damaged[newest.UUID] || !damaged[live] {
		t.Errorf("checked %+v, want the damage of %s and %s", checked, newest.UUID, live)
	}
	if after[newest.State] != counts[newest.State]-1 || after[StateDamaged] != 2 {
		t.Errorf("counts %v, were %v", after, counts)
	}
}

// Several processors read parts of the index. Together they give what one reader does,
// wherever it is cut, and a bit that flipped in any of them shows.
func TestEndedInParts(t *testing.T) {
	m := fsx.NewMem()
	s, err := Open(m, Options{})
	must(t, err)
	infos := seedTasks(rand.New(rand.NewSource(2)), 12_000)
	for n := range infos {
		infos[n].Ended = at.Add(time.Duration(n*7919%len(infos)) * time.Second)
	}
	must(t, s.SeedIndex(slices.Values(infos)))
	newer := infos[17]
	newer.State = StateFailed
	must(t, s.note(newer, nil)) // in the tail
	x, err := s.snapshot()
	must(t, err)
	defer x.Close()
	want := map[string]int{}
	for r, err := range x.rows() {
		must(t, err)
		if r.over() {
			want[r.State]++
		}
	}
	for _, readers := range []int{1, 2, 3, 8} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(readers))
		spans, err := x.spans()
		must(t, err)
		if at := min(readers, int(x.trailer.Bytes>>20)); len(spans) != at {
			t.Fatalf("%d parts of %d MiB, want %d", len(spans), x.trailer.Bytes>>20, at)
		}
		all, err := x.ended(500)
		must(t, err)
		latest, err := all.latest(x)
		must(t, err)
		odd := all.odd
		if diff := cmp.Diff(want, all.counts); diff != "" || len(odd) != 12_000-want[StateCompleted]-want[StateFailed] {
			t.Errorf("%d readers: %d odd ones, %s", readers, len(odd), diff)
		}
		ended := func(i Info) string { return i.Ended.String() }
		if len(latest) != 500 || !slices.IsSortedFunc(latest, func(a, b Info) int { return strings.Compare(ended(b), ended(a)) }) {
			t.Errorf("%d readers: the %d latest are not in order", readers, len(latest))
		}
	}
	data, err := fsx.ReadFile(m, indexFile, 1<<30)
	must(t, err)
	for _, at := range []int{100, len(data) / 2, len(data) - 1000} {
		data[at] ^= 1
		put(t, m, map[string][]byte{indexFile: data})
		damaged, err := s.load()
		must(t, err)
		if _, err := damaged.ended(500); !errors.Is(err, errIndex) {
			t.Errorf("a bit flipped at %d of %d: %v", at, len(data), err)
		}
		data[at] ^= 1
		must(t, damaged.Close())
	}
}

// The summary says what all lines say, whatever came since it was written, and is not
// used if it is harmed or of another generation. Before there was one, a health check
// of 100,000 contexts took 0.3 s.
func TestSummary(t *testing.T) {
	exhaustive.Slow(t)
	m := fsx.NewMem()
	s, err := Open(m, Options{})
	must(t, err)
	infos := seedTasks(rand.New(rand.NewSource(3)), 6000)
	for n := range infos {
		infos[n].Created, infos[n].Ended = at.Add(time.Duration(n)*time.Second), at.Add(time.Duration(n*7919%len(infos))*time.Minute)
	}
	must(t, s.SeedIndex(slices.Values(infos[:5990])))
	var older []byte
	agree := func(name string) {
		t.Helper()
		x, err := s.snapshot()
		must(t, err)
		defer x.Close()
		all, err := x.ended(1000)
		must(t, err)
		sum, ok, err := s.summed(x, 1000)
		must(t, err)
		if !ok {
			t.Fatalf("%s: the summary was not used", name)
		}
		for _, e := range []*endedRows{&all, &sum} {
			latest, err := e.latest(x)
			must(t, err)
			slices.SortFunc(e.odd, func(a, b Info) int { return strings.Compare(a.UUID, b.UUID) })
			e.odd = append(e.odd, latest...)
		}
		if diff := cmp.Diff(all.counts, sum.counts) + cmp.Diff(all.odd, sum.odd, infoForm); diff != "" {
			t.Errorf("%s: all lines say (-), the summary says (+):\n%.2000s", name, diff)
		}
	}
	agree("at first")
	for n, i := range infos[5000:5400] {
		switch n % 8 {
		case 0:
			i.gone = true // removed, from the newest ones, too
		case 1:
			i.Archived, i.Size = true, i.Size/2
		case 2:
			i.State = StateDamaged
		case 3:
			i.gone, i.Created, i.State = true, time.Time{}, "" // as gc writes it
		case 4:
			i = infos[5990+n/8%10] // new since
		default:
			continue
		}
		must(t, s.note(i, nil))
		if n%40 == 0 {
			agree(fmt.Sprint("with change ", n))
		}
	}
	agree("with all changes")
	older, err = fsx.ReadFile(m, summaryFile, maxSummary)
	must(t, err)
	must(t, s.update(func(x *snapshot) error { return errors.Join(s.replaced(x, nil), s.stamp(x)) }))
	agree("merged")
	whole, err := fsx.ReadFile(m, summaryFile, maxSummary)
	must(t, err)
	flipped := slices.Clone(whole)
	flipped[len(flipped)/2] ^= 1
	for name, data := range map[string][]byte{"of another generation": older, "cut": whole[:len(whole)/2], "cut at a line": whole[:bytes.LastIndexByte(whole[:len(whole)-1], '\n')+1], "flipped": flipped, "empty": {}} {
		put(t, m, map[string][]byte{summaryFile: data})
		x, err := s.snapshot()
		must(t, err)
		if _, ok, err := s.summed(x, 1000); ok || err != nil {
			t.Errorf("a summary that is %s was used, error %v", name, err)
		}
		must(t, x.Close())
	}
}
