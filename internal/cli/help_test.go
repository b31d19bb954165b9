package cli

import (
	"testing"

	"agent/internal/i18n"
	"agent/internal/report"
)

// Usages stand below each other also where a name has letters as wide as two, and the library's
// word for a default is in the language of the rest.
func TestAlignFlags(t *testing.T) {
	const list = "      --at SEQ              at event SEQ\n      --to 場所   directory\n  -q, --quiet[=true|false]   quiet (default 3)\n"
	for lang, want := range map[i18n.Lang]string{
		i18n.En: "      --at SEQ    at event SEQ\n      --to 場所   directory\n  -q, --quiet     quiet (default 3)\n",
		i18n.Ja: "      --at SEQ    at event SEQ\n      --to 場所   directory\n  -q, --quiet     quiet（既定: 3）\n",
	} {
		if got := alignFlags(list, lang); got != want {
			t.Errorf("%s:\n%swant\n%s", lang, got, want)
		}
	}
}

func TestCommentsOfExamples(t *testing.T) {
	const example = "  agent verify             all contexts\n  agent verify 3f2a        # all contexts\n  agent verify\n  agent x  all contexts, it says"
	const want = "  agent verify             すべてのコンテキスト\n  agent verify 3f2a        # すべてのコンテキスト\n  agent verify\n  agent x  all contexts, it says"
	if got := comments(example, i18n.Ja); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := comments(example, i18n.En); got != example {
		t.Errorf("in English: %s", got)
	}
}

func TestContextsAreOfferedInTheLanguage(t *testing.T) {
	listed := []report.Listed{{UUID: "3f2a", TaskKey: "github.com/o/r/issues/1", State: "paused"}}
	for lang, want := range map[i18n.Lang]string{i18n.En: "3f2a\tpaused github.com/o/r/issues/1", i18n.Ja: "3f2a\t一時停止 github.com/o/r/issues/1"} {
		if got := (&Env{Lang: lang}).offers(listed, nil, "3"); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, want %q", lang, got, want)
		}
	}
}
