package page

import (
	"bufio"
	"crypto/sha256"
	_ "embed" // the style sheet and the script
	"encoding/base64"
	"io"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"agent/internal/i18n"
)

var (
	// CSS is the style sheet.
	//go:embed page.css
	CSS string
	// JS is the script.
	//go:embed page.js
	JS string
)

// Served are the style sheet and the scripts of a page of the server.
func Served() g.Node {
	return g.Group{h.Link(h.Rel("stylesheet"), h.Href("/page.css")), h.Script(h.Defer(), h.Src("/page.js")), h.Script(h.Defer(), h.Src("/live.js"))}
}

// carried are those of a file, which holds them itself, and the policy that lets nothing else run.
func carried() g.Node {
	return g.Group{h.Meta(g.Attr("http-equiv", "Content-Security-Policy"), h.Content(Policy())), h.StyleEl(HTML(CSS)), h.Script(HTML(JS))}
}

// Document is a whole page. assets are its style sheet and scripts.
func Document(lang i18n.Lang, title string, assets g.Node, body ...g.Node) g.Node {
	return h.Doctype(h.HTML(h.Lang(string(lang)),
		h.Head(
			h.Meta(h.Charset("utf-8")),
			h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")),
			h.Meta(h.Name("color-scheme"), h.Content("dark light")),
			h.Meta(h.Name("referrer"), h.Content("no-referrer")),
			assets,
			h.TitleEl(g.Text(title)),
		),
		h.Body(body...),
	))
}

// Policy is what a page in a file may do: nothing but run our script and be styled.
func Policy() string {
	return "default-src 'none'; style-src " + hashOf(CSS) + "; script-src " + hashOf(JS) +
		"; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
}

func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Write writes the page.
func (d *Doc) Write(w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	if err := d.document().Render(out); err != nil {
		return err
	}
	return out.Flush()
}

func (d *Doc) document() g.Node {
	assets := carried()
	if d.Nav != nil {
		assets = Served()
	}
	return Document(d.Lang, d.Title+" · agent", assets, d.Nav, d.summary(), d.toolbar(), d.main(), d.footer())
}

func (d *Doc) footer() g.Node {
	return h.Footer(h.P(Spaced(
		g.If(d.Nav == nil, d.text("page.foot", d.UUID)),
		g.If(d.Cut, d.text("page.bound", d.Bound>>10)),
	)))
}
