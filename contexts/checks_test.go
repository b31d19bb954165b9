package contexts

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"agent/eventlog"
	"agent/internal/fsx"
)

// Rounds that come every five minutes read every log that ended once a day, and no
// more than they must. What is harmed behind the file system's back is found.
func TestChecksWithinADay(t *testing.T) {
	var names []string
	for i := range 1000 {
		names = append(names, fmt.Sprintf("%04d", i))
	}
	for _, every := range []time.Duration{5 * time.Minute, 17 * time.Minute, 3 * time.Hour} {
		now, c, read, most := at, checks{}, map[string]int{}, 0
		for range int(24*time.Hour/every) + 1 {
			p := part(names, c, now)
			for _, n := range p {
				read[n]++
			}
			c, now, most = checks{now, p[len(p)-1]}, now.Add(every), max(most, len(p))
		}
		if every <= time.Hour && len(read) != len(names) || most > 60 {
			t.Errorf("every %v: %d of %d are read in a day, %d at once", every, len(read), len(names), most)
		}
	}
}

func TestCheckPartFindsDamage(t *testing.T) {
	m := fsx.NewMem()
	s := history(t, m, 120)
	_, all, err := s.Ended(1000)
	must(t, err)
	oldest := all[len(all)-1].UUID
	name := string(Completed) + "/" + oldest + "/" + eventlog.FileName
	good, err := fsx.ReadFile(m, name, 1<<20)
	must(t, err)
	bad := slices.Clone(good)
	bad[len(bad)/2] ^= 1
	damaged := func() (n int) {
		counts, checked, err := s.Ended(1)
		must(t, err)
		if counts[StateDamaged] > 0 && !slices.ContainsFunc(checked, func(i Info) bool { return i.UUID == oldest && i.State == StateDamaged }) {
			t.Errorf("the damaged one is not named: %+v", checked)
		}
		return counts[StateDamaged]
	}
	put(t, m, map[string][]byte{name: bad})
	if n := damaged(); n != 0 {
		t.Fatalf("%d are damaged: the case is to be one that is not looked at", n)
	}
	for i := range 300 {
		must(t, s.CheckPart(context.Background(), at.Add(time.Duration(i)*5*time.Minute)))
	}
	if n := damaged(); n != 1 {
		t.Errorf("%d are damaged after a day of rounds", n)
	}
	put(t, m, map[string][]byte{name: good})
	if n := damaged(); n != 0 {
		t.Errorf("%d are damaged after the log was put back", n)
	}
	must(t, s.CheckOwn())
}
