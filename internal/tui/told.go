package tui

import (
	"encoding/json"
	"strings"

	"agent/eventlog"
	"agent/internal/i18n"
	"agent/internal/term"
	"agent/internal/timeline"
	"agent/internal/viewer"
)

// viewWhole is the view of a whole request.
const viewWhole i18n.ID = "tui.view.whole"

// asking is a request to the model whose words are shown, and what it goes on from.
type asking struct {
	seq   uint64 // of the request; 0: there is none
	since uint64 // the answer to the request before, or where the window begins
	lost  uint64 // a request since then that got no answer; 0: there is none
}

// askingOf is the request of a model call, or the next one after another row.
func (v *view) askingOf(row *timeline.Row) (a asking) {
	a.since = max(v.from, 1) - 1 // what was before the window is not read
	for i := range v.tl.Rows {
		r := &v.tl.Rows[i]
		if r.Kind != timeline.Model || r.Purpose != "" && r.Seq != row.Seq {
			continue
		}
		if r.Seq >= row.Seq {
			a.seq = r.Seq
			return a
		}
		if a.lost = r.Seq; r.Status == timeline.Done {
			a.since, a.lost = r.Outcome, 0
		}
	}
	return a
}

// told shows what the model was told after a row that is no call of it.
func (p *page) told(a asking, after uint64) {
	if a.seq == 0 {
		p.lines = append(p.lines, styled{})
		p.add(term.Aux, p.text("tui.asked.none"))
		return
	}
	a.since = max(a.since, after)
	p.asked(a)
	p.add(term.Aux, p.text("tui.asked.lead", a.seq))
}

// asked shows what a request tells the model that it was not told before.
func (p *page) asked(a asking) {
	p.head("tui.asked", a.seq)
	if a.lost > a.since {
		p.add(term.Aux, p.text("tui.asked.again", a.lost))
	}
	talk, some := viewer.Conversation{Blob: p.blob, Lang: p.Lang}, false
	err := eachLine(p.Store, p.uuid, a.since+1, func(r eventlog.Record) bool {
		if r.Seq >= a.seq || p.full() {
			return false
		}
		if m, ok := talk.Add(r); ok && told(r, m) {
			some = true
			p.message(m)
		}
		return true
	})
	if !some {
		p.add("", p.text("tui.asked.same"))
	}
	if err != nil {
		p.add(term.Bad, err.Error())
	}
}

// told tells whether a message is one that the model did not write itself.
func told(r eventlog.Record, m viewer.Message) bool {
	return m.Role != viewer.RoleMark && !strings.HasPrefix(string(r.Type), "llm.")
}

// message shows a message of the conversation under who says it, and what for.
func (p *page) message(m viewer.Message) {
	who, purpose := m.Names(p.Lang)
	title := who
	if purpose != "" && purpose != who {
		title += " · " + purpose
	}
	p.add(term.Name, title)
	if m.Role == "tool" {
		p.output(m.Text)
	} else {
		p.markdown(m.Text)
	}
	p.lines = append(p.lines, styled{})
}

// request shows a request whole, made again from the log. That takes all of the log before it.
func (p *page) request(seq uint64) {
	if m, err := p.Store.MarkOf(p.uuid); err == nil && m.Size > longLog {
		p.add(term.Waits, p.text("tui.asked.long", p.uuid[:8], seq))
		return
	}
	made, err := viewer.RequestAt(p.Store.Events(p.uuid), seq)
	if err == nil {
		err = made.Check()
	}
	if err != nil {
		p.add(term.Bad, err.Error())
		return
	}
	var body struct { // as llm.Request.Canonical writes it
		Messages []struct {
			Role, Content string
			Calls         []struct{ Name, Arguments string } `json:"tool_calls"`
		}
		Tools []struct{ Name string }
	}
	if err := json.Unmarshal(made.Body, &body); err != nil {
		p.add(term.Bad, err.Error())
		return
	}
	p.head("tui.asked.whole", seq, len(body.Messages))
	for i, m := range body.Messages {
		if i > 0 {
			p.lines = append(p.lines, styled{})
		}
		p.add(term.Name, i18n.Word(p.Lang, "role.", m.Role))
		p.output(m.Content)
		for _, call := range m.Calls {
			p.add(term.Name, p.text("tui.call", timeline.ToolName(call.Name)))
			p.json(call.Arguments)
		}
	}
	var tools []string
	for _, tool := range body.Tools {
		tools = append(tools, timeline.ToolName(tool.Name))
	}
	p.lines = append(p.lines, styled{})
	if len(tools) > 0 {
		p.add(term.Aux, p.text("tui.tools", strings.Join(tools, ", ")))
	}
	p.add(term.Aux, p.text("tui.asked.exact", p.uuid[:8], seq)+p.With)
}
