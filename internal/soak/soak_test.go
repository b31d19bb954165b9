package main

import (
	"os"
	"testing"
	"time"

	"agent/internal/exhaustive"
)

// A sample of what make soak does for an hour. It is short for growth to show; everything
// else must hold.
func TestSoak(t *testing.T) {
	exhaustive.Slow(t)
	s := soak{length: 25 * time.Second, pace: 1500 * time.Millisecond, seed: uint64(time.Now().UnixNano())}
	t.Logf("seed %d", s.seed)
	if err := s.run(t.TempDir(), os.Stderr); err != nil {
		t.Error(err)
	}
}

// What must not grow is seen when it does.
func TestGrowth(t *testing.T) {
	for n, f := range figures {
		s := soak{out: t.Output(), length: time.Hour, began: time.Now()}
		for i := range 30 {
			p := sample{memory: 30 << 10, files: 12, threads: 12, entries: 400, ended: 10, endedEntries: 120}
			for _, grows := range []*int{&p.memory, &p.files, &p.threads, &p.entries, &p.endedEntries}[n : n+1] {
				*grows += *grows * i / 10
			}
			s.samples = append(s.samples, p)
		}
		if s.printFigures(); len(s.problems) != 1 {
			t.Errorf("%s: %v", f.name, s.problems)
		}
	}
}
