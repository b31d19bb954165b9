package report

import (
	"regexp"
	"strings"
	"sync"

	"agent/internal/i18n"
)

// Texts about tasks say what holds where runs take them and a forge shows them. No run
// takes a try, and whoever started it sits at the terminal. What is posted or logged stays
// as it is; only what a terminal shows is put in these words.

// inTry gives for each text the one that is shown for a try, "" for none.
var inTry = []struct{ from, to i18n.ID }{
	{"paused.outage", "try.outage"},
	{"why.model_time", "try.outage"},
	{"resumed.head", "resumed.plain"},
	{"resumed.unread", "resumed.plain"},
	{"change.nopush", ""},
	{"change.kept", ""},
	{"change.nothing", "try.nothing"},
	{"facts.head", ""},
	{"kept.patch", "try.kept"},
	{"paused.patch", ""},
}

type swap struct {
	from *regexp.Regexp
	to   string
}

// swaps are inTry in all languages: a task may be in another one than the terminal.
var swaps = sync.OnceValue(func() (all []swap) {
	verb := regexp.MustCompile(`%(\[\d+\])?[sd]`)
	for _, lang := range []i18n.Lang{i18n.En, i18n.Ja} {
		for _, text := range inTry {
			words := verb.Split(i18n.Text(lang, text.from), -1)
			for i := range words {
				words[i] = regexp.QuoteMeta(words[i])
			}
			to := ""
			if text.to != "" {
				to = i18n.Text(lang, text.to)
			}
			all = append(all, swap{regexp.MustCompile(strings.Join(words, `[^\n]*?`)), to})
		}
	}
	return all
})

var resumes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("`agent resume( [0-9a-f-]{8,36})?`") })

// InTry is a text about a task in the words for a try. uuid is that of its context.
func InTry(text, uuid string) string {
	for _, s := range swaps() {
		text = s.from.ReplaceAllLiteralString(text, s.to)
	}
	return resumes().ReplaceAllStringFunc(text, func(said string) string {
		named := strings.TrimSpace(strings.TrimPrefix(strings.Trim(said, "`"), "agent resume"))
		if !strings.HasPrefix(uuid, named) { // another context
			return said
		}
		return "`agent try --resume " + uuid[:min(8, len(uuid))] + "`"
	})
}
