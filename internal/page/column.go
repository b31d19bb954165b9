package page

import (
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

// Column is the context in lines without their texts, to be shown beside another one. The
// title leads to its page.
func (d *Doc) Column(address string) g.Node {
	return h.Section(
		h.H1(h.A(Href(address), g.Text(d.Title))),
		h.P(h.Class("under"), Spaced(g.Text(d.Address), h.Span(class("state", d.State), g.Text(d.StateText)))),
		paragraph("because", d.Because),
		d.facts(),
		d.costTables(),
		g.If(d.Earlier > 0, h.P(h.Class("cut"), d.text("page.earlier", d.Earlier))),
		g.Map(d.Phases, d.briefPhase))
}

func (d *Doc) briefPhase(p Phase) g.Node {
	return g.Group{h.H2(g.Text(p.Title), p.Sum.node()), g.Map(p.Steps, func(s Step) g.Node {
		return h.Div(h.Class("step"),
			g.If(s.N > 0, h.H4(d.text("page.step", s.N), s.Sum.node())),
			g.Map(s.Rows, func(r Row) g.Node { return h.Div(r.class(), r.line()) }))
	})}
}
