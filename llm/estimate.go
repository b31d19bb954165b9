package llm

import (
	"sync"
	"unicode"
)

// PerToken is the weight of a token.
const PerToken = 100

// Weights of the estimate in hundredths of a token. They are fitted to
// tokenisers of the o200k kind on English prose, Go source, JSON and Japanese.
const (
	perToken    = PerToken
	word        = 100 // a word of at most wordLetters letters
	wordLetters = 8
	extraLetter = 25  // each further ASCII letter of a long word
	digits      = 100 // up to three digits
	symbols     = 15  // each further one of a run of punctuation: runs share tokens
	symbolWord  = 75  // a single one that may share the token of the word after it
	space       = 70  // white space other than a single blank before a word
	kana        = 65
	kanji       = 95
	otherLetter = 40
	other       = 150 // emoji and the like
	message     = 4 * perToken
	tool        = 8 * perToken
)

// class groups the characters that tokenisers treat alike.
type class int

const (
	classSpace class = iota
	classLetter
	classDigit
	classSymbol
	classKana
	classKanji
	classOtherLetter
	classOther
)

// Estimate is about how many tokens a model will count for text. It needs no
// vocabulary, is linear, and is meant to be within some 20 % for English, source
// code and Japanese, rather above than below. A text that is not empty counts at least one token.
func Estimate(text string) int {
	return tokens(weight(text))
}

// EstimateRequest is Estimate for all that a request sends: messages, calls and
// the schemas of the tools.
func EstimateRequest(r Request) int {
	return tokens(messagesWeight(r).Estimate + toolsWeight(r).Estimate)
}

// Weight is what texts come to, in hundredths of a token: by the estimate, and
// by the least that any tokeniser makes of them.
type Weight struct{ Estimate, Floor int }

// Plus is the weight of both.
func (w Weight) Plus(other Weight) Weight {
	return Weight{w.Estimate + other.Estimate, w.Floor + other.Floor}
}

func weigh(text string) Weight { return Weight{weight(text), leastWeight(text)} }

// WeighMessage is the weight of a turn with its calls.
func WeighMessage(content string, calls []ToolCall) Weight {
	w := weigh(content).Plus(Weight{Estimate: message})
	for _, c := range calls {
		w = w.Plus(weigh(c.Name)).Plus(weigh(c.Arguments)).Plus(Weight{Estimate: message})
	}
	return w
}

// WeighTool is the weight of a tool as it is offered.
func WeighTool(name, description, schema string) Weight {
	return weigh(name).Plus(weigh(description)).Plus(weigh(schema)).Plus(Weight{Estimate: tool})
}

func messagesWeight(r Request) (sum Weight) {
	if len(r.Weights) == len(r.Messages) {
		for _, w := range r.Weights {
			sum = sum.Plus(w)
		}
		return sum
	}
	for _, m := range r.Messages {
		sum = sum.Plus(WeighMessage(m.Content, m.Calls))
	}
	return sum
}

func toolsWeight(r Request) (sum Weight) {
	if r.ToolWeight != (Weight{}) {
		return r.ToolWeight
	}
	for _, t := range r.Tools {
		sum = sum.Plus(WeighTool(t.Name, t.Description, string(t.Schema)))
	}
	return sum
}

func tokens(weight int) int { return (weight + perToken - 1) / perToken }

// weight sums the text in hundredths of a token, one run of equal class at a time.
func weight(text string) int { return weights().sum(text) }

var weights = sync.OnceValue(func() *weigher { return newWeigher(runWeight, true, classOther) })

func runWeight(c class, n int, next class) int {
	switch c {
	case classSpace:
		if n == 1 && (next == classLetter || next == classOtherLetter || next == classSymbol) {
			return 0 // the blank belongs to the word after it
		}
		return space
	case classLetter:
		return word + max(0, n-wordLetters)*extraLetter
	case classDigit:
		return (n + 2) / 3 * digits
	case classSymbol:
		if n == 1 && next == classLetter {
			return symbolWord
		}
		return word + (n-1)*symbols
	case classKana:
		return n * kana
	case classKanji:
		return n * kanji
	case classOtherLetter:
		return n * otherLetter
	default:
		return n * other
	}
}

func classOf(r rune) class {
	switch {
	case r < 0x80:
		return classOfASCII(r)
	case r >= 0x3041 && r <= 0x30FF || r >= 0xFF66 && r <= 0xFF9F:
		return classKana
	case unicode.Is(unicode.Han, r), unicode.Is(unicode.Hangul, r):
		return classKanji
	case r >= 0x3000 && r <= 0x303F, r >= 0xFF00 && r <= 0xFF65:
		return classKana // punctuation and full-width forms: about a token each
	case unicode.IsLetter(r), unicode.IsMark(r):
		return classOtherLetter
	case unicode.IsSpace(r):
		return classSpace
	}
	return classOther
}

func classOfASCII(r rune) class {
	switch {
	case r == ' ' || r >= '\t' && r <= '\r':
		return classSpace
	case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
		return classLetter
	case r >= '0' && r <= '9':
		return classDigit
	}
	return classSymbol
}
