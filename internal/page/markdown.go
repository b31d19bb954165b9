package page

import (
	"bytes"
	"net/url"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// markdown renders comments as a forge does, but that HTML in them is text, that images
// are links, and that a link leads to the web or nowhere.
var markdown = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(
				util.Prioritized(parser.NewSetextHeadingParser(), 100),
				util.Prioritized(parser.NewThematicBreakParser(), 200),
				util.Prioritized(parser.NewListParser(), 300),
				util.Prioritized(parser.NewListItemParser(), 400),
				util.Prioritized(parser.NewCodeBlockParser(), 500),
				util.Prioritized(parser.NewATXHeadingParser(), 600),
				util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
				util.Prioritized(parser.NewBlockquoteParser(), 800),
				util.Prioritized(parser.NewParagraphParser(), 1000),
			),
			parser.WithInlineParsers(
				util.Prioritized(parser.NewCodeSpanParser(), 100),
				util.Prioritized(parser.NewLinkParser(), 200),
				util.Prioritized(parser.NewAutoLinkParser(), 300),
				util.Prioritized(parser.NewEmphasisParser(), 500),
			),
		)),
		goldmark.WithRenderer(renderer.NewRenderer(renderer.WithNodeRenderers(
			util.Prioritized(links{}, 100), util.Prioritized(html.NewRenderer(html.WithXHTML()), 1000)))),
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList, extension.Linkify),
	)
})

// Bounds of what is rendered. Emphasis and nesting take quadratic time.
const (
	mostMarkdown = 48 << 10
	mostMarks    = 3000
	mostNesting  = 30
)

// Markdown is a text as HTML. It must have been made visible.
func Markdown(s string) HTML {
	if len(s) > mostMarkdown || strings.Count(s, "*")+strings.Count(s, "_")+strings.Count(s, "[") > mostMarks || deep(s) {
		return "<pre>" + escape(s) + "</pre>"
	}
	var b bytes.Buffer
	if err := markdown().Convert([]byte(s), &b); err != nil {
		return "<pre>" + escape(s) + "</pre>"
	}
	return HTML(b.String())
}

func deep(s string) bool {
	for l := range strings.Lines(s) {
		n := 0
		for _, c := range []byte(l) {
			if c == '>' || c == '-' || c == '*' || c == '+' || c == '.' || c == ')' {
				n++
			} else if c != ' ' && c != '\t' && (c < '0' || c > '9') {
				break
			}
		}
		if n > mostNesting && strings.TrimLeft(l, "-*_ \t\n") != "" {
			return true
		}
	}
	return false
}

// links renders links and images.
type links struct{}

func (links) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindLink, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		anchor(w, string(n.(*ast.Link).Destination), entering)
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindImage, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.WriteString("🖼 ")
		}
		anchor(w, string(n.(*ast.Image).Destination), entering)
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindAutoLink, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link := n.(*ast.AutoLink); entering {
			anchor(w, string(link.URL(source)), true)
			_, _ = w.Write(util.EscapeHTML(link.Label(source)))
			anchor(w, string(link.URL(source)), false)
		}
		return ast.WalkContinue, nil
	})
}

func anchor(w util.BufWriter, address string, entering bool) {
	safe := Web(address)
	switch {
	case safe == "" && !entering: // where it leads is shown, but it leads nowhere
		_, _ = w.WriteString(" (" + string(escape(address)) + ")")
	case safe == "":
	case entering:
		_, _ = w.WriteString(`<a rel="noopener noreferrer nofollow" href="` + string(util.EscapeHTML([]byte(safe))) + `">`)
	default:
		_, _ = w.WriteString("</a>")
	}
}

// Web is an address on the web, "" for any other.
func Web(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return ""
	}
	return u.String()
}
