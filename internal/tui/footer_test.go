package tui

import (
	"context"
	"strings"
	"testing"

	"agent/contexts"
	"agent/internal/i18n"
	"agent/internal/term"
)

// The keys at the bottom are whole on a terminal of 80 columns, in both
// languages: what is cut off nobody presses.
func TestFootersFit(t *testing.T) {
	for _, lang := range []i18n.Lang{i18n.En, i18n.Ja} {
		for _, id := range []i18n.ID{"tui.keys.list", "tui.keys.filter", "tui.keys.context", "tui.keys.detail"} {
			for line := range strings.Lines(i18n.Text(lang, id)) {
				if n := term.Columns(strings.TrimSuffix(line, "\n")); n > 80 {
					t.Errorf("%s in %s: %d columns: %s", id, lang, n, line)
				}
			}
		}
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
