package engine_test

import (
	"fmt"
	"testing"

	"agent/contexts"
	"agent/handlers/engine"
	"agent/llm/llmtest"
	"agent/projections"
)

// playForever is a model that never comes to an end.
func playForever(_ int, r llmtest.Request) llmtest.Reply {
	return llmtest.ToolCall("files__read", toolArgs{Path: fmt.Sprintf("file-%d.txt", r.Turns())})
}

// state folds the log of the only context.
func (w *world) state() *projections.State {
	store, err := contexts.Open(w.disk, contexts.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	for entry, err := range store.List() {
		if err != nil {
			w.t.Fatal(err)
		}
		report, err := engine.Replay(store.Events(entry.UUID))
		if err != nil || len(report.Differences) > 0 {
			w.t.Fatal(err, report.Differences)
		}
		return report.State
	}
	return projections.NewState()
}

const maxCalls = 12

// restart kills one process after the other, each at another contact, until the context rests.
func (w *world) restart(t *testing.T, kill func(n int64) (contact int64, after bool)) *projections.State {
	t.Helper()
	for n := int64(1); n < 20*maxCalls; n++ {
		l := w.born()
		l.last, l.after = kill(n)
		_ = l.run() // it was killed, or has nothing to do any more
		if !l.dead() {
			return w.state()
		}
		w.disk = w.disk.Kill()
	}
	t.Fatal("it never comes to an end")
	return nil
}

// kills are ways to kill process n: at ever later contacts, and at its first,
// second, … one every time once the work is on its way.
func kills() map[string]func(n int64) (int64, bool) {
	all := map[string]func(n int64) (int64, bool){
		"later":       func(n int64) (int64, bool) { return n, false },
		"later after": func(n int64) (int64, bool) { return n, true },
		"mixed":       func(n int64) (int64, bool) { return 1 + n%7, n%2 == 0 },
	}
	for c := int64(3); c <= 7; c++ {
		all[fmt.Sprintf("at 18, then at %d", c)] = func(n int64) (int64, bool) {
			if n == 1 {
				return 18, true
			}
			return c + n%2, true // not always at the same one: a read that is killed each time is never recorded
		}
	}
	return all
}

func TestLimitsHoldOverRestarts(t *testing.T) {
	for name, kill := range kills() {
		t.Run("calls, "+name, func(t *testing.T) {
			w := newWorld(t, endless)
			defer w.close()
			w.config.Limits.MaxCalls = maxCalls
			s := w.restart(t, kill)
			if n := len(w.model.Requests()); n > maxCalls || s.Status != projections.Completed || !s.Last.Partial {
				t.Errorf("%d calls of %d, status %s", n, maxCalls, s.Status)
			}
		})
		t.Run("tokens, "+name, func(t *testing.T) {
			w := newWorld(t, endless)
			defer w.close()
			w.config.Limits.MaxTokens = 3000
			s := w.restart(t, kill)
			spent, largest := 0, 0
			for _, r := range w.model.Requests() {
				n := len(r.Raw) / 8 // no less than half of what any estimate says
				spent, largest = spent+n, max(largest, n)
			}
			if spent > w.config.Limits.MaxTokens+largest || s.Status != projections.Paused || s.Paused.Reason != "limit" {
				t.Errorf("%d tokens at least of %d, status %s", spent, w.config.Limits.MaxTokens, s.Status)
			}
		})
	}
}
