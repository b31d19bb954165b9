package webui

import (
	"cmp"
	"strconv"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"agent/internal/i18n"
	"agent/internal/page"
	"agent/internal/report"
	"agent/internal/sanitize"
	"agent/internal/watch"
)

// listPage is a page of the list.
type listPage struct {
	frame
	Rows               []report.Listed
	Query, State, Repo string
	All, Fit, From, To int
	Before, After      string // addresses of the neighbouring pages
	Reading            bool   // not all contexts are known yet
}

func (p listPage) document() g.Node {
	return p.page("agent", p.nav(""),
		h.Header(h.H1(p.text("ui.list")), p.filters(), g.If(p.Reading, h.P(h.Class("waits"), g.Text("⏳ "), p.text("ui.reading")))),
		h.Main(h.Form(h.Action("/compare"), p.table(), p.below())))
}

// filters are what the list is narrowed by, and how much of it is shown.
func (p listPage) filters() g.Node {
	field := func(kind, name, value string, label i18n.ID) g.Node {
		return h.Input(h.Type(kind), h.Name(name), h.Value(value), h.Placeholder(p.T(label)), h.Aria("label", p.T(label)))
	}
	shown := h.Span(g.Textf("%d–%d / %d", p.From, p.To, p.Fit), g.If(p.Fit != p.All, g.Textf(" (%d)", p.All)))
	return h.Form(h.Class("filters"), h.Action("/"), page.Spaced(
		field("search", "q", p.Query, "ui.words"),
		field("text", "repo", p.Repo, "ui.repo"),
		h.Select(h.Name("state"), h.Aria("label", p.T("ui.state")),
			h.Option(h.Value(""), p.text("ui.every.state")),
			options(report.States, p.State, func(state string) string { return i18n.State(p.lang, state) })),
		h.Button(p.text("ui.filter")),
		shown,
	))
}

// options are those of a selection, one of which is chosen.
func options(values []string, chosen string, name func(string) string) g.Node {
	return g.Map(values, func(v string) g.Node {
		return h.Option(h.Value(v), g.If(v == chosen, h.Selected()), g.Text(name(v)))
	})
}

func (p listPage) table() g.Node {
	left := func(id i18n.ID) g.Node { return h.Th(h.Class("l"), p.text(id)) }
	rows := g.Map(p.Rows, p.row)
	if len(rows) == 0 {
		rows = g.Group{h.Tr(h.Td(h.ColSpan("9"), h.Class("l"), p.text("ui.none")))}
	}
	return h.Table(h.Class("list"),
		h.THead(h.Tr(h.Th(), left("tui.id"), left("ui.state"), left("ui.task"), left("stats.title"), page.Headings(p.T("ui.age"), p.T("page.calls"), p.T("page.tokens"), "USD"))),
		h.TBody(rows))
}

func (p listPage) row(l report.Listed) g.Node {
	left := func(content ...g.Node) g.Node { return h.Td(h.Class("l"), g.Group(content)) }
	link := func(text g.Node) g.Node { return h.A(page.Href("/c/"+l.UUID), text) }
	state := sanitize.Line(l.State, 30)
	tokens := watch.Count(l.Tokens)
	if l.Estimated {
		tokens = "~" + tokens
	}
	return h.Tr(
		h.Td(h.Input(h.Type("checkbox"), h.Name("c"), h.Value(l.UUID), h.Aria("label", l.UUID))),
		left(link(h.Code(g.Textf("%.8s", l.UUID)))),
		left(h.Span(h.Class("state "+state), g.Text(i18n.Standing(p.lang, state, l.Waits, l.Partial)))),
		left(link(g.Text(watch.Ref(l.TaskKey)))),
		left(link(g.Text(cmp.Or(line(l.Title), l.UUID))), g.If(l.ForkOf != "", g.Text(" ⑂")),
			g.If(l.Error != "", g.Group{g.Text(" "), h.Span(h.Class("bad"), g.Text(line(l.Error)))})),
		h.Td(h.Title(clock(l.UpdatedAt)), g.Text(age(l.UpdatedAt))),
		page.Cells(strconv.Itoa(l.LLMBegun), tokens, i18n.USD(l.CostUSD)))
}

// below are the button that compares, and the way to the neighbouring pages.
func (p listPage) below() g.Node {
	to := func(address, text string) g.Node { return g.If(address != "", h.A(page.Href(address), g.Text(text))) }
	return h.P(h.Class("filters"), page.Spaced(h.Button(p.text("ui.compare")), to(p.Before, "← "+p.T("ui.newer")), to(p.After, p.T("ui.older")+" →")))
}

// age is how long ago something was.
func age(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return report.Age(time.Since(t))
}
