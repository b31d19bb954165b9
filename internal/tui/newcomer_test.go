package tui

import (
	"fmt"
	"strings"
	"testing"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/i18n"
)

// Every key of the help can be read, on a narrow terminal by scrolling, and none is cut.
func TestHelpIsWhole(t *testing.T) {
	for _, lang := range []i18n.Lang{i18n.En, i18n.Ja} {
		for _, width := range []int{60, 80} {
			w := newWorld(t)
			w.browse(width, 24, lang)
			all := w.press("?")
			for range 40 {
				all += w.press("j")
			}
			w.wants(all, i18n.Text(lang, "tui.keys.help"))
			if strings.Contains(all, "…") {
				t.Errorf("%s, %d columns: something is cut\n%s", lang, width, all)
			}
			for line := range strings.Lines(i18n.Text(lang, "tui.help.keys")) {
				for part := range strings.SplitSeq(strings.TrimSuffix(line, "\n"), "|") {
					w.wants(all, part)
				}
			}
			if strings.Contains(w.press("esc"), i18n.Text(lang, "tui.keys.help")) {
				t.Errorf("esc does not close the help")
			}
		}
	}
}

// Steps have the numbers that the page gives them, also in the last part of a log, and a
// number leads to its step.
func TestSteps(t *testing.T) {
	w := newWorld(t)
	w.context(uuid, "t", &event.MessageAdded{Role: "user", Purpose: "task", Content: event.T("x")})
	for i := range 5000 { // more events than a window
		w.add(&event.LLMRequested{Purpose: "work", Model: "m"}, &event.LLMReplied{Text: event.T(fmt.Sprint("reply", i+1, ".")), CostUSD: 0.5, Usage: event.Usage{Prompt: 70, Completion: 7}})
	}
	w.browse(80, 24, "en")
	w.wants(w.press("enter"), "s5000 ", "reply5000.", "0.5000 USD")
	w.wants(w.press("s 4 9 9 0"), "Event (57) or step (s4)", "> s4990")
	w.wants(w.press("enter"), "▶ 9981 model       s4990")
	w.wants(w.press("# s 9 enter"), "▶   19 model       s9") // which another window has
	w.wants(w.press("# s 5 0 0 1 enter"), "There is no step s5001", "steps s1 to s5000")
	w.wants(w.press("1 0 0 0 0 enter"), "▶ 9999 model       s4999") // an answer leads to its row
	w.m.width = 200
	w.wants(w.screen(), "77 tok 0.5000 USD")
}

// Money by phase is one key away, and what it shows is left as every detail is.
func TestCosts(t *testing.T) {
	for _, width := range []int{60, 80, 160} {
		w := newWorld(t)
		w.context(uuid, "t", work()...)
		w.browse(width, 24, "en")
		w.wants(w.press("enter $"), "Where tokens, money and time went", "planning", "total", "0.2500")
		if out := w.press("q"); strings.Contains(out, "Where tokens") {
			t.Errorf("the costs are still there:\n%s", out)
		}
		w.wants(w.press("n enter"), "Output")
	}
}

// What the model was told is visited with its first words, our own comments are not; the
// last line says which one of how many it is.
func TestJumps(t *testing.T) {
	w := newWorld(t)
	w.context(uuid, "t", work()...)
	w.add(&event.MessageAdded{Role: "user", Purpose: "comment", Content: event.T("And in French")}, &event.PauseRequested{By: "command"},
		&event.ContextPaused{Reason: event.PauseOnRequest, Until: event.Until{Kind: "person"}}, &event.ResumeRequested{By: "command", Actor: "root", Person: true}, &event.ContextResumed{})
	w.browse(80, 24, "en")
	w.wants(w.press("enter g c"), "task: Fix it", "message 1 of 2")
	w.wants(w.press("c"), "comment: And in French", "message 2 of 2")
	w.wants(w.press("c"), "message 1 of 2 (again from the first)")
	w.wants(w.press("n"), "failure 1 of 1")
	w.wants(w.press("n"), "failure 1 of 1 (again from the first)")
	w.wants(w.press("N"), "failure 1 of 1 (again from the last)")
	out := w.press("w")
	w.wants(out, "pause or resume 1 of 2", "somebody (command) asked for a pause", "root (command) asked to resume", "resumed by root (command)", "→ workspace/run I look.")
	if strings.Contains(out, "→ →") || strings.Contains(out, "__") {
		t.Errorf("arrows or names of tools:\n%s", out)
	}
	w.browse(80, 24, "ja")
	w.wants(w.press("enter"), "ユーザー（コマンド）が一時停止を要求しました", "root（コマンド）が再開を要求しました")
}

// A key that does nothing here says why.
func TestKeysThatDoNothing(t *testing.T) {
	w := newWorld(t)
	w.context(uuid, "t", &event.ContextCompleted{Reason: "done"})
	w.browse(80, 24, "en")
	w.m.Signal = func(string, contexts.Signal) (string, error) { t.Error("a signal was sent"); return "", nil }
	w.wants(w.press("P"), "It has ended: there is nothing to pause")
	for keys, want := range map[string]string{"n": "Nothing failed", "p": "no plan", "c": "no message", "d": "No files", "w": "no pause", "R": "nothing to resume", "S": "nothing to stop", "7 enter": "no event 7: events are 1 to 2, and there are no steps",
		": s 4 enter": "no step s4", ": x enter": "x is no event", "t": "told nothing", "x": "x does nothing here", "v": "no other view", "space": "only plans have phases", "r": "r does nothing here", "enter x": "x does nothing here", "enter p": "no plan",
		"enter 7 enter": "no event 7"} {
		w.m.open = nil
		w.wants(w.press("enter "+keys), want)
	}
}

// Attempts at one task differ by their ids, and tasks by their numbers, at 80 columns, too.
func TestListTellsContextsApart(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{"22220001-0000-4000-8000-000000000001", "22220002-0000-4000-8000-000000000001"} {
		c, err := w.store.Create(&event.ContextCreated{Format: event.Format, UUID: id, TaskKey: "gitlab.example.com/a-group/with-a-long-name/widgets/-/merge_requests/4711",
			Forge: "gitlab.example.com", Kind: "gitlab_merge_request", Trigger: "label", Title: "Sum leaves out the last number"}, w.at())
		must(t, err)
		t.Cleanup(func() { _ = c.Close() })
	}
	for _, lang := range []i18n.Lang{i18n.En, i18n.Ja} {
		w.browse(80, 24, lang)
		w.wants(w.screen(), "22220001 ", "22220002 ", "widgets!4711 ", " Sum leaves")
	}
	for task, want := range map[string]string{"127.0.0.1:42181/demo/sum/issues/1": "…/demo/sum#1", "github.com/o/r/pulls/7": "github.com/o/r/pulls/7", "files/a-directory-with-a-long-name": "…irectory-with-a-long-name",
		"gitlab.com/group/project/-/issues/12345": "…/group/project#12345", "": "", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx/": "…/"} {
		if got := shortTask(task, 26); got != want {
			t.Errorf("%q is %q in 26 columns, not %q", task, got, want)
		}
	}
}
