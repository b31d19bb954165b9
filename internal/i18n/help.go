package i18n

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Help puts a text of the command line's help, or a line of an error of usage, into a language.
// The English text stands at the command or in the library and is the key of the Japanese one. A
// %s in a key stands for any words. A text that the table does not have stays as it is.
func Help(l Lang, text string) string {
	if l != Ja {
		return text
	}
	t := helpTable()
	if ja, ok := t.whole[text]; ok {
		return ja
	}
	for _, f := range t.forms {
		if words := f.en.FindStringSubmatch(text); words != nil {
			args := make([]any, 0, len(words))
			for _, w := range words[1:] {
				args = append(args, w)
			}
			return fmt.Sprintf(f.ja, args...)
		}
	}
	return text
}

// HelpTexts are all texts of Help, in the order of the table: English, Japanese.
func HelpTexts() (all [][2]string) {
	for _, p := range slices.Concat(helpParts...) {
		all = append(all, [2]string{p.en, p.ja})
	}
	return all
}

var helpParts = [][]pair{helpRoot, helpWork, helpLook, helpStore, helpSetup, helpLibrary, usageErrors}

type helps struct {
	whole map[string]string
	forms []form
}

// form is a text with words that differ.
type form struct {
	en *regexp.Regexp
	ja string
}

// helpTable is made when the first Japanese text is asked for.
var helpTable = sync.OnceValue(func() (t helps) {
	t.whole = map[string]string{}
	for _, p := range slices.Concat(helpParts...) {
		t.whole[p.en] = p.ja
		if strings.Contains(p.en, "%s") {
			en := "^" + strings.ReplaceAll(regexp.QuoteMeta(p.en), "%s", "(.+?)") + "$"
			t.forms = append(t.forms, form{regexp.MustCompile(en), p.ja})
		}
	}
	return t
})
