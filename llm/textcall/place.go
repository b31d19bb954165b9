package textcall

import (
	"slices"
	"strings"
)

// starts are the places where a call may begin, in order: the beginning of the
// text, and marks outside of quotes and code.
func starts(text string) (all []int) {
	for _, f := range formats {
		if len(f.begin) == 1 { // a bare object or list counts only if it is all of the text
			if strings.HasPrefix(text, f.begin) {
				all = append(all, 0)
			}
			continue
		}
		for from := 0; ; {
			i := strings.Index(text[from:], f.begin)
			if i < 0 {
				break
			}
			if at := from + i; !inCode(text, at) {
				all = append(all, at)
			}
			from += i + len(f.begin)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// inCode tells whether a place is inside of a code block, inline code or a block quote.
func inCode(text string, at int) bool {
	line := text[strings.LastIndexByte(text[:at], '\n')+1 : at]
	if strings.HasPrefix(strings.TrimLeft(line, " \t"), ">") || strings.Count(line, "`")%2 == 1 {
		return true
	}
	return fences(text[:at])%2 == 1
}

// fences counts the lines that open or close a code block.
func fences(text string) (n int) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimLeft(line, " \t"), "```") && strings.HasSuffix(line, "\n") {
			n++
		}
	}
	return n
}
