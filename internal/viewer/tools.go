package viewer

import (
	"cmp"
	"slices"

	"agent/eventlog/event"
	"agent/projections"
)

// ToolSum is what the calls of a tool took.
type ToolSum struct {
	Name    string
	Calls   int
	Failed  int // also those of which nobody knows what became of them
	Seconds float64
}

// Tools adds up tool calls by tool. Feed it every event in order.
type Tools struct {
	sums []*ToolSum
	open string // the tool of the open call
}

// Add takes an event.
func (t *Tools) Add(ev event.Event) {
	switch b := ev.Body.(type) {
	case *event.ToolRequested:
		t.open = b.Name()
		t.of(t.open).Calls++
	case *event.ToolReplied:
		t.ended(!projections.Succeeded(b), b.DurationMS)
	case *event.ToolFailed:
		t.ended(true, b.DurationMS)
	case *event.ToolInterrupted:
		t.ended(true, 0)
	}
}

func (t *Tools) ended(failed bool, ms int64) {
	s := t.of(t.open)
	s.Seconds += float64(ms) / 1000
	if failed {
		s.Failed++
	}
}

func (t *Tools) of(name string) *ToolSum {
	return findOr(&t.sums, func(s *ToolSum) bool { return s.Name == name }, func() *ToolSum { return &ToolSum{Name: name} })
}

// Sums are those of the tools, that of the longest time first.
func (t *Tools) Sums() (all []ToolSum) {
	for _, s := range t.sums {
		all = append(all, *s)
	}
	slices.SortStableFunc(all, func(a, b ToolSum) int { return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), b.Calls-a.Calls) })
	return all
}
