package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/internal/snapshot"
)

// resumed is a run that is killed in a model call, paused by a comment, and resumed with a
// comment that the model is told of.
func resumed() []event.Body {
	call := []event.ToolCall{{ID: "c", Name: "workspace__edit_file", Args: event.T(`{"path":"sum.go"}`)}}
	return []event.Body{
		&event.TaskFetched{Title: "t", URL: "https://github.com/o/r/issues/1"},
		&event.MessageAdded{Role: "user", Purpose: "task", Content: event.T("The task")},
		&event.ProcessStarted{},
		&event.LLMRequested{Purpose: "work", Model: "m", Estimated: 90}, &event.ProcessStarted{}, &event.LLMFailed{Kind: event.Interrupted},
		&event.LLMRequested{Purpose: "work", Model: "m", Estimated: 90}, &event.LLMReplied{Text: event.T("I edit."), Calls: call, Usage: event.Usage{Prompt: 100, Completion: 10}},
		&event.PauseRequested{By: "comment", Actor: "alice", Comment: "1012"},
		&event.ContextPaused{Reason: event.PauseOnRequest, Until: event.Until{Kind: "person"}}, &event.ProcessEnded{Reason: "paused"}, &event.ProcessStarted{},
		&event.ResumeRequested{By: "command", Person: true, Actor: "root"}, &event.ContextResumed{},
		&event.ToolRequested{Server: "workspace", Tool: "edit_file"}, &event.ToolReplied{Content: event.T("edited sum.go")},
		&event.MessageAdded{Role: "user", Purpose: "comments", Content: event.T("New comments\n\n---\nAuthor: @alice\nTime: noon\nText:\n```\nWhich line?\n```")},
		&event.LLMRequested{Purpose: "work", Model: "m"}, &event.LLMReplied{Text: event.T("Line 7."), Finish: "stop", Usage: event.Usage{Prompt: 120, Completion: 12}},
	}
}

// What the model was told after a resume stands behind its row, and behind that of the request.
func TestWhatTheModelWasTold(t *testing.T) {
	w := newWorld(t)
	w.context(uuid, "t", resumed()...)
	w.browse(80, 30, "en")
	w.wants(w.press("enter g w"), "@alice (comment) asked for a pause")
	w.wants(w.press("enter"), "Requested by: @alice, in a comment", "https://github.com/o/r/issues/1#issuecomment-1012")
	out := w.press("w")
	w.wants(out, "Requested by: root, with a command on the agent's machine", "What is new in request 19", "edited sum.go", "Which line?", "Press t for the request")
	lines := strings.Split(out, "\n")
	for _, line := range []string{"Author: @alice", "Time: noon", "Text:"} { // as they were written
		if !strings.Contains(out, "\n"+line) || len(lines) < 24 {
			t.Errorf("%q is no line of its own:\n%s", line, out)
		}
	}
	w.wants(w.press("t"), "request to the model 3 of 3", "What is new in request 19", "Which line?", "Line 7.")
	w.wants(w.press("j"), "v show: the whole request")
	if strings.Contains(w.screen(), "The task") {
		t.Errorf("what it knew is shown as new:\n%s", w.screen())
	}
	w.wants(w.press("v"), "would not ask the model") // this log was not made by decisions
	w.wants(w.press("v"), "What is new in request 19")
}

// A step leads to the call that was answered, and every row of the step says which one it is.
func TestPlaces(t *testing.T) {
	w := newWorld(t)
	w.context(uuid, "t", resumed()...)
	w.browse(80, 30, "en")
	w.wants(w.press("enter : s 1 enter"), "▶    8 model       s1", "     5 model       s1    ⚠", "    16 tool        s1")
	w.wants(w.press("enter"), "What is new in request 8", "request 5 said the same, but got no answer", "The task")
	w.wants(w.press("q 1 7 enter"), "▶   16 tool")                  // an outcome
	w.wants(w.press("1 3 enter"), "▶   13", "Minor rows are shown") // which are hidden
	w.wants(w.press("0 enter"), "0 is no event", "events are 1 to 20, steps s1 to s2")
	w.wants(w.press("enter 1 8 enter"), "Message to the model") // inside a detail, too
}

// A detail ends with its last line.
func TestScrollingStops(t *testing.T) {
	w := newWorld(t)
	w.context(uuid, "t", &event.MessageAdded{Role: "user", Purpose: "task", Content: event.T(strings.Repeat("a line\n\n", 40) + "the end")})
	for _, lang := range []i18n.Lang{i18n.En, i18n.Ja} {
		w.browse(80, 24, lang)
		w.press("enter g c enter")
		for range 9 {
			w.press("pgdown j")
		}
		lines := strings.Split(w.screen(), "\n")
		if last := lines[w.m.contextRows()+1]; last != "the end" {
			t.Errorf("%q is the last line of\n%s", last, w.screen())
		}
	}
}

// A change is shown as a diff, and as the files before and after it, beside the output of the tool.
func TestFilesBeforeAndAfter(t *testing.T) {
	w := newWorld(t)
	w.context(uuid, "t")
	dir := t.TempDir()
	objects, err := snapshot.OpenStore(w.store.Objects(uuid))
	must(t, err)
	base := snapshot.NewTree(1, nil)
	files, err := snapshot.NewCopy(dir, objects, base, base, nil, snapshot.Options{Largest: 1 << 20})
	must(t, err)
	far := strings.Repeat("a line far from the change\n", 9)
	for _, text := range []string{"one\n" + far, "two\n" + far} {
		must(t, os.WriteFile(filepath.Join(dir, "sum.go"), []byte(text), 0o644))
		w.add(&event.ToolRequested{Server: "workspace", Tool: "edit_file"})
		saved, err := files.Save(t.Context(), snapshot.Request{})
		must(t, err)
		_, err = w.log.Append(event.Event{Time: w.at(), Cause: w.last, Body: &event.WorkspaceSaved{Reason: "tool", Tree: saved.Tree, From: saved.From, Count: 1, Added: 1}})
		must(t, err)
		w.add(&event.ToolReplied{Content: event.T("edited sum.go at line 1")})
	}
	w.browse(80, 40, "en")
	w.wants(w.press("enter g d d enter"), "edited sum.go at line 1", "-one", "+two", "v show: the file before")
	before := w.press("v")
	w.wants(before, "sum.go before event 5", "\none\n", far, "v show: the file after")
	w.wants(w.press("v"), "sum.go after event 5", "\ntwo\n", far, "v show: the diff")
	w.wants(w.press("v"), "+two")
	w.wants(w.press("q g d enter v"), "There was no such file")
}
