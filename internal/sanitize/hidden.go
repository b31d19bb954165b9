package sanitize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// hidden is the class of a character that a reader does not see, "" if he does.
// unicode.IsPrint does not do: it is true for fillers and variation selectors.
func hidden(r rune) string {
	switch {
	case r == '\n' || r == '\t' || r >= ' ' && r < 0x7f:
		return ""
	case r == 0xad:
		return "soft_hyphen"
	case r >= 0x200b && r <= 0x200d || r >= 0x2060 && r <= 0x2065 || r == 0xfeff || r == 0x180e:
		return "zero_width"
	case bidi(r):
		return "bidi"
	case r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef || r >= 0x180b && r <= 0x180f:
		return "variation_selector"
	case r >= 0xe0000 && r <= 0xe0fff:
		return "tag"
	case strings.ContainsRune("\u034f\u115f\u1160\u3164\uffa0\u2800\u17b4\u17b5", r):
		return "filler"
	case r == 0x2028 || r == 0x2029:
		return "line_separator"
	case unicode.Is(unicode.Cc, r):
		return "control"
	case unicode.Is(unicode.Co, r):
		return "private_use"
	case unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r), r >= 0xfff0 && r <= 0xfff8:
		return "format"
	case r&0xfffe == 0xfffe || r >= 0xfdd0 && r <= 0xfdef:
		return "noncharacter"
	}
	return ""
}

// bidi tells whether a character changes the direction of writing.
func bidi(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0x061c
}

const (
	nonJoiner = '\u200c' // keeps letters apart that would join
	joiner    = '\u200d' // joins emoji to one, and letters
	asEmoji   = '\ufe0f' // variation selector 16
	keycap    = '\u20e3'
	modifier  = '\U0001f3fb' // the first of five skin tones
)

// emoji tells roughly whether a character can be part of an emoji.
func emoji(r rune) bool {
	return r >= 0x1f000 && r <= 0x1faff || r >= 0x2190 && r <= 0x2bff && r != 0x2800 || r == 0x3030 || r == 0x303d || r == 0x3297 || r == 0x3299 || r == 0xa9 || r == 0xae || r == 0x203c || r == 0x2049 || r == 0x2122 || r == 0x2139
}

// joining are the scripts in which a joiner changes how letters look.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mandaic, unicode.Nko, unicode.Adlam, unicode.Hanifi_Rohingya, unicode.Mongolian, unicode.Phags_Pa,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada,
	unicode.Malayalam, unicode.Sinhala, unicode.Tirhuta, unicode.Newa, unicode.Chakma, unicode.Meetei_Mayek, unicode.Limbu,
	unicode.Myanmar, unicode.Khmer, unicode.Tibetan, unicode.Javanese, unicode.Balinese, unicode.Sundanese,
}

// joins tells whether a character is a letter of such a script, or a mark on one.
// Some marks belong to no script of their own.
func joins(r rune) bool {
	shared := r >= 0x064b && r <= 0x0655 || r == 0x0670 || r >= 0x0951 && r <= 0x0954
	return shared || (unicode.IsLetter(r) || unicode.IsMark(r)) && unicode.IsOneOf(joining, r)
}

// ZeroWidth drops the characters without a width that no letter and no emoji needs,
// and nothing else: a byte order mark, a zero width space.
func ZeroWidth(s string) string {
	f := filter{counts: map[string]int{}}
	for i, r := range s {
		if hidden(r) != "zero_width" || f.needed(r, s[i+utf8.RuneLen(r):]) {
			f.out.WriteRune(r)
			f.last = r
		}
	}
	return f.out.String()
}

// filter drops hidden characters while text is written to it.
type filter struct {
	out    strings.Builder
	last   rune // the last one written
	counts map[string]int
}

func (f *filter) write(s string) {
	for i, r := range s {
		class := hidden(r)
		if class == "" || f.needed(r, s[i+utf8.RuneLen(r):]) {
			f.out.WriteRune(r)
			f.last = r
			continue
		}
		f.counts[class]++
		if class == "line_separator" { // it keeps words apart
			f.out.WriteByte(' ')
			f.last = ' '
		}
	}
}

// needed tells whether a joiner or selector is needed by the letters or the emoji around it.
func (f *filter) needed(r rune, rest string) bool {
	next, _ := utf8.DecodeRuneInString(rest)
	switch r {
	case nonJoiner:
		return joins(f.last) && joins(next)
	case joiner:
		return joins(f.last) && joins(next) || (emoji(f.last) || f.last == asEmoji) && emoji(next)
	case asEmoji:
		return emoji(f.last) || next == keycap && strings.ContainsRune("0123456789#*", f.last) && f.last != 0
	}
	return false
}
