package viewer

import (
	"fmt"
	"iter"
	"testing"

	"agent/contexts"
	"agent/eventlog"
	"agent/eventlog/event"
)

// A call is shown with the saves that it caused and with its outcome, whichever of them is asked for.
func TestPair(t *testing.T) {
	t.Parallel()
	store := logOf(t, &event.MessageAdded{Role: "user", Content: event.T("x")}, &event.ToolRequested{Server: "s", Tool: "edit"})
	c, err := store.Acquire(uuid, nil)
	must(t, err)
	for _, b := range []event.Body{&event.WorkspaceSaved{Reason: "tool"}, &event.ToolReplied{Content: event.T("edited")}} {
		_, err := c.Append(event.Event{Cause: 3, Body: b})
		must(t, err)
	}
	must(t, c.Close())
	from := func(seq uint64) iter.Seq2[eventlog.Line, error] {
		return store.LinesFrom(uuid, func(r contexts.Record) bool { return r.Seq < seq })
	}
	for seq, want := range map[uint64]string{2: "[2]", 3: "[3 4 5]", 4: "[3 4 5]", 5: "[3 4 5]"} {
		pair, err := Pair(from, seq)
		must(t, err)
		var got []uint64
		for _, r := range pair {
			got = append(got, r.Seq)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("event %d comes with %v, want %s", seq, got, want)
		}
	}
	if _, err := Pair(from, 9); err == nil {
		t.Error("an event that is not there was found")
	}
}
