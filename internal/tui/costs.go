package tui

import (
	"bytes"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/internal/report"
	"agent/internal/term"
	"agent/internal/timeline"
	"agent/internal/viewer"
	"agent/projections"
)

// showCosts shows where tokens, money and time went, of the whole log: by phase and action
// as agent inspect --costs does, by step, by model and by tool.
func (m *Model) showCosts() tea.Cmd {
	m.open.detail = detail{focused: true, costs: true, behind: m.open.detail.focused}
	uuid, width := m.open.uuid, m.width-1
	return func() tea.Msg {
		p := &page{Model: m, uuid: uuid, width: width}
		line, tools, state := timeline.Timeline{Lang: m.Lang}, viewer.Tools{}, projections.NewState()
		err := eachLine(p.Store, uuid, 1, func(r eventlog.Record) bool {
			if ev, err := event.Decode(r); err == nil {
				line.AddEvent(ev)
				tools.Add(ev)
				state.Apply(ev)
			}
			return true
		})
		p.costs(&line, &tools, state)
		if err != nil {
			p.add(term.Bad, err.Error())
		}
		return detailMsg{uuid: uuid, width: width, lines: p.lines}
	}
}

func (p *page) costs(line *timeline.Timeline, tools *viewer.Tools, state *projections.State) {
	p.head("tui.costs")
	if info, err := p.Store.Info(p.uuid); err == nil {
		p.add("", report.Calls(p.Lang, info.Calls()))
		p.add("", p.text("calls.tools", info.ToolCalls)+" · "+p.text("inspect.tokens", i18n.Tokens(info.Tokens, info.Estimated))+" · "+i18n.Money(p.Lang, info.CostUSD))
	}
	ledger := line.Ledger
	var b bytes.Buffer
	viewer.PrintSums(term.Screen{Writer: &b, Width: p.width}, p.Lang, &ledger)
	p.add("", b.String())
	sums := ledger.Sums()
	for _, text := range viewer.TimeLines(p.Lang, state, tools, sums[len(sums)-1].Seconds) {
		p.add("", text)
	}
	p.steps(line.Steps)
	if models := ledger.Models(); len(models) > 0 {
		p.head("tui.costs.models")
		p.spentHeads()
		for _, s := range models {
			p.spent(s.Model, s.Spent, p.text("tui.costs.calls", s.Calls), float64(models[0].Prompt+models[0].Completion))
		}
	}
	if sums := tools.Sums(); len(sums) > 0 {
		p.head("tui.costs.tools")
		for _, s := range sums {
			text := pad(timeline.ToolName(s.Name), 24) + padLeft(p.text("tui.costs.calls", s.Calls), 11) + padLeft(took(s.Seconds), 8) + "  " + pad2(term.Bar(s.Seconds, sums[0].Seconds, costBar), costBar)
			if s.Failed > 0 {
				text += "  " + p.text("tui.failed", s.Failed)
			}
			p.add("", text)
		}
	}
	p.lines = append(p.lines, styled{})
	p.add(term.Aux, p.text("costs.more", p.uuid[:8])+p.With)
}

// costBar is how long a bar is.
const costBar = 16

// steps shows what each step took, in their order: the time of the model, and that of tools.
func (p *page) steps(all []timeline.Sum) {
	if len(all) == 0 {
		return
	}
	most := 0
	for _, s := range all {
		most = max(most, s.Prompt+s.Completion)
	}
	p.head("tui.costs.steps")
	p.spentHeads()
	for _, s := range all {
		name := i18n.Phase(p.Lang, s.Purpose)
		if s.Purpose == "" {
			name = "s" + strconv.Itoa(s.Step)
		}
		p.spent(name, s.Spent, p.text("tui.costs.times", took(s.Seconds), took(s.ToolSeconds)), float64(most))
	}
}

// spentHeads are the names of the columns of [page.spent].
func (p *page) spentHeads() {
	p.add(term.Aux, pad("", 14)+padLeft(p.text("costs.tokens"), 8)+strings.Repeat(" ", 2+costBar)+padLeft("USD", 12))
}

// spent is a line with a bar.
func (p *page) spent(name string, s viewer.Spent, more string, most float64) {
	n := s.Prompt + s.Completion
	p.add("", pad(name, 14)+padLeft(i18n.Tokens(n, s.Estimated), 8)+"  "+pad2(term.Bar(float64(n), most, costBar), costBar)+padLeft(i18n.USD(s.CostUSD), 12)+"  "+more)
}

// unCost leaves the costs.
func (m *Model) unCost() {
	if m.open.detail.costs {
		m.open.detail = detail{focused: m.open.detail.focused}
	}
}
