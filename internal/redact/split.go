package redact

import (
	"bytes"
	"strings"
)

// minSplit is how many letters and digits a value has at least that is also
// found with something between its characters: shorter ones occur by chance.
const minSplit = 12

// addSplit notes a spelling of a configured value to be found in any disguise.
func (r *Redactor) addSplit(form string) {
	bare := letters(form)
	if len(bare) < minSplit {
		return
	}
	if r.bare == nil {
		r.bare = &Redactor{}
	}
	c := r.bare.at(bare)
	c.needles = append(c.needles, bare)
}

// split replaces configured values that are spelled with something between their
// characters: spaces, dashes, ends of lines, marks, what cannot be seen, and
// escapes of these.
func (r *Redactor) split(s string) (string, bool) {
	if r.bare == nil || len(s) < minSplit {
		return s, false
	}
	out, plain := r.splitBy(s, s)
	if strings.IndexByte(out, '\\') < 0 {
		return out, plain
	}
	out, escaped := r.splitBy(out, withoutEscapes(out))
	return out, plain || escaped
}

// splitBy looks at view, which is s with other characters for some letters that do not count.
func (r *Redactor) splitBy(s, view string) (string, bool) {
	bare := letters(view)
	if len(bare) == len(s) {
		return s, false // nothing is between anything
	}
	spans := r.bare.spans(bare)
	if len(spans) == 0 {
		return s, false
	}
	return replaced(s, view, spans), true
}

// withoutEscapes blanks escapes, which end in letters and digits.
func withoutEscapes(s string) string {
	b := []byte(s)
	for i := 0; ; {
		at := bytes.IndexByte(b[i:], '\\')
		if at < 0 {
			return string(b)
		}
		i += at + 1
		for end := i + escaped(b[i:]); i < end; i++ {
			b[i] = ' '
		}
	}
}

// escaped is how many letters and digits belong to the escape whose backslash is before b.
func escaped(b []byte) int {
	switch {
	case len(b) > 0 && strings.IndexByte("nrtbfv", b[0]) >= 0:
		return 1
	case len(b) > 4 && b[0] == 'u' && hexByte(b[1]) && hexByte(b[2]) && hexByte(b[3]) && hexByte(b[4]):
		return 5
	}
	return 0
}

// spans tells where configured values are in s.
func (r *Redactor) spans(s string) (found [][2]int) {
	for i := 0; i+1 < len(s); i++ {
		key := uint16(s[i])<<8 | uint16(s[i+1])
		if r.pairs[key>>6]&(1<<(key&63)) == 0 {
			continue
		}
		if start, end, kind := find(s, i, 0, &r.found[r.slot[key]]); kind != "" {
			found = append(found, [2]int{start, end})
			i = end - 1
		}
	}
	return found
}

// replaced puts a marker for each span; spans count letters and digits alone.
func replaced(s, view string, spans [][2]int) string {
	var out strings.Builder
	n := 0 // letters and digits before view[i]
	for i := range len(s) {
		inside := len(spans) > 0 && n > spans[0][0]
		if !letter(view[i]) {
			if !inside {
				out.WriteByte(s[i])
			}
			continue
		}
		switch {
		case len(spans) == 0 || n < spans[0][0]:
			out.WriteByte(s[i])
		case n == spans[0][0]:
			out.WriteString(markerStart + kindSecret + "]")
		}
		n++
		if len(spans) > 0 && n == spans[0][1] {
			spans = spans[1:]
		}
	}
	return out.String()
}

// letters leaves the letters and digits of ASCII. Without a branch for each byte
// it is several times as fast.
func letters(s string) string {
	kept := make([]byte, len(s))
	n := 0
	for i := range len(s) {
		kept[n] = s[i]
		n += isLetter[s[i]]
	}
	return string(kept[:n])
}

func letter(c byte) bool { return isLetter[c] == 1 }

var isLetter = func() (table [256]int) {
	for c := range table {
		if c != '_' && wordByte(byte(c)) {
			table[c] = 1
		}
	}
	return table
}()
