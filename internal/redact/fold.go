package redact

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// separator stands in a folded text for a marker. No folded character is a NUL,
// so nothing matches across it.
const separator = 0

// fold returns s in the form in which fragments are compared: compatibility forms
// are taken apart (NFKC, so that full-width letters equal plain ones), case is
// dropped, and so are blanks, line ends, control characters, combining marks and
// characters that cannot be seen.
func fold(s string) []byte {
	view := make([]byte, 0, len(s)+utf8.UTFMax)
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf && c != '[' {
			view = append(view, foldedByte[c])
			if foldedByte[c] == 0 {
				view = view[:len(view)-1]
			}
			i++
			continue
		}
		var n int
		view, n = foldOne(view, s[i:])
		i += n
	}
	return view
}

// foldOffsets tells for each byte of fold(s) where its character begins in s.
func foldOffsets(s string) []int32 {
	var view []byte
	var offsets []int32
	for i := 0; i < len(s); {
		var n int
		view, n = foldOne(view[:0], s[i:])
		for range view {
			offsets = append(offsets, int32(i))
		}
		i += n
	}
	return offsets
}

// foldOne appends the first character, or the marker, of s and tells its length in s.
func foldOne(view []byte, s string) ([]byte, int) {
	c := s[0]
	if c >= utf8.RuneSelf {
		return foldRune(view, s)
	}
	if c == '[' {
		if n := marker(s); n > 0 {
			return append(view, separator), n
		}
	}
	if folded := foldedByte[c]; folded != 0 {
		view = append(view, folded)
	}
	return view, 1
}

// foldedByte is what an ASCII byte is compared as; 0: it is dropped.
var foldedByte = func() (table [utf8.RuneSelf]byte) {
	for c := byte('!'); c <= '~'; c++ {
		table[c] = byte(unicode.ToLower(rune(c)))
	}
	return table
}()

func foldRune(view []byte, s string) ([]byte, int) {
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError, r >= 0x3041 && r <= 0x30ff, r >= 0x3400 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7a3:
		return append(view, s[:n]...), n // kana, ideographs and Hangul: nothing to fold, and long texts are full of them
	}
	parts := norm.NFKD.PropertiesString(s).Decomposition()
	if parts == nil {
		return foldPart(view, r), n
	}
	for _, part := range string(parts) {
		view = foldPart(view, part)
	}
	return view, n
}

func foldPart(view []byte, r rune) []byte {
	if r < utf8.RuneSelf {
		if folded := foldedByte[r]; folded != 0 {
			view = append(view, folded)
		}
		return view
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.White_Space, unicode.Cc) {
		return view
	}
	return utf8.AppendRune(view, unicode.ToLower(r))
}
