package projections_test

import (
	"slices"
	"testing"

	"agent/eventlog/event"
	"agent/projections"
)

// TestRefused: what counts is the latest try of each kind of last write. A task that
// goes on after an answer says its last words again.
func TestRefused(t *testing.T) {
	s, seq := projections.NewState(), uint64(0)
	for _, step := range []struct {
		intent, outcome event.Body
		want            []string
	}{
		{&event.CommentRequested{Purpose: "progress"}, &event.CommentFailed{Message: "slow"}, nil}, // said again later
		{&event.CommentRequested{Purpose: "completed"}, &event.CommentFailed{Message: "locked"}, []string{"comment: locked"}},
		{&event.LabelsRequested{Purpose: "completed"}, &event.LabelsFailed{Message: "invalid"}, []string{"comment: locked", "labels: invalid"}},
		{&event.CommentRequested{Purpose: "completed"}, &event.CommentPosted{ID: "1"}, []string{"labels: invalid"}},
		{&event.LabelsRequested{Purpose: "stopped"}, &event.LabelsFailed{Message: "archived"}, []string{"labels: archived"}},
		{&event.LabelsRequested{Purpose: "stopped"}, &event.LabelsChanged{}, nil},
	} {
		for _, body := range []event.Body{step.intent, step.outcome} {
			seq++
			s.Apply(event.Event{Seq: seq, Body: body})
		}
		if !slices.Equal(s.Refused, step.want) {
			t.Errorf("after event %d: %q, want %q", seq, s.Refused, step.want)
		}
	}
}
