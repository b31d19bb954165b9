package handlers

import (
	"slices"
	"strings"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/llm"
	"agent/projections"
)

// outage plays a server that is down for so many runs, each of which wakes says, and then answers.
func outage(t *testing.T, planned bool, wakes ...event.Body) *world {
	w := newWorld(t, "json")
	w.state.Config.Planning = event.Planning{Enabled: planned, MaxActions: 5, Comments: "task"}
	kinds := []string{"transient", "timeout", "rate_limited"}
	w.reply = func(*event.LLMRequested, *llm.Request) event.Body {
		if len(w.rests) > 0 {
			return &event.LLMFailed{Kind: kinds[w.calls%len(kinds)], Message: "no", NotBefore: w.now.Add(10 * time.Second)}
		}
		if planned && w.state.Planning.Plan == nil {
			return text(`{"phase":"planning","action_plan":{"actions":[{"id":"a1","purpose":"look","tool":"ws/read_file"}]}}`)
		}
		return text(`{"done":true,"comment":"Fixed."}`)
	}
	for _, wake := range wakes {
		w.rests = append(w.rests, []event.Body{wake})
	}
	return w
}

// told are the purposes of the comments and label changes, and the distances of
// pauses from what led to them, in the order of the log.
func (w *world) told() (comments, labels []string, distances []time.Duration) {
	s := projections.NewState()
	for _, e := range w.events {
		switch b := e.Body.(type) {
		case *event.CommentRequested:
			comments = append(comments, b.Purpose)
		case *event.LabelsRequested:
			labels = append(labels, b.Purpose)
		case *event.ContextPaused:
			distances = append(distances, b.Until.Time.Sub(s.Work.FailedAt))
		}
		s.Apply(e)
	}
	return comments, labels, distances
}

// posted are the purposes of the comments that are new, but for progress.
func (w *world) posted() (purposes []string) {
	for _, b := range w.all {
		if c, ok := b.(*event.CommentRequested); ok && c.Edit == "" && !c.Repeated() {
			purposes = append(purposes, c.Purpose)
		}
	}
	return purposes
}

func equal[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// An outage is one comment and one change of the labels, however long it lasts,
// and its probes are further and further apart.
func TestOutageIsQuiet(t *testing.T) {
	for _, planned := range []bool{false, true} {
		timer := &event.ResumeRequested{By: "timer"}
		w := outage(t, planned, timer, timer, timer, timer, timer, timer, timer)
		if w.run(); w.state.Status != projections.Completed {
			t.Fatalf("planned %v: %s:\n%s", planned, w.state.Status, w.out.String())
		}
		comments, labels, distances := w.told()
		comments = slices.DeleteFunc(comments, func(purpose string) bool { return strings.HasPrefix(purpose, "progress") })
		equal(t, "comments", comments, []string{"paused", "resumed", "completed"}) // the second edits the first
		equal(t, "new comments", w.posted(), []string{"paused", "completed"})
		equal(t, "labels", labels, []string{"start", "paused", "resumed", "completed"})
		m := time.Minute
		equal(t, "distances", distances, []time.Duration{5 * m, 10 * m, 20 * m, 40 * m, 60 * m, 60 * m, 60 * m})
	}
}

// While an outage lasts no comment is edited either, also not the progress of a plan.
func TestProbesEditNothing(t *testing.T) {
	timer := &event.ResumeRequested{By: "timer"}
	w := outage(t, true, timer, timer, timer, timer)
	w.run()
	pauses := 0
	for _, e := range w.events {
		switch e.Body.(type) {
		case *event.ContextPaused:
			pauses++
		case *event.LLMReplied:
			return
		case *event.CommentRequested, *event.LabelsRequested:
			if pauses > 0 {
				t.Errorf("event %d after %d pauses: %s", e.Seq, pauses, e.Body.Type())
			}
		}
	}
}

// A person who resumes learns that it did not help.
func TestResumeInAnOutage(t *testing.T) {
	timer := &event.ResumeRequested{By: "timer"}
	w := outage(t, false, timer, &event.ResumeRequested{By: "command", Person: true}, timer)
	w.run()
	comments, labels, distances := w.told()
	equal(t, "comments", comments, []string{"paused", "resumed", "paused", "resumed", "completed"})
	equal(t, "new comments", w.posted(), []string{"paused", "completed"}) // one for the outage, whoever resumes in it
	equal(t, "labels", labels, []string{"start", "paused", "resumed", "paused", "resumed", "completed"})
	equal(t, "distances", distances, []time.Duration{5 * time.Minute, 10 * time.Minute, 5 * time.Minute})
}

// An outage that turns out to be something for a person is said, once; the label is there already.
func TestOutageThatNeedsAPerson(t *testing.T) {
	w := newWorld(t, "json", failed("rate_limited", time.Hour), failed("quota", 0))
	w.rests = [][]event.Body{{&event.ResumeRequested{By: "timer"}}}
	w.run()
	comments, labels, _ := w.told()
	equal(t, "comments", comments, []string{"paused", "paused"})
	equal(t, "labels", labels, []string{"start", "paused"})
	if w.state.Paused.Until.Kind != "person" {
		t.Errorf("paused until %s", w.state.Paused.Until.Kind)
	}
}

// The comment on an outage says in the end that it is over, and since when. If it was
// deleted, or the forge takes no edit, nothing else is said, and a later outage has a comment of its own.
func TestOutageIsOver(t *testing.T) {
	timer := &event.ResumeRequested{By: "timer"}
	for _, gone := range []bool{false, true} {
		w := outage(t, false, timer, timer)
		w.noEdits = gone
		w.run()
		if s := w.state; s.Status != projections.Completed || s.Outage != (projections.Outage{}) {
			t.Fatalf("gone %v: %s, %+v:\n%s", gone, s.Status, s.Outage, w.out.String())
		}
		equal(t, "new comments", w.posted(), []string{"paused", "completed"})
		if said := w.said("resumed"); !strings.Contains(said, "The model did not answer from 2026-01-02 03:0") {
			t.Errorf("it says\n%s", said)
		}
	}
}
