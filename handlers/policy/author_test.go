package policy_test

import (
	"testing"

	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers/policy"
	"agent/projections"
)

// All accounts that were deleted have one name. None of them is the author.
func TestDeletedAuthor(t *testing.T) {
	s := projections.NewState()
	if policy.IsAuthor(s, forge.Account{Login: "alice"}) {
		t.Error("nobody has read the task, yet alice is its author")
	}
	for author, want := range map[string]bool{"alice": true, "ghost": false, "": false} {
		s.Apply(event.Event{Seq: 1, Body: &event.TaskFetched{Author: author}})
		if got := policy.IsAuthor(s, forge.Account{Login: author}); got != want {
			t.Errorf("%q by itself: %v, want %v", author, got, want)
		}
	}
}
