package tell

import (
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/handlers/format"
	"agent/internal/i18n"
	"agent/projections"
)

// TestDenied: an archived repository, a full list of labels and a missing right are
// three different answers.
func TestDenied(t *testing.T) {
	for message, want := range map[string]string{
		"Repository was archived so is read-only.":         "is archived",
		"Validation Failed; an issue can have 100 labels":  "as many labels as the forge allows",
		"Resource not accessible by personal access token": "Allow the token",
		"": "Allow the token",
	} {
		p := &projections.Pausing{Reason: event.PauseLabels, Detail: message}
		if got := pauseReason(projections.NewState(), i18n.En, p); !strings.Contains(got, want) {
			t.Errorf("%q: %s", message, got)
		}
	}
}

// TestUnopened: a request that could not be opened has another remedy for each reason. The
// words are those of GitHub and GitLab.
func TestUnopened(t *testing.T) {
	for _, tt := range []struct{ kind, message, want string }{
		{"forbidden", "Repository was archived so is read-only.", "change.unopened.archived"},
		{"forbidden", "Resource not accessible by personal access token", "change.unopened.forbidden"},
		{"forbidden", "Resource not accessible by integration", "change.unopened.forbidden"},
		{"forbidden", "403 Forbidden", "change.unopened.forbidden"},
		{"invalid", "Validation Failed: No commits between main and topic", "change.unopened"},
		{"transient", "502", "change.unopened"},
	} {
		s := projections.NewState()
		s.Lang = i18n.En
		got := failedChange(s, &event.ChangeFailed{Kind: tt.kind, Message: tt.message, Pushed: true})
		if want := i18n.Text(i18n.En, i18n.ID(tt.want), format.Code(tt.message)); got != want {
			t.Errorf("%s %q: %q", tt.kind, tt.message, got)
		}
	}
}
