package handlers

import (
	"fmt"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/handlers/tell"
)

// said gives the description of a change and the last comment of a run.
func said(w *world) (description, last string) {
	w.run()
	for _, b := range w.all {
		switch b := b.(type) {
		case *event.ChangeRequested:
			description = b.Body.View()
		case *event.CommentRequested:
			if b.Purpose == "completed" {
				last = b.Body.View()
			}
		}
	}
	return description, last
}

// TestWordsLeaveRoom: however much the model says, what belies it is still there.
func TestWordsLeaveRoom(t *testing.T) {
	m := small()
	for i := range 500 {
		m.LeftOut = append(m.LeftOut, fmt.Sprint(strings.Repeat("x", 110), i))
	}
	w := publishing(t, m, text("All tests pass. "+strings.Repeat("<b> ", 15000)))
	description, last := said(w)
	for name, body := range map[string]string{"description": description, "comment": last} {
		for _, part := range []string{"**Unverified:**", "All tests pass", "`a.go` +2 −1", "(+470)", "</details>", "cut"} {
			if !strings.Contains(body, part) {
				t.Errorf("the %s lacks %q", name, part)
			}
		}
		if n := len([]rune(body)); n > tell.MaxComment {
			t.Errorf("the %s has %d characters", name, n)
		}
	}
	if !strings.HasPrefix(description, "Closes #7\n") || !strings.Contains(last, "**Done**") || !strings.Contains(last, "pull/8") {
		t.Errorf("%.300s\n%.300s", description, last)
	}
}

// TestDescriptionClosesNothingElse: GitLab finds closing words in code as well.
func TestDescriptionClosesNothingElse(t *testing.T) {
	command := native("ws__run_command", `{"argv":["echo","Closes #3"]}`)
	w := publishing(t, small(), command, text("Fixes #4:\n\n```\nCloses #5\nresolves https://github.com/o/r/issues/6\n```\n`implements o/q#8`"))
	w.tools["ws/run_command"] = &event.ToolReplied{Content: event.T("exit code: 0\nok")}
	description, _ := said(w)
	rest, ours := strings.CutPrefix(description, "Closes #7\n")
	if !ours || !strings.Contains(rest, "echo 'Closes · #3'") || !strings.Contains(rest, "Closes · #5\nresolves · https") || !strings.Contains(rest, "`Fixes · #4`") || !strings.Contains(rest, "implements · o/q#8") {
		t.Error(description)
	}
}

// TestUnlistedFilesAreHeld: the paths that an event has no room for may be any.
func TestUnlistedFilesAreHeld(t *testing.T) {
	w := publishing(t, small())
	w.state.Config.Change.MaxFiles = 0
	w.state.Publishing.Measured = &event.ChangeMeasured{Count: 3, Files: []event.ChangedFile{{Path: "a"}, {Path: "b"}}}
	if got := tell.ApprovalLines("en", approvalReasons(w.state)); len(got) != 1 || !strings.Contains(got[0], "3 files") {
		t.Errorf("reasons: %q", got)
	}
}

// TestNoPatchIsNamedThatIsNotThere: commits that could not be made give no patch.
func TestNoPatchIsNamedThatIsNotThere(t *testing.T) {
	w := publishing(t, small(), text("Fixed."))
	w.change = &event.ChangeFailed{Kind: "other", Message: "no space left on device"}
	if _, last := said(w); strings.Contains(last, event.PatchFile) || !strings.Contains(last, "no space left") {
		t.Error(last)
	}
}
