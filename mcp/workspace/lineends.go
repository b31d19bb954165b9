package workspace

import (
	"bytes"
	"strings"
)

const crlf = "\r\n"

// replaceLines puts new into the place of old, if that is in text once, and gives
// the line of every place where it is. A \n of old also matches \r\n, and what is
// new gets the line ends of the place: models write \n whatever a file has. An edit
// of nothing but line ends is done to the letter.
func replaceLines(text []byte, old, new string) (edited []byte, lines []int) {
	plainOld, plainNew := strings.ReplaceAll(old, crlf, "\n"), strings.ReplaceAll(new, crlf, "\n")
	if plainOld == plainNew || !bytes.Contains(text, []byte(crlf)) {
		return bytes.Replace(text, []byte(old), []byte(new), 1), matches(text, []byte(old))
	}
	plain := bytes.ReplaceAll(text, []byte(crlf), []byte("\n"))
	lines = matches(plain, []byte(plainOld))
	if len(lines) != 1 {
		return nil, lines
	}
	from := bytes.Index(plain, []byte(plainOld))
	start, end := original(text, from), original(text, from+len(plainOld))
	if lineEnd(text, start) == crlf {
		plainNew = strings.ReplaceAll(plainNew, "\n", crlf)
	}
	return append(append(bytes.Clone(text[:start]), plainNew...), text[end:]...), lines
}

// original is where a place in the text with plain line ends is in text.
func original(text []byte, plain int) int {
	at := 0
	for ; plain > 0; plain-- {
		if bytes.HasPrefix(text[at:], []byte(crlf)) {
			at++
		}
		at++
	}
	return at
}

// lineEnd is what ends the line of a place, or the line before it in the last one.
func lineEnd(text []byte, at int) string {
	end := bytes.IndexByte(text[at:], '\n') + at
	if end < at {
		end = bytes.LastIndexByte(text[:at], '\n')
	}
	if end > 0 && text[end-1] == '\r' {
		return crlf
	}
	return "\n"
}
