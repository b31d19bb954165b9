package tui

import (
	"context"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/i18n"
)

// The keys at the bottom are whole on a terminal of 80 columns, in both languages, and each
// of them does something where it is shown: what is cut off or in vain nobody presses.
func TestFootersFit(t *testing.T) {
	for _, lang := range []i18n.Lang{i18n.En, i18n.Ja} {
		w := newWorld(t)
		w.context(uuid, "t", work()...)
		begin := func(keys string) {
			w.browse(80, 24, lang)
			w.m.Signal = func(string, contexts.Signal) (string, error) { return "asked", nil }
			w.m.Fork = func(context.Context, string, uint64, string) (string, error) { return "made", nil }
			w.press(keys)
		}
		for _, keys := range []string{"", "enter", "enter n", "enter n enter", "enter $", "enter g", "enter p enter"} {
			begin(keys)
			hints := w.m.hints()
			if lines := w.m.laidOut(hints); len(lines) > mostHints || strings.Join(lines, " · ") != strings.Join(hints, " · ") {
				t.Errorf("%s, after %q: %q of %q", lang, keys, lines, hints)
			}
			for _, hint := range hints {
				begin(keys)
				key, _, _ := strings.Cut(strings.TrimPrefix(hint, "j/"), " ")
				if key == "q" {
					continue
				}
				if w.press(key); w.m.bad {
					t.Errorf("%s, after %q: %q does nothing: %s", lang, keys, hint, w.m.note)
				}
			}
		}
	}
}

// The keys name what there is: no plan without a plan, no pause without one.
func TestFooterNamesWhatThereIs(t *testing.T) {
	w := newWorld(t)
	w.context(uuid, "t", &event.MessageAdded{Role: "user", Purpose: "task", Content: event.T("x")})
	w.browse(80, 24, "en")
	out := w.press("enter")
	w.wants(out, "c next message", ": go to", "? keys", "q back")
	for _, absent := range []string{"n next failure", "d next change", "w next pause", "t told", "p latest plan", "$ spent", "F fork", "P pause", "v show"} {
		if strings.Contains(out, absent) {
			t.Errorf("%q is offered in vain:\n%s", absent, out)
		}
	}
	w.add(&event.PauseRequested{By: "command"}, &event.ContextPaused{Reason: event.PauseOnRequest, Until: event.Until{Kind: "person"}})
	w.m.Signal = func(string, contexts.Signal) (string, error) { return "", nil }
	w.run(func() tea.Msg { return w.m.grown()() })
	w.wants(w.screen(), "w next pause", "R resume")
	if strings.Contains(w.screen(), "P pause") {
		t.Errorf("a paused one is offered to be paused:\n%s", w.screen())
	}
}

// A question is read whole, and the end of what is typed is seen, however narrow the terminal is.
func TestQuestionsFit(t *testing.T) {
	for _, lang := range []i18n.Lang{i18n.En, i18n.Ja} {
		w := newWorld(t)
		w.context(uuid, "t", work()...)
		w.browse(80, 24, lang)
		w.m.Signal = func(string, contexts.Signal) (string, error) {
			return strings.Repeat("a long answer ", 30) + "THE END", nil
		}
		w.m.Fork = func(context.Context, string, uint64, string) (string, error) { return "made", nil }
		w.press("enter F")
		for _, width := range []int{80, 40, 20} {
			w.m.width = width
			w.m.ask.typed = ""
			typed := w.press("s t a r t")
			w.wants(typed, "> start▏")
			if plain := strings.ReplaceAll(typed, "\n", ""); width > 20 && !strings.Contains(plain, strings.TrimSpace(last(w.m.ask.text, 6))) {
				t.Errorf("the question is cut at %d columns:\n%s", width, typed)
			}
			w.m.ask.typed = strings.Repeat("語", 200)
			w.wants(w.press("e n d"), "語end▏")
		}
		w.m.width = 80
		w.wants(w.press("enter"), "made")
		w.press("P")
		w.wants(w.press("y"), "a long answer", "…")
	}
}

func last(s string, n int) string {
	runes := []rune(s)
	return string(runes[len(runes)-n:])
}
