package rounds

import (
	"fmt"
	"testing"
	"time"

	"agent/contexts"
	"agent/forge"
	"agent/internal/app"
)

// Where tasks overlap a round lasts for days: what it knows of contexts that nobody works on any more must go, or
// else it grows, and a refused task that somebody has ended elsewhere keeps all new ones from beginning.
func TestForget(t *testing.T) {
	t.Parallel()
	r := New(&app.App{}, Voice{}).newRound()
	for n := range 100 {
		uuid := fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
		var c claims
		r.take(uuid, &c)
		r.takeAt(uuid, forge.TaskKey{Number: n}, &c)
		if n > 0 {
			r.leave(&c)
		}
	}
	at := func(n int) *refusal { return &refusal{uuid: fmt.Sprintf("00000000-0000-4000-8000-%012d", n)} }
	for n, stays := range map[int]bool{0: true, 1: false} { // the first is worked on: whether the model refuses it again shows soon
		r.refused = at(n)
		if r.forget(); (r.refused != nil) != stays {
			t.Errorf("the refusal of context %d: %v", n, r.refused)
		}
	}
	if len(r.taken) != 1 || len(r.found) != 1 {
		t.Errorf("%d contexts are taken, %d found elsewhere", len(r.taken), len(r.found))
	}
	e := &endedItems{seen: map[string]contexts.Change{}}
	for n := range mostEnded + 100 {
		e.note(fmt.Sprint(n), contexts.Change{Time: time.Unix(int64(n), 0)})
	}
	if last := fmt.Sprint(mostEnded + 99); len(e.seen) != mostEnded {
		t.Errorf("%d ended items are remembered, %s: %v", len(e.seen), last, e.seen[last])
	}
}
