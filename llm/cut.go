package llm

import "sync"

// The least that a tokeniser can make of text, in hundredths of a token.
// Tokenisers cut text into words before anything else and merge within those
// only, so a word is a token at least, however large the vocabulary is.
const (
	leastWord        = 100 // a word, a run of punctuation or of other characters
	leastDigits      = 100 // of three digits; most tokenisers take fewer together
	leastKana        = 30
	leastKanji       = 40
	leastOtherLetter = 20
)

// The margins of [PromptCut].
const (
	minJudged    = 1000 // least tokens: below, overheads and templates weigh too much
	schemaShare  = 4    // one in so many tokens of the tools counts: servers condense schemas
	leastPercent = 75   // of the least count
	knownPercent = 80   // of the estimate, if the count is just that of a window
	minWindow    = 2048 // the smallest window that servers set up by themselves
	minCount     = 512  // least count that can be one: below, the server does not count
	minLater     = 1500 // the same after the first turn, where some servers count only what is not cached
)

// PromptCut says whether the server has cut the prompt of r before the model
// read it: it counted far fewer tokens than the messages can have. Some servers
// do that without a word, and the model then answers what it was not asked.
//
// Two findings count. One is a count below 75 % of the least that any tokeniser
// makes of the messages: one token a word, a third of a token a kana, nothing
// for blanks. [EstimateRequest] is not used there, since it may be twice too
// high for tables and for tokenisers with large vocabularies. The other is a
// count that is exactly a power of two or the window asked for, and below 80 %
// of the estimate: the mark of a server that filled its window and left out the
// rest. Both take a quarter of the tools only, since servers rewrite schemas,
// and look at no prompt under 1000 tokens.
//
// A wrong accusation is worse than a missed one. So cached tokens are added to
// the count, which most servers include and some do not; and a count that is
// smaller than any window says nothing: it comes from a server that does not
// count, or only what was not cached.
func PromptCut(r Request, u Usage) bool {
	if !u.Known || u.Prompt <= 0 {
		return false
	}
	counted := u.Prompt + u.Cached
	messages, tools := messagesWeight(r), toolsWeight(r)
	floor := (messages.Floor + tools.Floor/schemaShare) / perToken
	if floor < minJudged || counted < leastCount(r) {
		return false
	}
	if counted*100 < floor*leastPercent {
		return true
	}
	estimate := tokens(messages.Estimate + tools.Estimate/schemaShare)
	return isWindow(u.Prompt, r.ContextLength) && counted*100 < estimate*knownPercent
}

func leastCount(r Request) int {
	for _, m := range r.Messages {
		if m.Role == Assistant {
			return minLater
		}
	}
	return minCount
}

func isWindow(n, asked int) bool {
	return n >= minWindow && (n == asked || n&(n-1) == 0)
}

func leastWeight(text string) int { return leastWeights().sum(text) }

var leastWeights = sync.OnceValue(func() *weigher { return newWeigher(leastRun, false, classSpace) })

func leastRun(c class, n int, next class) int {
	switch c {
	case classSpace:
		return 0
	case classSymbol:
		if n == 1 && next == classLetter {
			return 0 // may be one token with the word
		}
		return leastWord
	case classDigit:
		return (n + 2) / 3 * leastDigits
	case classKana:
		return n * leastKana
	case classKanji:
		return n * leastKanji
	case classOtherLetter:
		return n * leastOtherLetter
	default:
		return leastWord
	}
}
