package page

import (
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"agent/internal/i18n"
	"agent/internal/timeline"
)

// summary says what the task is, how it went and what it took.
func (d *Doc) summary() g.Node {
	address := g.Text(d.Address)
	if d.URL != "" {
		address = outside(d.URL, address)
	}
	return h.Header(h.ID("top"),
		h.H1(g.Text(d.Title)),
		h.P(h.Class("under"), Spaced(address, h.Span(class("state", d.State), h.ID("state"), g.Text(d.StateText)))),
		paragraph("because", d.Because),
		g.If(d.Waits != "" || d.Events != "", h.P(h.Class("waits"), h.ID("waits"), g.If(d.Waits == "", g.Attr("hidden")), g.Text("⏳ "+d.Waits))),
		d.facts(),
		g.If(d.Change != "", h.P(d.text("page.change"), g.Text(" "), outside(d.Change, g.Text(d.Change)))),
		g.If(d.Work != "", h.P(d.text("inspect.work", d.Work))),
		d.problems(),
	)
}

func (d *Doc) facts() g.Node {
	return h.Dl(h.Class("facts"), g.Map(d.Facts, func(f Fact) g.Node { return h.Div(h.Dt(g.Text(f.Label)), h.Dd(g.Text(f.Value))) }))
}

func (d *Doc) problems() g.Node {
	if len(d.Problems) == 0 {
		return nil
	}
	return h.Section(h.Class("problems"), h.H2(d.text("page.problems")), list(d.Problems), h.P(d.text("page.problems.todo")),
		h.P(h.Code(g.Text("agent verify "+d.UUID)), h.Br(), h.Code(g.Text("agent repair "+d.UUID))))
}

// toolbar leads to the sections, and has what the script works with.
func (d *Doc) toolbar() g.Node {
	if d.Single {
		return nil
	}
	to := func(there bool, id string, name i18n.ID) g.Node {
		return g.If(there, h.A(Href("#"+id), d.text(name)))
	}
	return h.Nav(h.Class("tools"), Spaced(
		to(len(d.Failures) > 0, "failures", "page.failures"),
		to(len(d.Marks) > 0, "marks", "page.marks.short"),
		to(len(d.Changes) > 0, "changes", "page.changes"),
		to(len(d.Charts) > 0, "charts", "page.charts"),
		to(len(d.Plans) > 0, "plan", "page.plan"),
		to(true, "timeline", "page.timeline"),
		to(len(d.Talk) > 0, "talk", "page.conversation"),
		to(len(d.Comments) > 0, "comments", "page.comments"),
		d.finder(),
	))
}

// finder searches the page and folds its rows. Only the script shows it.
func (d *Doc) finder() g.Node {
	box := func(id string, name i18n.ID) g.Node {
		return h.Label(h.Input(h.Type("checkbox"), h.ID(id)), g.Text(" "), d.text(name))
	}
	button := func(id string, name i18n.ID) g.Node {
		return h.Button(h.Type("button"), h.ID(id), d.text(name))
	}
	search := d.T("page.search")
	return h.Span(h.Class("js"), Spaced(
		h.Input(h.Type("search"), h.ID("search"), h.Placeholder(search), h.Aria("label", search), h.AutoComplete("off")),
		g.El("output", h.ID("hits"), h.Data("none", d.T("page.hits.none")), h.Data("single", d.T("page.hits.one")), h.Data("many", d.T("page.hits.many"))),
		box("failed", "page.only.failed"),
		box("minor", "page.all.rows"),
		g.Group{button("open", "page.open"), button("close", "page.close")},
	))
}

// main is all that is below the summary.
func (d *Doc) main() g.Node {
	refs := g.If(len(d.Failures)+len(d.Marks)+len(d.Changes) > 0, h.Section(h.Class("two"), d.failures(), d.marks(), d.changes()))
	var charts g.Group
	if len(d.Charts) > 0 {
		charts = g.Group{h.Div(h.Class("charts"), g.Map(d.Charts, markup)), d.costTables()}
	}
	return h.Main(refs,
		d.section("charts", "page.charts", charts),
		d.section("plan", "page.plan", g.Map(d.Plans, d.plan)),
		d.section("timeline", "page.timeline", d.timeline()),
		d.section("talk", "page.conversation", g.Map(d.Talk, d.message)),
		d.section("comments", "page.comments", g.Map(d.Comments, d.comment)),
	)
}

func markup(m HTML) g.Node { return m }

// section has a heading. Without content there is none.
func (d *Doc) section(id string, heading i18n.ID, content g.Group) g.Node {
	if len(content) == 0 {
		return nil
	}
	return h.Section(h.ID(id), h.H2(d.text(heading)), content)
}

// refs is a list of links to rows, and how many more there are.
func (d *Doc) refs(id string, heading i18n.ID, items g.Group, more int) g.Node {
	if len(items) == 0 {
		return nil
	}
	return h.Div(h.ID(id), h.H2(d.text(heading)), h.Ul(h.Class("refs"), items), g.If(more > 0, h.P(d.text("page.more", more))))
}

func (d *Doc) failures() g.Node {
	return d.refs("failures", "page.failures", g.Map(d.Failures, func(r Ref) g.Node {
		return h.Li(Spaced(eventLink(r.Seq), span("bad", r.Title), g.Text(r.Text)))
	}), d.MoreFailures)
}

func (d *Doc) marks() g.Node {
	return d.refs("marks", "page.marks", g.Map(d.Marks, func(r Ref) g.Node {
		where := i18n.ID("page.in.talk")
		if r.Kind == string(timeline.Resume) {
			where = "page.told"
		}
		return h.Li(Spaced(eventLink(r.Seq), h.B(g.Text(r.Title)), g.Text(r.Text), g.If(r.Talk > 0, h.A(toMessage(r.Talk), d.text(where)))))
	}), 0)
}

func (d *Doc) changes() g.Node {
	return d.refs("changes", "page.changes", g.Map(d.Changes, func(c Changed) g.Node {
		return h.Li(Spaced(eventLink(c.Seq), g.If(c.Step > 0, d.text("page.step", c.Step)), h.A(Href("#"+c.ID), g.Text(c.Path)), g.Text(c.Change), plusMinus(c.Diff)))
	}), d.MoreChanges)
}

// plusMinus is how many lines of a file were added and removed.
func plusMinus(f Diff) g.Node {
	return Spaced(h.Span(h.Class("plus"), g.Textf("+%d", f.Added)), h.Span(h.Class("minus"), g.Textf("−%d", f.Removed)))
}
