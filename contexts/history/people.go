package history

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"agent/eventlog/event"
	"agent/internal/lazyregexp"
)

// people are the logins that a log names. They are left out of what is read of it.
type people struct{ logins map[string]bool }

func (p *people) apply(e event.Event) {
	switch b := e.Body.(type) {
	case *event.ContextCreated:
		p.add(b.User)
	case *event.TaskFetched:
		p.add(b.Author)
		p.add(b.Assignees...)
	case *event.CommentsFetched:
		for _, c := range b.Comments {
			p.add(c.Author)
		}
	}
}

func (p *people) add(logins ...string) {
	if p.logins == nil {
		p.logins = map[string]bool{}
	}
	for _, login := range logins {
		if login != "" {
			p.logins[strings.ToLower(login)] = true
		}
	}
}

var (
	mail    = lazyregexp.New(`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}`)
	mention = lazyregexp.New(`@[A-Za-z0-9][A-Za-z0-9._-]*`)
)

// someone stands where a person was named.
const someone = "user"

// leaveOut is for prose: it leaves out who is known and who is mentioned.
func (p *people) leaveOut(text string) string {
	return mention.ReplaceAllString(p.leaveOutKnown(text), "@"+someone)
}

// leaveOutKnown is for what tools were given and said, where @ has other uses.
func (p *people) leaveOutKnown(text string) string {
	text = mail.ReplaceAllString(text, someone)
	var b strings.Builder
	for len(text) > 0 {
		n := strings.IndexFunc(text, inName)
		if n < 0 {
			break
		}
		before, _ := utf8.DecodeLastRuneInString(text[:n])
		b.WriteString(text[:n])
		text = text[n:]
		word := text
		if end := strings.IndexFunc(text, func(r rune) bool { return !inName(r) }); end >= 0 {
			word = text[:end]
		}
		b.WriteString(p.replaced(word, before, text[len(word):]))
		text = text[len(word):]
	}
	b.WriteString(text)
	return b.String()
}

// replaced is a word, or "user" for a login. One or two letters are a login only
// after @, and nothing is within a path or a file name.
func (p *people) replaced(word string, before rune, after string) string {
	bare := strings.TrimRight(word, ".-")
	switch {
	case !p.logins[strings.ToLower(bare)], before == '/', before == '\\', strings.HasPrefix(after, "/"):
		return word
	case len(bare) < 3 && before != '@':
		return word
	}
	return someone + word[len(bare):]
}

// inName tells the characters of logins, with those that make a longer word of one.
func inName(r rune) bool {
	return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_' || r == '.')
}
