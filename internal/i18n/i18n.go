// Package i18n holds every text that people read, in English and Japanese. Help is a table of its
// own: its English text stands at the commands.
package i18n

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
)

// Lang is a language of the table: "en" or "ja".
type Lang string

// The languages.
const (
	En Lang = "en"
	Ja Lang = "ja"
)

// Detect guesses the language of a text: Japanese if it holds kana, English otherwise.
func Detect(text string) Lang {
	for _, r := range text {
		if unicode.In(r, unicode.Hiragana, unicode.Katakana) {
			return Ja
		}
	}
	return En
}

// FromEnv is the language of the user's locale: Japanese if the first of LC_ALL,
// LC_MESSAGES and LANG that is set begins with ja, English otherwise.
func FromEnv(getenv func(string) string) Lang {
	if strings.HasPrefix(cmp.Or(getenv("LC_ALL"), getenv("LC_MESSAGES"), getenv("LANG")), "ja") {
		return Ja
	}
	return En
}

// Text gives the text of id in a language, formatted with args as fmt.Sprintf does.
func Text(l Lang, id ID, args ...any) string {
	pair := table()[id]
	format := pair.en
	if l == Ja {
		format = pair.ja
	}
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}

// Has tells whether the table holds an id.
func Has(id ID) bool { _, ok := table()[id]; return ok }

// OrOther is the id of a word of a vocabulary, or prefix + "other" for a word that
// has no text: it may be newer than the table.
func OrOther(prefix ID, word string) ID {
	if id := prefix + ID(word); Has(id) {
		return id
	}
	return prefix + "other"
}
