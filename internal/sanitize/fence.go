package sanitize

import (
	"strings"

	"agent/internal/lazyregexp"
)

// fence is an open fenced code block. The zero value is none.
type fence struct {
	prefix string // what stands before the fence: spaces and quote marks; list marks as spaces
	mark   string // the backticks or tildes
}

var (
	fenceLine = lazyregexp.New("^((?: {0,3}>)* *(?:(?:[-*+]|[0-9]{1,9}[.)]) +)*)(`{3,}|~{3,})(.*)$")
	listMark  = lazyregexp.New(`[-*+]|[0-9]{1,9}[.)]`)
)

func (f fence) open() bool { return f.mark != "" }

// openFence is the fence that a line opens, at whatever depth.
func openFence(text string) fence {
	m := fenceLine.FindStringSubmatch(text)
	if m == nil || m[2][0] == '`' && strings.Contains(m[3], "`") {
		return fence{}
	}
	prefix := listMark.ReplaceAllStringFunc(m[1], func(s string) string { return strings.Repeat(" ", len(s)) })
	return fence{prefix, m[2]}
}

// opens is openFence for texts of others: only where it is certain to be a fence.
// Deeper ones may be part of a paragraph, where comments are hidden.
func opens(text string) fence {
	f := openFence(text)
	if inner := f.prefix[strings.LastIndexByte(f.prefix, '>')+1:]; len(inner) > 4 || len(inner) > 3 && len(inner) == len(f.prefix) {
		return fence{}
	}
	return f
}

// ends tells whether a line closes the block.
func (f fence) ends(text string) bool {
	rest, ok := strings.CutPrefix(text, f.prefix)
	rest = strings.TrimLeft(rest, " ")
	n := leading(rest, f.mark[0])
	return ok && n >= len(f.mark) && strings.TrimRight(rest[n:], " \t") == ""
}

// holds tells whether a line is surely inside the block: what stands outside of
// its list item or quote ends it.
func (f fence) holds(text string) bool {
	bare := strings.TrimRight(f.prefix, " ")
	switch {
	case strings.HasPrefix(text, f.prefix):
		return true
	case bare == "":
		return strings.TrimSpace(text) == ""
	}
	return strings.HasPrefix(text, bare) && strings.HasSuffix(bare, ">")
}

// vague tells whether a line that the block does not hold may be inside all the
// same: indented fences end with their list item, if they are in one.
func (f fence) vague() bool {
	return strings.HasSuffix(f.prefix, "  ") || strings.Trim(f.prefix, " ") == ""
}
