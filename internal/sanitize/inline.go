package sanitize

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// inlineWriter writes the content of a paragraph again, from what is visible of it.
type inlineWriter struct {
	*page
	out    strings.Builder
	prefix string // of each line but the first
}

func (w *inlineWriter) children(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.inline(c)
	}
}

// inline writes one node. What an element hides is parsed for its end alone.
func (w *inlineWriter) inline(n ast.Node) {
	if raw, is := n.(*ast.RawHTML); is {
		var out strings.Builder
		w.html(string(raw.Segments.Value(w.src)), &out, w.counts)
		w.out.WriteString(strings.ReplaceAll(out.String(), "\n", " "))
		return
	}
	if w.hiding() {
		w.children(n)
		return
	}
	switch n := n.(type) {
	case *ast.Text:
		w.text(n)
	case *ast.String:
		w.out.Write(n.Value)
	case *ast.CodeSpan:
		w.codeSpan(n)
	case *ast.AutoLink:
		w.autoLink(n)
	case *ast.Link:
		w.link(n)
	case *ast.Image:
		w.counts["alt_text"]++
		w.out.WriteString("![image](" + w.destination(n.Destination) + ")")
	case *east.FootnoteLink:
		w.noteLink(n)
	case *east.FootnoteBacklink:
	default:
		w.children(n)
	}
}

func (w *inlineWriter) text(n *ast.Text) {
	w.out.Write(n.Segment.Value(w.src))
	switch {
	case n.HardLineBreak():
		w.out.WriteString("  \n" + w.prefix)
	case n.SoftLineBreak():
		w.out.WriteString("\n" + w.prefix)
	}
}

func (w *inlineWriter) codeSpan(n ast.Node) {
	var code strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, is := c.(*ast.Text); is {
			code.Write(t.Segment.Value(w.src))
		}
	}
	content := strings.ReplaceAll(code.String(), "\n", " ")
	mark := "`"
	for strings.Contains(content, mark) {
		mark += "`"
	}
	if strings.HasPrefix(content, "`") || strings.HasSuffix(content, "`") {
		content = " " + content + " "
	}
	w.out.WriteString(mark + content + mark)
}

func (w *inlineWriter) autoLink(n *ast.AutoLink) {
	label := string(n.Label(w.src))
	if n.Pos() >= 0 && n.Pos() < len(w.src) && w.src[n.Pos()] == '<' {
		label = "<" + label + ">"
	}
	w.out.WriteString(label)
}

func (w *inlineWriter) link(n *ast.Link) {
	if n.Title != nil {
		w.counts["link_title"]++
	}
	if blankLabel(n, w.src) {
		w.counts["empty_link"]++
		return
	}
	w.out.WriteString("[")
	w.children(n)
	w.out.WriteString("](" + w.destination(n.Destination) + ")")
}

func (w *inlineWriter) noteLink(n *east.FootnoteLink) {
	if _, known := w.noted[n.Index]; !known {
		w.noted[n.Index] = true
	}
	w.out.WriteString(noteMark(n.Index))
}

func noteMark(index int) string { return fmt.Sprintf("[^%d]", index) }

// plainAddress tells whether an address holds no space, not even an escaped
// one, which could make it a sentence.
func plainAddress(raw []byte) bool {
	plain, err := url.PathUnescape(string(raw))
	return err == nil && !strings.ContainsAny(plain, " \t\n+<>")
}

// destination is an address as it may stand in parentheses, or "" for a sentence.
func (w *inlineWriter) destination(raw []byte) string {
	if !plainAddress(raw) {
		w.counts["address"]++
		return ""
	}
	return strings.NewReplacer("(", "%28", ")", "%29").Replace(string(raw))
}
