package tui

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"agent/internal/sanitize"
	"agent/internal/term"
)

// mostMarkdown bounds what is read as Markdown: a parser needs more than linear time for
// what somebody made to harm.
const mostMarkdown = 256 << 10

// markdown shows a text as it is meant: headings, lists, quotes, code. Links keep their
// addresses, HTML is shown as text.
func (p *page) markdown(s string) {
	s = sanitize.Terminal(s)
	if len(s) > mostMarkdown {
		p.add("", s)
		return
	}
	source := []byte(s)
	m := &markdown{page: p, source: source}
	m.blocks(goldmark.DefaultParser().Parse(text.NewReader(source)), "")
}

type markdown struct {
	*page
	source []byte
	depth  int
}

// deepest is how deep blocks are nested that are shown as such.
const deepest = 12

func (m *markdown) blocks(parent ast.Node, indent string) {
	if m.depth++; m.depth > deepest {
		indent = ""
	}
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		m.block(n, indent)
	}
	m.depth--
}

func (m *markdown) block(n ast.Node, indent string) {
	switch n := n.(type) {
	case *ast.Heading:
		m.put(term.Head, indent, strings.Repeat("#", n.Level)+" "+m.inline(n))
	case *ast.List:
		m.items(n, indent)
	case *ast.Blockquote:
		m.blocks(n, indent+"│ ")
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		m.code(n, indent)
	case *ast.HTMLBlock:
		m.code(n, indent)
		if n.HasClosure() {
			m.put("", indent, string(n.ClosureLine.Value(m.source)))
		}
	case *ast.ThematicBreak:
		m.put(term.Aux, indent, "────────")
	case *ast.Paragraph, *ast.TextBlock:
		m.put("", indent, m.inline(n))
	default:
		m.blocks(n, indent)
	}
	if _, tight := n.(*ast.TextBlock); !tight && n.NextSibling() != nil && m.depth < 3 {
		m.put("", indent, " ")
	}
}

func (m *markdown) items(list *ast.List, indent string) {
	number := list.Start
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "• "
		if list.IsOrdered() {
			mark = strconv.Itoa(number) + ". "
			number++
		}
		before := len(m.lines)
		m.blocks(item, indent+strings.Repeat(" ", term.Columns(mark)))
		if before < len(m.lines) { // the mark stands where its text begins
			text := m.lines[before].text
			if rest, ok := strings.CutPrefix(text, indent+strings.Repeat(" ", term.Columns(mark))); ok {
				m.lines[before].text = indent + mark + rest
			}
		}
	}
}

func (m *markdown) code(n ast.Node, indent string) {
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		m.put(term.Name, indent+"  ", strings.TrimRight(string(line.Value(m.source)), "\n"))
	}
}

// put adds a text whose further lines are indented as the first.
func (m *markdown) put(color term.Color, indent, s string) {
	width := max(m.width-term.Columns(indent), 8)
	for line := range strings.SplitSeq(s, "\n") {
		for _, part := range wrap(line, width) {
			m.add(color, indent+part+"\n")
		}
	}
}

// inline is the text of a paragraph without the signs of emphasis.
func (m *markdown) inline(parent ast.Node) string {
	var b strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Value(m.source))
			if n.HardLineBreak() || n.SoftLineBreak() { // as forges show comments
				b.WriteByte('\n')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.CodeSpan:
			b.WriteString("`" + m.inline(n) + "`")
		case *ast.AutoLink:
			b.Write(n.URL(m.source))
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				segment := n.Segments.At(i)
				b.Write(segment.Value(m.source))
			}
		case *ast.Link:
			b.WriteString(m.inline(n) + " (" + string(n.Destination) + ")")
		case *ast.Image:
			b.WriteString("[" + m.inline(n) + "] (" + string(n.Destination) + ")")
		default:
			b.WriteString(m.inline(n))
		}
	}
	return b.String()
}
