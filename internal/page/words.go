package page

import (
	"fmt"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

// plan is a plan or a revision of it.
func (d *Doc) plan(p Plan) g.Node {
	name := d.text("page.plan.first")
	if p.Revision > 0 {
		name = d.text("page.revision", p.Revision)
	}
	return h.Details(h.Class("plan"), g.Attr("open"),
		h.Summary(Spaced(eventLink(p.Seq), h.B(name), h.Time(g.Text(p.Clock)))),
		g.If(p.Goal != "", h.P(g.Text(p.Goal))),
		g.If(p.Reason != "", h.P(g.Text(p.Trigger+": "+p.Reason))),
		list(p.Criteria),
		list(p.Changes),
		h.Ol(g.Map(p.Actions, action)))
}

func action(a PlanAction) g.Node {
	return h.Li(class(a.Status), Spaced(
		h.Code(g.Text(a.ID)), g.Text(a.Purpose),
		g.If(a.Tool != "", h.Code(g.Text(a.Tool))),
		g.If(a.StatusText != "", span("state", a.StatusText)),
	))
}

// message is a message of the conversation, the result of a tool, or a mark between them.
func (d *Doc) message(m Talk) g.Node {
	switch {
	case m.Mark:
		return h.P(h.Class("mark"), m.id(), Spaced(eventLink(m.Seq), g.Text(m.Text)))
	case m.Row > 0:
		return h.P(class("msg tool", m.failed()), m.id(), Spaced(m.names(), h.A(toEvent(m.Row), g.Text(m.Purpose)), span("result", m.Text)))
	}
	return h.Article(class("msg", m.Role, m.failed()), m.id(),
		h.H4(Spaced(m.names(), g.If(m.Purpose != m.Who, g.Text(m.Purpose)))),
		g.If(m.Thought != "", h.Details(h.Summary(d.text("page.reasoning")), h.Pre(m.Thought))),
		g.If(m.HTML != "", h.Pre(m.HTML)),
		g.Map(m.Calls, call))
}

func (m Talk) id() g.Node { return h.ID(fmt.Sprintf("m%d", m.Seq)) }

func (m Talk) failed() string {
	if m.Failed {
		return "failed"
	}
	return ""
}

func (m Talk) names() g.Node { return Spaced(span("seq", fmt.Sprint(m.Seq)), span("kind", m.Who)) }

// call is a tool call of a reply. It leads to its row if it was carried out.
func call(c Call) g.Node {
	name := g.Text(c.Name)
	if c.Row > 0 {
		name = h.A(toEvent(c.Row), name)
	}
	return h.P(h.Class("call"), g.Text("→ "), name)
}

func (d *Doc) comment(c Comment) g.Node {
	who, ours := c.Who, ""
	if c.Ours {
		who, ours = d.T("page.ours"), "ours"
	}
	title := who + " · " + c.Purpose
	if c.Edit {
		title += " · " + d.T("page.edit")
	}
	return h.Article(class("comment", ours), h.ID(c.ID),
		h.H4(Spaced(
			h.A(h.Class("seq"), toEvent(c.Seq), g.Textf("%d", c.Seq)),
			g.Text(title),
			h.Time(g.Text(c.Time)),
			g.If(c.URL != "", outside(c.URL, d.text("page.on.forge"))),
			g.If(c.Note != "", h.I(g.Text(c.Note))),
			g.If(c.Failed != "", span("bad", c.Failed)),
		)),
		h.Div(h.Class("md"), c.HTML))
}
