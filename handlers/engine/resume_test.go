package engine_test

import (
	"slices"
	"testing"

	"agent/contexts"
	"agent/llm/llmtest"
)

// TestResumeWhileItPauses: the label of a pause is there before the pause is complete. Who resumes
// in between is heard, at whichever contact with the world that is.
func TestResumeWhileItPauses(t *testing.T) {
	for later := range 4 {
		w := newWorld(t, scenario{notes: "x\n"})
		defer w.close()
		send := func(g contexts.Signal) {
			if err := w.send(g); err != nil {
				t.Error(err)
			}
		}
		w.model.Close()
		w.model = llmtest.New(func(n int, r llmtest.Request) llmtest.Reply {
			if n == 0 {
				send(contexts.Pause)
			}
			return playOneRead(n, r)
		})
		wait := later
		w.atTouch = func() {
			if wait >= 0 && slices.Contains(w.forge.Labels(project, 1), "paused") {
				if wait--; wait < 0 {
					send(contexts.Resume)
				}
			}
		}
		for range 2 {
			if err := w.born().run(); err != nil {
				t.Fatal(err)
			}
			if wait >= 0 && w.rests() { // the pause was complete before
				wait = -1
				send(contexts.Resume)
			}
		}
		if s := w.status(); !s.Ended() {
			t.Errorf("resumed %d contacts after the label: it is %s", later, s)
		}
		if _, err := w.verify(); err != nil {
			t.Error(err)
		}
	}
}
