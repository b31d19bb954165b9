package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agent/eventlog/event"
	"agent/internal/timeline"
)

// The result of a command is read on a narrow terminal, and a row has no signs of Markdown.
func TestRowsKeepResults(t *testing.T) {
	for _, c := range []struct {
		kind                timeline.Kind
		title, result, want string
		room                int
	}{
		{timeline.Tool, "workspace/run_command go test ./...", "exit code: 1", "run_command go test ./... → exit code: 1", 42},
		{timeline.Tool, "workspace/run_command go test ./...", "exit code: 1", "run_command go te… → exit code: 1", 33},
		{timeline.Tool, "workspace/run_command go test ./...", "exit code: 1", "workspace/run_command go test ./... → exit code: 1", 60},
		{timeline.Model, "m, work", "→ workspace/run_command I'll run", "m, work → run_command I'll run", 31},
		{timeline.Comment, "progress: Working", "posted: http://127.0.0.1/x", "progress: Working", 30},
	} {
		if got := bodyOf(&timeline.Row{Kind: c.kind, Title: c.title, Result: c.result, Status: timeline.Done}, c.room); got != c.want {
			t.Errorf("%d columns: %q, not %q", c.room, got, c.want)
		}
	}
	w := newWorld(t)
	w.context(uuid, "t", append(work(), &event.CommentRequested{Purpose: "completed", Body: event.T("**Done**\n\n<details><summary>Commands run</summary>\n\n- one\n\n</details>")}, &event.CommentPosted{ID: "8"})...)
	w.browse(100, 24, "en")
	out := w.press("enter")
	w.wants(out, "progress: Working", " 20:00:10 comment")
	if strings.Contains(out, "**W") || strings.Contains(out, "**l") {
		t.Errorf("signs of Markdown:\n%s", out)
	}
	if out = w.press("G enter"); !strings.Contains(out, "Commands run") || strings.Contains(out, "details>") {
		t.Errorf("tags of HTML:\n%s", out)
	}
}

// Keys lead back to where they were pressed, and what follows a jump is seen with the keys.
func TestKeysLeadBack(t *testing.T) {
	w := newWorld(t)
	w.context(uuid, "t", work()...)
	w.browse(80, 24, "en")
	out := w.press("enter n")
	w.wants(out, "failure 1 of 1", "enter detail", "? keys")
	if strings.Contains(out, "again") {
		t.Errorf("the first jump begins again:\n%s", out)
	}
	w.wants(w.press("enter"), "Output")
	w.wants(w.press("$"), "Where tokens", "TOKENS")
	w.wants(w.press("q"), "Output", "make: *** no rule")
	w.wants(w.press("q"), "▶    6 tool")
	w.press("q")
	w.wants(w.press("enter"), "▶    6 tool")
	w.press("q / z z")
	w.press("enter /")
	if w.m.list.filter != "" {
		t.Errorf("the filter is still %q", w.m.list.filter)
	}
	w.press("esc")
	_, c := w.m.Update(tea.KeyPressMsg{Code: 'j', Mod: tea.ModCtrl})
	w.run(c)
	w.wants(w.screen(), "▶    6 tool")
}

// A summary is asked before it is answered, and offers no tools.
func TestSummaryRequest(t *testing.T) {
	w := newWorld(t)
	w.context(uuid, "t", append(work(), &event.LLMRequested{Purpose: "summary", Model: "m"}, &event.LLMReplied{Text: event.T("In short"), Finish: "stop"})...)
	w.browse(80, 40, "en")
	out := w.press("enter G enter")
	w.wants(out, "Reply\n", "In short")
	if strings.Contains(out, "Tools:") || strings.Contains(out, "(stop)") {
		t.Errorf("no tools, or a word of the protocol:\n%s", out)
	}
}
