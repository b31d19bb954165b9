package show

import (
	"fmt"
	"strconv"
	"time"

	"agent/internal/i18n"
	"agent/internal/report"
	"agent/internal/term"
	"agent/internal/watch"
)

// barWidth is how long a bar may be on a screen of at least roomy columns.
const (
	barWidth = 20
	roomy    = 110
)

// Stats prints the sums.
func (p *Printer) Stats(r *report.Stats) {
	cells, flex := p.outcomes, []int{0}
	if r.By == "task" || r.By == "context" {
		cells, flex = p.spending, []int{0, 1}
	}
	if r.By == "tool" {
		cells = p.tools
	}
	t := term.Table{Flex: flex, Left: false}
	t.Row(cells(r.By, nil)...)
	largest, width := 0.0, barWidth
	if p.Screen.Terminal && p.Screen.Width < roomy {
		width = 0 // the numbers need the room
	}
	for _, s := range r.Rows {
		largest = max(largest, weight(r.By, s))
	}
	for _, s := range r.Rows {
		name := s.Key
		if r.By == "phase" {
			name = i18n.Phase(p.Lang, s.Key)
		}
		t.Row(append(cells(name, &s), term.Bar(weight(r.By, s), largest, width))...)
	}
	t.Row(append(cells(p.text("stats.total"), &r.Total), "")...)
	t.Color = func(row, _ int) term.Color {
		if row == 0 && p.Screen.Terminal {
			return term.Aux
		}
		return ""
	}
	t.Print(p.Screen)
	p.moneyNotes(r.Total.Unpriced, r.Total.CostUSD)
	if r.Total.Estimated {
		p.paint(term.Aux, p.text("money.estimate"))
	}
}

// weight is what the bar of a row shows: its tokens, or the time of a tool.
func weight(by string, l report.StatsRow) float64 {
	if by == "tool" {
		return l.Active
	}
	return float64(l.Prompt + l.Completion)
}

// moneyNotes explain the marks of money that is not known.
func (p *Printer) moneyNotes(unpriced int, usd float64) {
	if unpriced == 0 {
		return
	}
	p.paint(term.Aux, p.text("money.note"))
	if usd > 0 {
		p.paint(term.Aux, p.text("money.partial"))
	}
}

// outcomes are the cells of a row that holds many contexts; without one the headings.
func (p *Printer) outcomes(key string, l *report.StatsRow) []string {
	if l == nil {
		return []string{p.text(i18n.ID("stats.by." + key)), p.text("stats.runs"), p.text("stats.completed"), p.text("stats.stopped"), p.text("stats.failed"),
			p.text("stats.calls"), p.text("stats.tools"), p.text("stats.tokens"), p.text("stats.cached"), "USD", p.text("stats.active"), ""}
	}
	n := strconv.Itoa
	return []string{key, n(l.Runs), n(l.Completed), n(l.Stopped), n(l.Failed), n(l.Begun), n(l.Tools), i18n.Tokens(l.Prompt+l.Completion, l.Estimated), share(l.Cached, l.Prompt), money(l), active(l)}
}

// tools are the cells of a row that holds the calls of a tool, which takes no tokens of its own.
func (p *Printer) tools(key string, l *report.StatsRow) []string {
	if l == nil {
		return []string{p.text("stats.by.tool"), p.text("stats.tools"), p.text("stats.failed"), p.text("stats.time"), ""}
	}
	return []string{key, strconv.Itoa(l.Tools), strconv.Itoa(l.Failed), active(l)}
}

// spending are the cells of a row that holds a task or a context.
func (p *Printer) spending(key string, l *report.StatsRow) []string {
	if l == nil {
		calls, tools := i18n.ID("stats.calls"), i18n.ID("stats.tools")
		if p.Screen.Terminal && p.Screen.Width < roomy {
			calls, tools = "stats.calls.short", "stats.tools.short"
		}
		return []string{p.text(i18n.ID("stats.by." + key)), p.text("stats.title"), p.text(calls), p.text(tools), p.text("stats.tokens"), p.text("stats.cached"), "USD", p.text("stats.active"), ""}
	}
	if len(key) == len("00000000-0000-0000-0000-000000000000") {
		key = key[:8] // of a context: every command takes the beginning
	}
	n := strconv.Itoa
	return []string{key, l.Title, n(l.Begun), n(l.Tools), i18n.Tokens(l.Prompt+l.Completion, l.Estimated), share(l.Cached, l.Prompt), money(l), active(l)}
}

// money is what a row cost; + if a part of it has no price.
func money(l *report.StatsRow) string {
	text := i18n.USD(l.CostUSD)
	if l.CostUSD > 0 && l.Unpriced > 0 {
		text += "+"
	}
	return text
}

func active(l *report.StatsRow) string {
	return watch.Duration(time.Duration(l.Active * float64(time.Second)))
}

// share is how many of all, in per cent.
func share(some, all int) string {
	if all <= 0 {
		return "-"
	}
	return fmt.Sprintf("%d %%", some*100/all)
}
