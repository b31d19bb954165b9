package workspace

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// pattern is what is searched for.
type pattern struct {
	re       *regexp.Regexp
	literals [][]byte // each line that matches has one of these; nil: unknown
	plain    bool     // a line that has the literal matches
	fold     bool
	word     string // what the pattern is about, for the order of files
	context  int
}

// compilePattern reads a pattern. One that is no regular expression is taken as
// plain text, which the note says: most of them are calls like "f(".
func compilePattern(a searchArgs) (*pattern, string, error) {
	source, note := *a.Pattern, ""
	if a.Literal {
		source = regexp.QuoteMeta(source)
	}
	_, err := regexp.Compile(source)
	if err != nil {
		why := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		if strings.Contains(source, "(?") || strings.Contains(source, "{") {
			return nil, "", fmt.Errorf("pattern: %s; it is RE2 syntax, without look-around and back-references", why)
		}
		source = regexp.QuoteMeta(source)
		note = fmt.Sprintf("[searched as plain text: as a regular expression the pattern has an error, %s]", why)
	}
	if a.Word {
		source = `\b(?:` + source + `)\b`
	}
	if a.Fold {
		source = "(?i)" + source
	}
	re, err := regexp.Compile(source)
	if err != nil {
		return nil, "", fmt.Errorf("pattern: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	p := &pattern{re: re, context: min(max(a.Context, 0), maxContext)}
	if tree, err := syntax.Parse(source, syntax.Perl); err == nil {
		tree = tree.Simplify()
		p.literals, p.fold = needed(tree)
		p.plain = tree.Op == syntax.OpLiteral && !p.fold
	}
	for i, literal := range p.literals {
		if p.fold {
			p.literals[i] = lowered(literal, new([]byte))
		}
		if len(literal) > len(p.word) {
			p.word = string(literal)
		}
		p.plain = p.plain && !bytes.ContainsAny(literal, "\r\n")
	}
	return p, note, nil
}

// mostLiterals bounds the alternatives that are looked for one by one.
const mostLiterals = 8

// needed are literals of which each match has one. With fold they are in lower case.
func needed(tree *syntax.Regexp) (literals [][]byte, fold bool) {
	switch tree.Op {
	case syntax.OpLiteral:
		fold = tree.Flags&syntax.FoldCase != 0
		text := string(tree.Rune)
		if fold {
			text = strings.ToLower(text)
			if strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 || r == 's' || r == 'k' }) {
				return foldable(text)
			}
		}
		return [][]byte{[]byte(text)}, fold
	case syntax.OpCapture, syntax.OpPlus:
		return needed(tree.Sub[0])
	case syntax.OpRepeat:
		if tree.Min > 0 {
			return needed(tree.Sub[0])
		}
	case syntax.OpConcat:
		return longest(tree.Sub)
	case syntax.OpAlternate:
		for _, sub := range tree.Sub {
			one, f := needed(sub)
			if one == nil || len(literals)+len(one) > mostLiterals {
				return nil, false
			}
			literals, fold = append(literals, one...), fold || f
		}
		return literals, fold
	case syntax.OpNoMatch, syntax.OpEmptyMatch, syntax.OpCharClass, syntax.OpAnyCharNotNL, syntax.OpAnyChar, syntax.OpBeginLine, syntax.OpEndLine,
		syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary, syntax.OpStar, syntax.OpQuest:
	}
	return nil, false
}

// foldable is the longest piece of a text whose letters have two forms only: k and
// s have three, with the Kelvin sign and the long s, and other scripts have their own.
func foldable(text string) ([][]byte, bool) {
	best := ""
	for _, piece := range strings.FieldsFunc(text, func(r rune) bool { return r >= 0x80 || r == 's' || r == 'k' }) {
		if len(piece) > len(best) {
			best = piece
		}
	}
	if best == "" {
		return nil, false
	}
	return [][]byte{[]byte(best)}, true
}

// longest chooses the part of a sequence whose shortest literal is longest.
func longest(parts []*syntax.Regexp) (best [][]byte, fold bool) {
	score := 0
	for _, part := range parts {
		one, f := needed(part)
		shortest := 1 << 20
		for _, literal := range one {
			shortest = min(shortest, len(literal))
		}
		if one != nil && shortest > score {
			best, fold, score = one, f, shortest
		}
	}
	return best, fold
}

// index is where the first literal is.
func (p *pattern) index(text []byte) int {
	first := -1
	for _, literal := range p.literals {
		if first >= 0 {
			text = text[:min(len(text), first+len(literal))]
		}
		if i := bytes.Index(text, literal); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	return first
}

// lowered is a text with its ASCII letters in lower case, in memory that is used again.
func lowered(text []byte, memory *[]byte) []byte {
	if cap(*memory) < len(text) {
		*memory = make([]byte, len(text), 2*len(text))
	}
	low := (*memory)[:len(text)]
	for i, c := range text {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		low[i] = c
	}
	return low
}
