package viewer

import (
	"fmt"
	"strings"
	"time"

	"agent/eventlog"
	"agent/internal/i18n"
	"agent/internal/sanitize"
	"agent/internal/term"
	"agent/internal/watch"
)

// costs prints the lines of a ledger as they come, so that a log of any size begins to show at once.
type costs struct {
	*Printer
	ledger                         Ledger
	times                          times
	part                           bool   // not all events are shown
	headed                         bool   // the headings are there
	openFits                       bool   // the call without an outcome is shown
	model                          string // of the latest line
	estimated, unpriced, anyPriced bool   // marks that were shown
}

// costWidths are the columns: number, step, prompt, cached, output, money, time. The
// result gets what is left of the line.
var costWidths = []int{5, -16, 7, 10, 7, 8, 6}

// costLine lays out the cells. Those of a negative width are left-aligned.
func (c *costs) line(color term.Color, cells ...string) {
	var b strings.Builder
	used := 0
	for i, cell := range cells {
		if i == len(costWidths) { // the last one
			b.WriteString("  " + c.Screen.Paint(color, term.Line(cell, max(c.Screen.Width-used-2, 10))))
			break
		}
		w, left := costWidths[i], false
		if w < 0 {
			w, left = -w, true
		}
		cell = term.Line(cell, w)
		pad := strings.Repeat(" ", w-term.Columns(cell))
		if i > 0 {
			b.WriteString(" ")
		}
		if left {
			b.WriteString(" " + cell + pad)
		} else {
			b.WriteString(pad + cell)
		}
		used += w + 1
	}
	fmt.Fprintln(c.Screen, strings.TrimRight(b.String(), " "))
}

func (c *costs) heads(first, last i18n.ID) {
	cells := []string{}
	for _, id := range []i18n.ID{first, "costs.step", "costs.prompt", "costs.cached", "costs.output"} {
		cells = append(cells, i18n.Text(c.Lang, id))
	}
	cells = append(cells, "USD", i18n.Text(c.Lang, "costs.time"))
	c.line(term.Aux, append(cells, i18n.Text(c.Lang, last))...)
}

func (c *costs) Record(r eventlog.Record, fits bool) {
	c.part = c.part || !fits
	c.times.add(r)
	if string(r.Type) == "llm.requested" {
		c.openFits = fits
	}
	if call, ok := c.ledger.Add(r); ok && fits {
		c.count(call)
	}
}

func (c *costs) count(call Call) {
	c.ledger.Count(call)
	if c.JSON {
		c.json(call)
		return
	}
	c.call(call)
}

func (c *costs) End() {
	if call, ok := c.ledger.Open(); ok && c.openFits {
		c.count(call)
	}
	sums := c.ledger.Sums()
	if !c.JSON {
		c.sums(sums)
		if c.part || c.ledger.Total.Calls == 0 {
			return
		}
		for _, line := range c.times.lines(c.Lang, c.ledger.Total.Seconds) {
			fmt.Fprintln(c.Screen, c.Screen.Paint(term.Aux, term.Line(line, c.Screen.Width)))
		}
		return
	}
	for _, s := range sums {
		c.json(s)
	}
}

// call prints a model call.
func (c *costs) call(call Call) {
	if call.Model != c.model || !c.headed {
		if !c.headed {
			c.heads("costs.seq", "costs.result")
		}
		c.model, c.headed = call.Model, true
		fmt.Fprintln(c.Screen, c.Screen.Paint(term.Aux, "── "+sanitize.Line(call.Model, 100)))
	}
	color := term.Color("")
	result := call.Finish
	switch call.Outcome {
	case CallReplied:
		if len(call.Tools) > 0 {
			result = toolNames(call.Tools)
		}
	case CallFailed:
		color, result = term.Bad, i18n.Text(c.Lang, "costs.failed", sanitize.Line(call.Error, 60))
	case CallInterrupted:
		color, result = term.Waits, i18n.Text(c.Lang, "costs.interrupted")
	case CallOpen:
		color, result = term.Waits, i18n.Text(c.Lang, "costs.open")
	}
	phase, action := call.Step()
	cells := append([]string{fmt.Sprint(call.Seq), strings.TrimSpace(i18n.Phase(c.Lang, phase) + " " + action)}, c.spent(call.Spent)...)
	c.line(color, append(cells, result)...)
}

// toolNames are the tools without their servers: there is little room.
func toolNames(names []string) string {
	var short []string
	for _, name := range names {
		if _, tool, ok := strings.Cut(name, "__"); ok {
			name = tool
		}
		short = append(short, name)
	}
	return strings.Join(short, ", ")
}

// PrintSums prints the sums of a ledger by phase and action, and what its marks mean.
func PrintSums(s term.Screen, lang i18n.Lang, l *Ledger) {
	if call, ok := l.Open(); ok {
		l.Count(call)
	}
	(&costs{Printer: &Printer{Screen: s, Lang: lang}}).sums(l.Sums())
}

// spent are the cells of tokens, money and time. What is not known is "–".
func (c *costs) spent(s Spent) []string {
	number := func(n int, estimated bool) string {
		if s.Prompt+s.Completion == 0 || s.Estimated && n == 0 {
			return "–"
		}
		c.estimated = c.estimated || estimated
		return i18n.Tokens(n, estimated)
	}
	usd := ""
	if s.Unpriced > 0 || s.CostUSD > 0 {
		usd = i18n.USD(s.CostUSD)
	}
	c.unpriced = c.unpriced || s.Unpriced > 0
	c.anyPriced = c.anyPriced || s.CostUSD > 0
	if s.Unpriced > 0 && s.CostUSD > 0 {
		usd += "+"
	}
	took := "–"
	if s.timed {
		took = seconds(s.Seconds)
	}
	cached := "–"
	if s.Cached > 0 {
		cached = fmt.Sprint(s.Cached)
	}
	return []string{number(s.Prompt, s.Estimated), cached, number(s.Completion, s.EstimatedOutput), usd, took}
}

func seconds(s float64) string { return watch.Duration(time.Duration(s * float64(time.Second))) }

// sums prints the subtotals, the total, and what the marks mean.
func (c *costs) sums(all []Sum) {
	if all[len(all)-1].Calls == 0 {
		fmt.Fprintln(c.Screen, i18n.Text(c.Lang, "costs.none"))
		return
	}
	fmt.Fprintln(c.Screen)
	c.heads("costs.calls", "costs.tokens")
	for _, s := range all {
		name := i18n.Phase(c.Lang, s.Phase)
		switch s.Kind {
		case "action":
			name = "· " + s.Action
		case "total":
			name = i18n.Text(c.Lang, "costs.total")
		}
		cells := append([]string{fmt.Sprint(s.Calls), name}, c.spent(s.Spent)...)
		c.line("", append(cells, i18n.Tokens(s.Prompt+s.Completion, s.Estimated))...) // that of the total is the one of the header
	}
	notes := []i18n.ID{}
	if c.unpriced {
		notes = append(notes, "money.note")
	}
	if c.unpriced && c.anyPriced {
		notes = append(notes, "money.partial")
	}
	if c.estimated {
		notes = append(notes, "money.estimate")
	}
	for _, id := range notes {
		fmt.Fprintln(c.Screen, c.Screen.Paint(term.Aux, term.Line(i18n.Text(c.Lang, id), c.Screen.Width)))
	}
}
