package sanitize

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"agent/internal/lazyregexp"
)

// Rendered is [Input] for a text that a forge renders as Markdown: of the
// source it keeps what a reader of the page sees. Link reference definitions,
// link titles, labels, footnotes that nothing refers to, surplus table cells,
// comments, declarations, attributes, and what <script>, <template> and their
// like contain are gone. A reference link becomes an inline link.
//
// The address of a link or image stays, unless it holds a space. The alt text of an
// image goes: who sees the image does not see it. A paragraph without any of
// this stays as it is, byte by byte, and so does code.
func Rendered(s string) (clean string, removed []string) {
	counts := map[string]int{}
	visible := rendered(oneLineEnd(validUTF8(s, counts)), counts)
	return input(visible, counts)
}

// markdown parses what can conceal something. Emphasis cannot, and its parser
// takes quadratic time.
var markdown = goldmark.New(
	goldmark.WithParser(parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(parser.NewLinkParser(), 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(parser.NewRawHTMLParser(), 400),
		),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)),
	goldmark.WithExtensions(extension.Table, extension.Linkify, extension.Footnote),
).Parser()

// tooDeep is a line inside of more than 100 quotes and lists, which nobody
// writes, and whose parsing takes quadratic time.
var tooDeep = lazyregexp.New(`(?m)^(?:[ \t]*(?:>|[-*+][ \t]|[0-9]{1,9}[.)][ \t])){100}.*$`)

func rendered(s string, counts map[string]int) string {
	s = tooDeep.ReplaceAllStringFunc(s, func(string) string {
		counts["nesting"]++
		return ""
	})
	p := &page{src: []byte(s), counts: counts, noted: map[int]bool{}}
	p.lines = []int{0}
	for i, c := range p.src {
		if c == '\n' {
			p.lines = append(p.lines, i+1)
		}
	}
	p.seen = make([]bool, len(p.lines))
	doc := markdown.Parse(text.NewReader(p.src))
	p.block(doc)
	p.footnotes(doc)
	p.dropUnseen()
	return p.apply()
}

// page walks over a parsed text and collects what to change in its source.
type page struct {
	src    []byte
	lines  []int  // where each line begins
	seen   []bool // the line belongs to something visible
	edits  []edit
	counts map[string]int
	markup
	noted map[int]bool // the footnotes that something visible refers to
}

type edit struct {
	from, to int
	by       string
}

// block visits a block and everything in it.
func (p *page) block(n ast.Node) {
	switch n := n.(type) {
	case *east.FootnoteList, *ast.LinkReferenceDefinition:
		return
	case *ast.HTMLBlock:
		p.htmlBlock(n)
		return
	case *ast.FencedCodeBlock:
		if n.Info != nil {
			p.show(n.Info.Segment.Start, n.Info.Segment.Stop)
		}
		p.code(n)
		return
	case *ast.CodeBlock:
		p.code(n)
		return
	case *ast.Paragraph, *ast.TextBlock, *ast.Heading, *east.TableCell:
		p.paragraph(n)
		return
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		p.block(c)
	}
	switch n.(type) {
	case *east.TableRow, *east.TableHeader:
		p.surplusCells(n)
	}
}

// show marks the lines of a part of the source as visible, or removes the part
// if an element around it is not rendered.
func (p *page) show(from, to int) {
	if p.hiding() {
		p.edits = append(p.edits, edit{from, to, ""})
		return
	}
	for l := p.lineAt(from); l <= p.lineAt(max(from, to-1)); l++ {
		p.seen[l] = true
	}
}

func (p *page) lineAt(offset int) int {
	l, exact := slices.BinarySearch(p.lines, offset)
	if !exact {
		l--
	}
	return l
}

func (p *page) code(n ast.Node) {
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		p.show(seg.Start, seg.Stop)
	}
}

func (p *page) paragraph(n ast.Node) {
	lines := n.Lines()
	if lines.Len() == 0 {
		return
	}
	from, to := p.extent(lines)
	if !p.hiding() && !concealing(n, p.src) {
		p.show(from, to)
		return
	}
	w := inlineWriter{page: p, prefix: p.prefix(lines)}
	w.children(n)
	p.replace(from, to, w.out.String())
}

func (p *page) htmlBlock(n *ast.HTMLBlock) {
	lines := n.Lines()
	if n.HasClosure() {
		lines.Append(n.ClosureLine)
	}
	if lines.Len() == 0 {
		return
	}
	from, to := p.extent(lines)
	var out strings.Builder
	p.html(string(lines.Value(p.src)), &out, p.counts)
	p.replace(from, to, strings.ReplaceAll(strings.TrimRight(out.String(), "\n"), "\n", "\n"+p.prefix(lines)))
}

// extent is the part of the source from the first to the last line of a block,
// without the last line's end.
func (p *page) extent(lines *text.Segments) (from, to int) {
	from, to = lines.At(0).Start, lines.At(lines.Len()-1).Stop
	for to > from && p.src[to-1] == '\n' {
		to--
	}
	return from, to
}

// prefix is what stands before the second line of a block: quote marks and spaces.
func (p *page) prefix(lines *text.Segments) string {
	if lines.Len() < 2 {
		return ""
	}
	at := lines.At(1).Start
	return string(p.src[p.lines[p.lineAt(at)]:at])
}

func (p *page) replace(from, to int, by string) {
	if strings.TrimSpace(by) != "" {
		for l := p.lineAt(from); l <= p.lineAt(max(from, to-1)); l++ {
			p.seen[l] = true
		}
	}
	if by != string(p.src[from:to]) {
		p.edits = append(p.edits, edit{from, to, by})
	}
}

var rowEnd = lazyregexp.New(`^[ \t]*\|?[ \t]*$`)

// surplusCells removes what a row holds beyond the columns of its table.
func (p *page) surplusCells(row ast.Node) {
	for c := row.LastChild(); c != nil; c = c.PreviousSibling() {
		if c.Lines().Len() == 0 {
			continue
		}
		from := c.Lines().At(0).Stop
		to := from + len(bytes.TrimRight([]byte(line(string(p.src[from:]))), "\n"))
		if !rowEnd.Match(p.src[from:to]) {
			p.counts["table_cell"]++
			p.edits = append(p.edits, edit{from, to, " |"})
		}
		return
	}
}

// footnotes visits the notes that something visible refers to, and the notes
// that these refer to.
func (p *page) footnotes(doc ast.Node) {
	list, is := doc.LastChild().(*east.FootnoteList)
	if !is {
		return
	}
	for again := true; again; {
		again = false
		for c := list.FirstChild(); c != nil; c = c.NextSibling() {
			note, is := c.(*east.Footnote)
			if !is || !p.noted[note.Index] {
				continue
			}
			p.noted[note.Index] = false
			again = true
			p.footnote(note)
		}
	}
}

var footnoteLabel = lazyregexp.New(`\[\^[^\]\n]*\]:`)

func (p *page) footnote(n *east.Footnote) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		p.block(c)
	}
	if n.Pos() < 0 {
		return
	}
	from := p.lines[p.lineAt(n.Pos())]
	if at := footnoteLabel.FindIndex([]byte(line(string(p.src[from:])))); at != nil {
		mark := noteMark(n.Index) + ":"
		if string(p.src[from+at[0]:from+at[1]]) != mark {
			p.counts["footnote_label"]++
		}
		p.edits = append(p.edits, edit{from + at[0], from + at[1], mark})
	}
}

// structure is a line that shows nothing but marks: of lists, quotes, fences,
// tables and underlined headings.
var structure = lazyregexp.New("^(?:[ \\t>]|[-*+](?:[ \\t]|$)|[0-9]{1,9}[.)](?:[ \\t]|$))*(?:[-=|:+ \\t]*|[`~]{3,}[ \\t]*|\\[[ xX]\\][ \\t]*|#{1,6}[# \\t]*|[-*_ \\t]*)$")

// dropUnseen removes the lines that belong to nothing visible.
func (p *page) dropUnseen() {
	for i, from := range p.lines {
		to := len(p.src)
		if i+1 < len(p.lines) {
			to = p.lines[i+1]
		}
		if !p.seen[i] && !structure.Match(bytes.TrimRight(p.src[from:to], "\n")) {
			p.counts["not_rendered"]++
			p.edits = append(p.edits, edit{from, to, ""})
		}
	}
}

func (p *page) apply() string {
	slices.SortStableFunc(p.edits, func(a, b edit) int { return cmp.Or(a.from-b.from, b.to-a.to) })
	var out strings.Builder
	at := 0
	for _, e := range p.edits {
		if e.from >= at {
			out.Write(p.src[at:e.from])
			out.WriteString(e.by)
		}
		at = max(at, e.to)
	}
	out.Write(p.src[at:])
	return out.String()
}

// concealing tells whether a paragraph's source holds what its page does not show.
func concealing(n ast.Node, src []byte) bool {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.RawHTML, *ast.Image, *east.FootnoteLink:
			return true
		case *ast.Link:
			if c.Title != nil || c.Reference != nil || !plainAddress(c.Destination) || blankLabel(c, src) {
				return true
			}
		}
		if concealing(c, src) {
			return true
		}
	}
	return false
}

// blankLabel tells whether a link has nothing to click on.
func blankLabel(n ast.Node, src []byte) bool {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		t, is := c.(*ast.Text)
		if !is || strings.TrimFunc(string(t.Segment.Value(src)), unseen) != "" {
			return false
		}
	}
	return true
}

func unseen(r rune) bool { return r == ' ' || r == '\t' || r == utf8.RuneError || hidden(r) != "" }
