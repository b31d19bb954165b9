package contexts

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

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
