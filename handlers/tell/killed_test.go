package tell

import (
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/projections"
)

// TestKilledCommandsAreNamed: tests that did not end show nothing, whatever the model
// says, and the evidence names them.
func TestKilledCommandsAreNamed(t *testing.T) {
	tests := &event.ToolRequested{Server: "workspace", Tool: "run_command", Args: event.T(`{"command":"go test ./..."}`)}
	for name, c := range map[string]struct {
		outcome    event.Body
		en, ja     string
		unverified bool
	}{
		"passed":      {&event.ToolReplied{Content: event.T("exit code: 0\n[1.0 s]\nok")}, "`go test ./...` → exit code 0", "`go test ./...` → 終了コード 0", false},
		"killed":      {&event.ToolReplied{Content: event.T("exit code: killed\n[9.0 s]\nok"), IsError: true}, "`go test ./...` → **killed** before it ended", "`go test ./...` → 終了前に**強制終了**されました", true},
		"interrupted": {&event.ToolInterrupted{Reason: "no answer"}, "`go test ./...` → **interrupted**; its result is unknown", "`go test ./...` → **中断**され、結果は不明です", true},
	} {
		for lang, want := range map[i18n.Lang]string{i18n.En: c.en, i18n.Ja: c.ja} {
			s := projections.NewState()
			s.Lang = lang
			s.Apply(event.Event{Seq: 1, Body: tests})
			s.Apply(event.Event{Seq: 2, Body: c.outcome})
			v := &projections.Ending{Status: projections.Completed, Text: "All tests pass."}
			if got := strings.Join(evidence(s, v), "\n"); !strings.Contains(got, want) {
				t.Errorf("%s: %s", name, got)
			}
			if got := unverified(s, v); (got != "") != c.unverified {
				t.Errorf("%s: %q", name, got)
			}
		}
	}
}
