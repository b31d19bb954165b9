package rounds

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"agent/eventlog/event"
)

// TestInheritanceInTheLog: what could not be taken over from an earlier attempt is a
// warning (seeds/002 §9); that there was none is not.
func TestInheritanceInTheLog(t *testing.T) {
	for level, in := range map[string]*event.ContextInherited{
		"WARN": {Reason: "u1: its log cannot be read", Skipped: true},
		"INFO": {Reason: "there was no earlier attempt at this task"},
	} {
		var out bytes.Buffer
		logEvent(slog.New(slog.NewTextHandler(&out, nil)), event.Event{Seq: 1, Body: in})
		if got := out.String(); !strings.Contains(got, "level="+level) || !strings.Contains(got, in.Reason) || strings.Count(got, "\n") != 1 {
			t.Errorf("want one line of level %s, got\n%s", level, got)
		}
	}
}
