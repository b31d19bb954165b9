package tell

import (
	"strings"
	"testing"

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
		p := &projections.Pausing{Reason: projections.Denied, Detail: message}
		if got := pauseReason(projections.NewState(), i18n.En, p); !strings.Contains(got, want) {
			t.Errorf("%q: %s", message, got)
		}
	}
}
