package page

import (
	"fmt"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"agent/internal/i18n"
	"agent/internal/timeline"
)

// timeline is all phases, and the place where new rows come while the context runs.
func (d *Doc) timeline() g.Group {
	return g.Group{d.leftOut(), g.Map(d.Phases, d.phase), h.Div(h.ID("live"), g.If(d.Events != "", h.Data("live", d.Events)))}
}

// leftOut says what is missing before the first row.
func (d *Doc) leftOut() g.Node {
	var missing g.Node
	switch {
	case d.First > 1:
		missing = d.text("page.part", d.First)
	case d.Earlier > 0:
		missing = d.text("page.earlier", d.Earlier)
	default:
		return nil
	}
	before := max(d.First, 2) - 1
	return h.P(h.Class("cut"), Spaced(missing, g.If(d.Nav != nil, h.A(Href(fmt.Sprintf("?until=%d", before)), d.text("page.earlier.link")))))
}

func (d *Doc) phase(p Phase) g.Node {
	return h.Details(h.Class("phase"), h.ID(fmt.Sprintf("p%d", p.ID)), g.Attr("open"),
		h.Summary(h.B(g.Text(p.Title)), p.Sum.node()), g.Map(p.Steps, d.step))
}

// node is what was used, at the right of a line.
func (t Total) node() g.Node {
	return h.Span(h.Class("sum"), Spaced(
		g.If(t.Failed > 0, h.Span(h.Class("bad"), g.Textf("✗%d", t.Failed))),
		g.If(t.Files != "", h.Span(g.Text(t.Files))),
		used(t.Tokens, t.USD),
		h.Span(g.Text(t.Time)),
	))
}

// used are tokens and their price.
func used(tokens, usd string) g.Node {
	if usd != "–" {
		usd += " USD"
	}
	return Spaced(h.Span(g.Text(tokens+" tok")), h.Span(g.Text(usd)))
}

func (d *Doc) step(s Step) g.Node {
	rows := g.Map(s.Rows, d.row)
	if s.N == 0 {
		return h.Div(h.Class("step"), rows)
	}
	return h.Details(h.Class("step"), g.If(s.Open, g.Attr("open")), h.ID(fmt.Sprintf("s%d", s.N)), h.Data("n", number(s.N)),
		h.Summary(h.B(d.text("page.step", s.N)), s.Sum.node()), rows)
}

// row is an event with its outcome. It unfolds if there is more of it than a line.
func (d *Doc) row(r Row) g.Node {
	id := h.ID(fmt.Sprintf("e%d", r.Seq))
	if len(r.Parts) == 0 && len(r.Diffs) == 0 && r.Talk == 0 && r.Comment == 0 {
		return h.Div(r.class(), id, r.line())
	}
	return h.Details(r.class(), id, g.If(d.AllOpen, g.Attr("open")),
		h.Summary(r.line()),
		d.wordsOf(r),
		g.Map(r.Parts, part),
		g.Map(r.Diffs, d.diff),
	)
}

func (r Row) class() g.Node {
	minor := ""
	if r.Minor {
		minor = "minor"
	}
	return class("row", "k-"+string(r.Kind), string(r.Status), minor)
}

// line is a row as one line.
func (r Row) line() g.Node {
	seq := h.Span(h.Class("seq"), g.Textf("%d", r.Seq))
	if r.Link != "" {
		seq = h.A(h.Class("seq"), Href(r.Link), g.Textf("%d", r.Seq))
	}
	took := r.Took
	if r.Status == timeline.Open {
		took += "⏳"
	}
	return g.Group{
		Spaced(seq, h.Time(g.Text(r.Clock)), span("kind", r.KindText), span("what", r.Title), g.If(r.Result != "", span("result", r.Result))),
		h.Span(h.Class("sum"), Spaced(
			g.If(r.Changed != "", span("files", r.Changed)),
			g.If(r.Used != "", used(r.Used, r.USD)),
			g.Text(took),
		)),
	}
}

// wordsOf leads from a row to what was said in it.
func (d *Doc) wordsOf(r Row) g.Node {
	if r.Talk == 0 && r.Comment == 0 {
		return nil
	}
	return h.P(h.Class("links"), Spaced(
		g.If(r.Talk > 0, h.A(toMessage(r.Talk), d.text("page.in.talk"))),
		g.If(r.Comment > 0, h.A(Href(fmt.Sprintf("#c%d", r.Comment)), d.text("page.in.comments"))),
	))
}

func part(p Part) g.Node {
	return g.Group{g.If(p.Label != "", h.H4(g.Text(p.Label))), h.Pre(p.HTML)}
}

// diff is a file that changed.
func (d *Doc) diff(f Diff) g.Node {
	whole := ""
	if f.Complete {
		whole = "whole"
	}
	return h.Div(class("file", whole), h.ID(f.ID),
		h.H4(Spaced(g.Text(f.Change), h.Code(g.Text(f.Path)), plusMinus(f)), g.If(f.Views, d.views(f))),
		h.Pre(h.Class("diff"), f.HTML))
}

// views lets a reader choose between the change, the file before and after.
func (d *Doc) views(f Diff) g.Node {
	view := func(value string, name i18n.ID) g.Node {
		return h.Label(h.Input(h.Type("radio"), h.Name(f.ID), h.Value(value), g.If(value == "diff", h.Checked())), g.Text(" "), d.text(name))
	}
	return h.Span(h.Class("views"), Spaced(
		view("diff", "page.view.diff"), view("before", "page.view.before"), view("after", "page.view.after"),
		g.If(!f.Complete, span("part", d.T("page.view.part"))),
	))
}
