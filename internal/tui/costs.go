package tui

import (
	"bytes"

	tea "charm.land/bubbletea/v2"

	"agent/eventlog"
	"agent/internal/term"
	"agent/internal/viewer"
)

// showCosts shows what model calls took by phase and action, of the whole log, as agent
// inspect --costs does at its end.
func (m *Model) showCosts() tea.Cmd {
	m.open.detail = detail{focused: true, costs: true}
	store, uuid, width := m.Store, m.open.uuid, m.width-1
	return func() tea.Msg {
		p := &page{Model: m, uuid: uuid, width: width}
		var ledger viewer.Ledger
		err := eachLine(store, uuid, 1, func(r eventlog.Record) bool {
			if call, ended := ledger.Add(r); ended {
				ledger.Count(call)
			}
			return true
		})
		p.head("tui.costs")
		var b bytes.Buffer
		viewer.PrintSums(term.Screen{Writer: &b, Width: width}, m.Lang, &ledger)
		p.add("", b.String())
		if err != nil {
			p.add(term.Bad, err.Error())
		}
		p.lines = append(p.lines, styled{})
		p.add(term.Aux, p.text("costs.more", uuid[:8]))
		return detailMsg{uuid: uuid, width: width, lines: p.lines}
	}
}

// unCost leaves the costs.
func (m *Model) unCost() {
	if m.open.detail.costs {
		m.open.detail = detail{}
	}
}
