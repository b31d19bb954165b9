package page

import (
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

// costTables are what phases and actions, models and tools took.
func (d *Doc) costTables() g.Node {
	return g.Group{
		h.Table(h.Class("costs"),
			h.THead(h.Tr(Headings(d.T("page.phase"), d.T("page.calls"), d.T("page.prompt"), d.T("page.cached"), d.T("page.output.tokens"), "USD", d.T("page.time.model"), ""))),
			h.TBody(
				g.Map(d.Costs, costRow),
				g.If(len(d.Models) > 0, h.Tr(h.Th(h.ColSpan("8"), d.text("page.by.model")))),
				g.Map(d.Models, costRow),
			)),
		d.toolTable(),
		d.costNotes(),
	}
}

func costRow(c Cost) g.Node {
	return h.Tr(g.If(c.Total, h.Class("total")),
		h.Td(g.If(c.Indent, h.Class("indent")), g.Text(c.Name)),
		Cells(number(c.Calls), c.Prompt, c.Cached, c.Output, c.USD, c.Time),
		h.Td(c.Bars))
}

func (d *Doc) toolTable() g.Node {
	if len(d.Tools) == 0 {
		return nil
	}
	return h.Table(h.Class("costs"),
		h.THead(h.Tr(Headings(d.T("stats.by.tool"), d.T("page.tools"), d.T("stats.failed"), d.T("page.time.tools"), ""))),
		h.TBody(g.Map(d.Tools, toolRow)))
}

func toolRow(c ToolCost) g.Node {
	failed := g.Text("0")
	if c.Failed > 0 {
		failed = span("bad", number(c.Failed))
	}
	return h.Tr(Cells(c.Name, number(c.Calls)), h.Td(failed), Cells(c.Time), h.Td(c.Bar))
}

// costNotes are where time went, and what the amounts leave out.
func (d *Doc) costNotes() g.Node {
	return h.P(h.Class("notes"),
		g.Map(d.Times, func(s string) g.Node { return g.Group{g.Text(s), h.Br()} }),
		g.If(d.Unpriced, g.Group{d.text("money.note"), h.Br()}),
		g.If(d.Unpriced && d.Partial, g.Group{d.text("money.partial"), h.Br()}),
		g.If(d.Estimated, d.text("money.estimate")))
}

// Headings are the cells of the head of a table.
func Headings(texts ...string) g.Node {
	return g.Map(texts, func(s string) g.Node { return h.Th(g.Text(s)) })
}

// Cells are cells of a row of a table.
func Cells(texts ...string) g.Node {
	return g.Map(texts, func(s string) g.Node { return h.Td(g.Text(s)) })
}
