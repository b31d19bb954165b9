package webui

import (
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

type statsPage struct {
	frame
	Stats     *report.Stats // nil: they are not there yet
	By, Since string
	AsOf      string
	Done, Of  int // logs that were read
}

func (p statsPage) document() g.Node {
	content := p.waiting
	if p.Stats != nil {
		content = p.sums
	}
	return p.page("agent", p.nav(""), h.Header(h.H1(p.text("ui.stats")), p.choice()), h.Main(content()...))
}

// choice is how the contexts are grouped, and since when.
func (p statsPage) choice() g.Node {
	return h.Form(h.Class("filters"), h.Action("/stats"), page.Spaced(
		h.Select(h.Name("by"), h.Aria("label", p.T("ui.by")), options(report.StatsBy, p.By, p.way)),
		h.Input(h.Type("text"), h.Name("since"), h.Value(p.Since), h.Placeholder("7d, 2026-11-27"), h.Aria("label", p.T("ui.since"))),
		h.Button(p.text("ui.show")),
	))
}

// waiting says how many logs were added up.
func (p statsPage) waiting() []g.Node {
	progress := h.Progress(h.Value(strconv.Itoa(p.Done)), h.Max(strconv.Itoa(p.Of)))
	return []g.Node{h.P(h.Class("waits"), page.Spaced(g.Text("⏳"), p.text("ui.adding", p.Done, p.Of), progress))}
}

func (p statsPage) sums() []g.Node {
	return []g.Node{
		h.P(h.Class("notes"), p.text("ui.as.of", p.AsOf)),
		h.Div(h.Class("charts"), p.charts()),
		p.table(),
		p.notes(),
	}
}

func (p statsPage) table() g.Node {
	rows := p.Stats.Rows
	more := max(len(rows)-mostStats, 0)
	return g.Group{
		h.Table(
			h.THead(h.Tr(page.Headings(p.way(p.By), p.T("stats.runs"), p.T("stats.completed"), p.T("stats.stopped"), p.T("stats.failed"), p.T("page.calls"), p.T("page.tools"),
				p.T("page.prompt"), p.T("page.cached"), p.T("page.output.tokens"), "USD", p.T("stats.active")))),
			h.TBody(
				g.Map(rows[:len(rows)-more], statsRow),
				h.Tr(h.Class("total"), h.Td(p.text("stats.total")), figures(p.Stats.Total)),
			)),
		g.If(more > 0, h.P(h.Class("cut"), p.text("ui.more.rows", more))),
	}
}

func statsRow(l report.StatsRow) g.Node {
	name := line(l.Key)
	if l.Title != "" {
		name += " " + line(l.Title)
	}
	return h.Tr(page.Cells(name), figures(l))
}

func figures(l report.StatsRow) g.Node {
	return page.Cells(strconv.Itoa(l.Runs), strconv.Itoa(l.Completed), strconv.Itoa(l.Stopped), strconv.Itoa(l.Failed), strconv.Itoa(l.Begun), strconv.Itoa(l.Tools),
		watch.Count(l.Prompt), watch.Count(l.Cached), watch.Count(l.Completion), money(l), active(l))
}

// notes are what the amounts leave out, and logs that could not be read.
func (p statsPage) notes() g.Node {
	total := p.Stats.Total
	return h.P(h.Class("notes"),
		g.If(total.Unpriced > 0, g.Group{p.text("money.note"), h.Br()}),
		g.If(total.Unpriced > 0 && total.CostUSD > 0, p.text("money.partial")),
		g.Map(p.Stats.Errors, func(err error) g.Node { return g.Group{h.Br(), g.Text(line(err.Error()))} }))
}

// charts draw outcomes, tokens, money and time.
func (p statsPage) charts() g.Group {
	rows := p.Stats.Rows
	by := p.T(i18n.ID("stats.by." + p.By))
	ended := page.Chart{Title: p.T("ui.outcomes", by), Legend: [2]string{p.T("stats.completed"), p.T("ui.not.completed")}, None: "–"}
	used := page.Chart{Title: p.T("page.chart.tokens", by), Legend: [2]string{p.T("page.prompt"), p.T("page.output.tokens")}, None: "–"}
	paid := page.Chart{Title: p.T("page.chart.usd", by), None: p.T("money.none") + ": –"}
	took := page.Chart{Title: p.T("page.chart.time", by), None: "–"}
	var most [4]float64
	for _, l := range rows {
		name := sanitize.Line(l.Key, 100)
		bar := func(c *page.Chart, n int, text string, values ...float64) {
			b := page.Bar{Name: name, Text: name + ": " + text}
			copy(b.Values[:], values)
			c.Bars = append(c.Bars, b)
			if sum := b.Values[0] + b.Values[1]; sum > most[n] {
				most[n], c.Max = sum, text
			}
		}
		lost := l.Stopped + l.Failed
		bar(&ended, 0, strconv.Itoa(l.Completed)+" / "+strconv.Itoa(lost), float64(l.Completed), float64(lost))
		bar(&used, 1, watch.Count(l.Prompt+l.Completion), float64(l.Prompt), float64(l.Completion))
		bar(&paid, 2, i18n.USD(l.CostUSD)+" USD", l.CostUSD)
		bar(&took, 3, active(l), l.Active)
	}
	return g.Group{ended.SVG(), used.SVG(), paid.SVG(), took.SVG()}
}

// money is what a row cost: "–" if that is not known, + if it is known of a part.
func money(l report.StatsRow) string {
	text := i18n.USD(l.CostUSD)
	if l.CostUSD > 0 && l.Unpriced > 0 {
		text += "+"
	}
	return text
}

// active is how long the agent worked.
func active(l report.StatsRow) string {
	return report.Age(time.Duration(l.Active * float64(time.Second)))
}

// way is the name of a way to group.
func (p statsPage) way(by string) string { return p.T(i18n.ID("stats.by." + by)) }
