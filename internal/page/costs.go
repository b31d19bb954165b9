package page

import (
	"strings"

	"agent/internal/timeline"
	"agent/internal/viewer"
)

// costs makes the tables of what phases and actions, models and tools took.
func (b *builder) costs() {
	ledger := b.rows.Ledger // a copy: the open call is counted in it only
	if open, ok := ledger.Open(); ok {
		ledger.Count(open)
	}
	sums := ledger.Sums()
	largest := largestOf(sums[:len(sums)-1])
	for _, s := range sums {
		c := b.cost(b.phaseName(s.Phase), s.Spent)
		switch s.Kind {
		case "action":
			c.Name, c.Indent = strings.TrimSpace(b.line(s.Action)), true
		case "total":
			c.Name, c.Total = b.doc.T("costs.total"), true
		}
		if !c.Total {
			c.bar(s.Spent, largest)
		}
		b.doc.Costs = append(b.doc.Costs, c)
	}
	if models := ledger.Models(); len(models) > 1 {
		largest := largestOf(models)
		for _, s := range models {
			c := b.cost(s.Model, s.Spent)
			c.bar(s.Spent, largest)
			b.doc.Models = append(b.doc.Models, c)
		}
	}
	b.doc.Times = viewer.TimeLines(b.src.Lang, b.state, &b.tools, sums[len(sums)-1].Seconds)
	tools := b.tools.Sums()
	for _, s := range tools {
		name, took := b.line(timeline.ToolName(s.Name)), duration(s.Seconds)
		b.doc.Tools = append(b.doc.Tools, ToolCost{Name: name, Calls: s.Calls, Failed: s.Failed, Time: took, Bar: Meter(s.Seconds, tools[0].Seconds, name+" "+took)})
	}
}

func (b *builder) cost(name string, s viewer.Spent) Cost {
	b.doc.Estimated = b.doc.Estimated || s.Estimated
	return Cost{Name: strings.TrimSpace(b.line(name)), Calls: s.Calls, Prompt: tokens(s.Prompt, s.Estimated), Cached: tokens(s.Cached, false),
		Output: tokens(s.Completion, s.EstimatedOutput), USD: usd(s), Time: duration(s.Seconds), Tokens: s.Prompt + s.Completion}
}

// bar shows the money beside the largest, or tokens where no price is known.
func (c *Cost) bar(s, largest viewer.Spent) {
	if largest.CostUSD > 0 {
		c.Bars = Meter(s.CostUSD, largest.CostUSD, c.Name+" "+c.USD+" USD")
	} else {
		c.Bars = Meter(float64(c.Tokens), float64(largest.Prompt), c.Name+" "+number(c.Tokens))
	}
}

// largestOf has the largest cost, and as its prompt the largest number of tokens.
func largestOf(all []viewer.Sum) (largest viewer.Spent) {
	for _, s := range all {
		largest.Prompt = max(largest.Prompt, s.Prompt+s.Completion)
		largest.CostUSD = max(largest.CostUSD, s.CostUSD)
	}
	return largest
}
