package repomap

import (
	"strings"
	"unicode"

	"agent/internal/lazyregexp"
)

var (
	pathWord   = lazyregexp.New(`[\pL\pN_.~+@$/-]+`)
	codeSpan   = lazyregexp.New("`([^`\n]{1,200})`")
	urlWord    = lazyregexp.New(`https?://[^\s<>()"'` + "`" + `\]]+`)
	urlPath    = lazyregexp.New(`/(?:blob|tree|raw|blame|src)/[^/]+/([^?#]+)`)
	identifier = lazyregexp.New(`[\pL_][\pL\pN_]+`)
)

// mention is a word of the task that may be a path.
type mention struct {
	text string
	code bool // it stands between backticks
}

// mentions are the words of a text that may be paths, in order, each once.
func mentions(text string) (all []mention) {
	seen := map[string]bool{}
	add := func(word string, code bool) {
		word = strings.TrimRight(strings.TrimLeft(word, "/~"), ".:,;-")
		for _, prefix := range []string{"./", "../", "a/", "b/"} {
			word = strings.TrimPrefix(word, prefix)
		}
		if word != "" && !seen[word] {
			seen[word] = true
			all = append(all, mention{word, code})
		}
	}
	text = urlWord.ReplaceAllStringFunc(text, func(u string) string {
		if m := urlPath.FindStringSubmatch(u); m != nil {
			return " " + m[1] + " "
		}
		return " " // of another place
	})
	text = strings.NewReplacer(`\`, "/", "::", ".").Replace(text)
	for _, span := range codeSpan.FindAllStringSubmatch(text, -1) {
		span[1] = strings.TrimSpace(span[1])
		add(span[1], true)
		for _, word := range pathWord.FindAllString(span[1], -1) {
			add(word, true)
		}
	}
	for _, word := range pathWord.FindAllString(text, -1) {
		add(word, false)
	}
	return all
}

// wordsOf splits a name into its words, in lower case and without a plural: MaxSize,
// max_size and max-sizes have the same ones.
func wordsOf(name string) (words []string) {
	var word []rune
	end := func() {
		if len(word) > 2 {
			words = append(words, singular(strings.ToLower(string(word))))
		}
		word = word[:0]
	}
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
			continue
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			end()
		}
		word = append(word, r)
	}
	end()
	return words
}

func singular(word string) string {
	if len(word) > 4 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") {
		return word[:len(word)-1]
	}
	return word
}

// joined is a name without what separates its words.
func joined(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' {
			return -1
		}
		return r
	}, name))
}

// looksLikeCode tells names in code from words of a language.
func looksLikeCode(word string) bool {
	for i, r := range word {
		if r == '_' || i > 0 && unicode.IsUpper(r) && strings.ToUpper(word) != word {
			return true
		}
	}
	return false
}

// stop are words that many tasks have and that mean no file.
var stop = map[string]bool{}

func init() {
	for _, word := range strings.Fields(`the and for with that this from when then not but are was were will would should could can does did has have had
		into onto than there here where which what who why how all any each some more most other only same such very just also after before again
		use used using user add added adding fix fixed fixe change changed make made need needed want wanted get set new old one two first last
		bug issue error fail failed failing failure problem wrong broken work working expected actual behaviour behavior result return value
		file line code function method class test case example please help support version currently instead like see run running call called
		step reproduce title description feature request task should must may might because without about these those they them your our its`) {
		stop[singular(word)] = true
	}
}
