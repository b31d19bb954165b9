package loosejson

import (
	"strings"

	"agent/internal/lazyregexp"
)

// thinkingTag matches the tags that models put around their reasoning.
var thinkingTag = lazyregexp.New(`<(/?)(think|thinking|thought|reasoning|seed:think|reflection)>`)

// StripThinking removes blocks of reasoning, also one whose opening or closing
// tag is missing: templates swallow the first, and a model may never stop. A tag
// that prose only mentions takes nothing with it: one in code, or with a blank on
// both sides.
func StripThinking(text string) string {
	for {
		begin, end, tag := -1, -1, ""
		for _, m := range thinkingTag.FindAllStringSubmatchIndex(text, -1) {
			name, closing := text[m[4]:m[5]], m[3] > m[2]
			switch {
			case mentioned(text, m[0], m[1]):
			case !closing && begin < 0:
				begin, tag = m[0], name
			case closing && (begin < 0 || name == tag):
				end = m[1]
			}
			if end >= 0 {
				break
			}
		}
		switch {
		case end >= 0 && begin >= 0:
			text = text[:begin] + text[end:]
		case end >= 0:
			text = text[end:]
		case begin >= 0 && strings.TrimSpace(text[:begin]) == "":
			return "" // it never stopped thinking
		default:
			return text
		}
	}
}

// mentioned tells whether the tag at text[from:to] is part of a sentence.
func mentioned(text string, from, to int) bool {
	line := text[strings.LastIndexByte(text[:from], '\n')+1 : from]
	if strings.Count(line, "`")%2 == 1 {
		return true
	}
	before := strings.HasSuffix(text[:from], " ") && strings.TrimSpace(line) != ""
	after := to < len(text) && strings.ContainsRune(" ,.;:!?)", rune(text[to]))
	return before && after
}
