package report

import (
	"strings"
	"testing"

	"agent/internal/i18n"
)

// What a text says in a try names what goes on with it, in both languages.
func TestInTry(t *testing.T) {
	t.Parallel()
	const id = "0123abcd-0000-4000-8000-000000000000"
	for _, lang := range []i18n.Lang{i18n.En, i18n.Ja} {
		for name, test := range map[string]struct{ text, want string }{
			"outage":  {i18n.Text(lang, "why.model_time", "12:00") + " (cut)", i18n.Text(lang, "try.outage") + " (cut)"},
			"comment": {"a\n" + i18n.Text(lang, "paused.outage", "12:00") + "\nb", "a\n" + i18n.Text(lang, "try.outage") + "\nb"},
			"patch":   {"a\n" + i18n.Text(lang, "change.kept", "`x`", "y") + "\nb", "a\n\nb"},
			"head":    {i18n.Text(lang, "facts.head", id, 34, strings.Repeat("0", 64)), ""},
			"resumed": {i18n.Text(lang, "resumed.head"), i18n.Text(lang, "resumed.plain")},
			"key":     {i18n.Text(lang, "why.model_auth"), strings.Replace(i18n.Text(lang, "why.model_auth"), "agent resume", "agent try --resume 0123abcd", 1)},
			"named":   {"`agent resume 0123abcd`", "`agent try --resume 0123abcd`"},
			"other":   {"The model says: agent resume works.", "The model says: agent resume works."},
			"another": {"`agent resume 9999abcd`", "`agent resume 9999abcd`"},
		} {
			if got := InTry(test.text, id); got != test.want {
				t.Errorf("%s, %s: %q, want %q", lang, name, got, test.want)
			}
		}
	}
}
