package i18n

import (
	"strings"
	"testing"
)

// Both languages exist, no text has two translations, and a form takes all its words.
func TestHelpIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range HelpTexts() {
		en, ja := p[0], p[1]
		if en == "" || ja == "" || en == ja || seen[en] {
			t.Errorf("%q and %q, or the text is there twice", en, ja)
		}
		seen[en] = true
		if n := strings.Count(en, "%s"); n != len(verb.FindAllString(ja, -1)) {
			t.Errorf("%q and %q do not take the same words", en, ja)
		}
	}
}

func TestHelp(t *testing.T) {
	for _, c := range []struct {
		lang     Lang
		en, want string
	}{
		{Ja, "Pause tasks", "タスクを一時停止"},
		{Ja, "help for run", "run のヘルプを表示"},
		{Ja, `invalid argument "x" for "--interval" flag: no number`, `フラグ "--interval" の値 "x" は無効です: no number`},
		{Ja, "newer than the table", "newer than the table"},
		{Ja, "", ""},
		{En, "Pause tasks", "Pause tasks"},
		{En, "help for run", "help for run"},
	} {
		if got := Help(c.lang, c.en); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.lang, c.en, got, c.want)
		}
	}
}
