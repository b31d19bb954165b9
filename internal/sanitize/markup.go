package sanitize

import (
	"strings"

	"golang.org/x/net/html"
)

// markup follows HTML through a text. An element may begin in one piece of HTML
// and end in a later one; what lies between is inside of it.
type markup struct {
	inside string // the element, or the token, that is open and hides what is in it
	depth  int    // of elements of that name
}

// Tokens that a piece of HTML left unfinished: a browser reads on to their end.
const (
	openComment = "<!--"
	openTag     = "<"
)

// unrendered are the elements whose content no reader sees.
var unrendered = map[string]bool{
	"script": true, "style": true, "template": true, "title": true, "head": true, "iframe": true, "object": true,
	"noembed": true, "noframes": true, "noscript": true, "audio": true, "video": true, "canvas": true,
	"datalist": true, "dialog": true, "rp": true,
}

func (m *markup) hiding() bool { return m.inside != "" }

// html writes what is visible of a piece of HTML: text, and tags without attributes.
func (m *markup) html(raw string, out *strings.Builder, counts map[string]int) {
	raw = m.resume(raw)
	z := html.NewTokenizer(strings.NewReader(raw))
	read := 0
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		piece := string(z.Raw())
		read += len(piece)
		switch kind {
		case html.CommentToken, html.DoctypeToken:
			counts["html_comment"]++
			if unfinished(piece) {
				m.inside = openComment
				return
			}
		case html.TextToken:
			if !m.hiding() {
				out.WriteString(piece)
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, attributes := z.TagName()
			m.start(string(name), attributes, out, counts)
		case html.EndTagToken:
			name, _ := z.TagName()
			m.end(string(name), out)
		case html.ErrorToken: // ended the loop
		}
	}
	if strings.HasPrefix(raw[read:], "<") && !m.hiding() {
		m.inside = openTag
	}
}

// unfinished tells whether a comment lacks its end. Bogus comments, as <?…>, end with ">".
func unfinished(comment string) bool {
	return strings.HasPrefix(comment, "<!--") && !strings.HasSuffix(comment, ">")
}

// resume drops the rest of a token that an earlier piece left unfinished.
func (m *markup) resume(raw string) string {
	end := map[string]string{openComment: "-->", openTag: ">"}[m.inside]
	if end == "" {
		return raw
	}
	at := strings.Index(raw, end)
	if at < 0 {
		return ""
	}
	m.inside = ""
	return raw[at+len(end):]
}

func (m *markup) start(name string, attributes bool, out *strings.Builder, counts map[string]int) {
	switch {
	case m.inside == name:
		m.depth++
	case m.hiding():
	case unrendered[name]:
		counts["html_element"]++
		m.inside, m.depth = name, 1
	default:
		if attributes {
			counts["html_attribute"]++
		}
		if known[name] {
			out.WriteString("<" + name + ">")
		} else {
			counts["html_tag"]++
		}
	}
}

func (m *markup) end(name string, out *strings.Builder) {
	switch {
	case m.inside == name:
		if m.depth--; m.depth == 0 {
			m.inside = ""
		}
	case !m.hiding() && known[name]:
		out.WriteString("</" + name + ">")
	}
}

// known are the elements that a forge renders. A browser shows nothing of any
// other tag, and a sentence could be made of its name.
var known = func() map[string]bool {
	m := map[string]bool{}
	for _, name := range strings.Fields(`a abbr b blockquote br center cite code dd del details dfn div dl dt em figcaption figure
		h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p picture pre q rt ruby s samp section small source span strike strong
		sub summary sup table tbody td tfoot th thead tr tt u ul var`) {
		m[name] = true
	}
	return m
}()
