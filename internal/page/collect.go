package page

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/internal/term"
	"agent/internal/viewer"
	"agent/projections"
)

func (b *builder) blob(hash string) ([]byte, error) {
	data, err := b.src.Store.Blob(b.src.Info.UUID, hash)
	b.spare -= len(data)
	return data, err
}

// whole is a text, from its blob if it is not in the line.
func (b *builder) whole(t event.Text) string {
	if t.Spilled() && t.Whole == "" {
		if data, err := b.blob(t.Blob); err == nil {
			return string(data)
		}
	}
	return t.View()
}

// collect takes the texts of an event again, in a second reading.
func (b *builder) collect(r eventlog.Record) {
	ev, err := event.Decode(r)
	if err != nil {
		b.of(r.Seq).parts = append(b.of(r.Seq).parts, Part{HTML: b.text(string(r.Data))})
		return
	}
	event.Fetch(ev.Body, b.blob)
	b.texts(ev)
}

// texts are those of the rows that are shown.
func (b *builder) texts(ev event.Event) {
	b.message(ev)
	x := b.of(ev.Seq)
	part := func(label i18n.ID, text string) {
		if text != "" {
			x.parts = append(x.parts, Part{Label: b.doc.T(label), HTML: b.text(text)})
		}
	}
	switch body := ev.Body.(type) {
	case *event.LLMRequested, *event.LLMReplied, *event.MessageAdded, *event.SummaryAdded:
	case *event.ToolRequested:
		part("page.arguments", pretty(b.whole(body.Args)))
		b.carriedOut(body, ev.Seq)
	case *event.ToolReplied:
		part("page.output", cmp.Or(b.whole(body.Content), b.doc.T("page.empty")))
	case *event.ToolFailed:
		part("page.output", body.Kind+": "+body.Message)
	case *event.ToolInterrupted:
		part("page.output", body.Reason)
	case *event.CommentRequested, *event.CommentPosted, *event.CommentFailed:
		b.comment(ev)
	case *event.CommentsFetched:
		b.comment(ev)
		part("", b.fields(ev))
	case *event.WorkspaceSaved:
		x.from, x.to = body.From, body.Tree
		if ev.Cause == 0 || len(body.NotSaved) > 0 || body.Error != "" {
			part("", b.fields(ev))
		}
	case *event.PlanMade, *event.PlanRevised:
		b.plan(ev)
		part("", b.fields(ev))
	default:
		if b.why[ev.Seq] == "" { // else the row says it in words
			part("", b.fields(ev))
		}
	}
}

// fields are those of an event, as agent inspect CONTEXT SEQ shows them.
func (b *builder) fields(ev event.Event) string {
	var out bytes.Buffer
	p := viewer.Printer{Screen: term.Screen{Writer: &out, Width: term.PlainWidth}, Lang: b.src.Lang, UUID: b.src.Info.UUID, Blob: b.blob}
	p.Fields(ev)
	return out.String()
}

// pretty lays out JSON over lines, with texts of several lines as such.
func pretty(args string) string {
	var out bytes.Buffer
	if json.Indent(&out, []byte(args), "", "  ") != nil {
		return args
	}
	return out.String()
}

// message adds what an event says in the conversation.
func (b *builder) message(ev event.Event) {
	m, ok := b.talk.AddEvent(ev)
	if !ok {
		return
	}
	who, purpose := m.Names(b.src.Lang)
	t := Talk{Seq: m.Seq, Role: b.line(m.Role), Who: b.line(who), Purpose: b.line(purpose), Mark: m.Role == viewer.RoleMark}
	t.Failed = viewer.Failed(ev)
	switch body := ev.Body.(type) {
	case *event.LLMReplied:
		t.HTML = b.text(strings.TrimSpace(b.whole(body.Text)))
		if thought := strings.TrimSpace(b.whole(body.Reasoning)); thought != "" {
			t.Thought = b.text(thought)
		}
		for _, c := range body.Calls {
			t.Calls = append(t.Calls, Call{Name: b.line(c.Name)})
		}
	case *event.MessageAdded:
		t.HTML = b.text(b.whole(body.Content))
	case *event.SummaryAdded:
		t.HTML = b.text(b.whole(body.Text))
	case *event.ToolReplied, *event.ToolFailed, *event.ToolInterrupted:
		t.Row, t.Text = b.shown(ev.Cause), b.line(firstLine(m.Text))
		if t.Row == 0 {
			t.HTML = b.text(m.Text)
		}
	default:
		t.Text = b.line(m.Mark(b.src.Lang, b.why[m.Seq]))
		if !t.Mark {
			t.HTML, t.Text = b.text(m.Text), ""
		}
	}
	b.doc.Talk = append(b.doc.Talk, t)
	b.of(ev.Seq).talk = ev.Seq
}

// shown is the row of an event, 0 if it is not on the page.
func (b *builder) shown(seq uint64) uint64 {
	if i, ok := b.at[seq]; ok {
		return b.kept[i].Seq
	}
	return 0
}

// carriedOut links a call of a reply to its row.
func (b *builder) carriedOut(call *event.ToolRequested, seq uint64) {
	for i := len(b.doc.Talk) - 1; i >= 0 && b.doc.Talk[i].Seq >= call.Reply; i-- {
		if t := &b.doc.Talk[i]; t.Seq == call.Reply && call.Index >= 0 && call.Index < len(t.Calls) {
			t.Calls[call.Index].Row = seq
		}
	}
}

// comment adds comments to the page, and what became of ours.
func (b *builder) comment(ev event.Event) {
	ours := func() *Comment {
		for i := len(b.doc.Comments) - 1; i >= 0; i-- {
			if c := &b.doc.Comments[i]; c.Seq == ev.Cause && c.Ours {
				return c
			}
		}
		return &Comment{}
	}
	switch body := ev.Body.(type) {
	case *event.CommentRequested:
		b.doc.Comments = append(b.doc.Comments, Comment{Seq: ev.Seq, ID: fmt.Sprintf("c%d", ev.Seq), Ours: true, Purpose: b.line(viewer.CommentPurpose(b.src.Lang, body.Purpose)), Time: clock(ev.Time), Edit: body.Edit != "",
			HTML: Markdown(b.room(viewer.Unfolded(b.whole(body.Body))))})
		b.of(ev.Seq).comment = ev.Seq
	case *event.CommentPosted:
		c := ours()
		c.URL = Web(body.URL)
		if body.Simulated != "" {
			c.Note = b.doc.T("page.simulated")
		}
	case *event.CommentFailed:
		ours().Failed = b.line(body.Kind + ": " + body.Message)
	case *event.CommentsFetched:
		for i, c := range body.Comments {
			text := b.whole(c.Body)
			if text == "" {
				continue
			}
			id := fmt.Sprintf("c%d", ev.Seq)
			if n := len(b.doc.Comments); n > 0 && b.doc.Comments[n-1].Seq == ev.Seq {
				id = fmt.Sprintf("c%d-%d", ev.Seq, i+1)
			}
			b.doc.Comments = append(b.doc.Comments, Comment{Seq: ev.Seq, ID: id, Who: b.line("@" + c.Author), Purpose: b.line(i18n.Word(b.src.Lang, "class.", string(c.Verdict))), Time: clock(c.Created), HTML: Markdown(b.room(text))})
			b.of(ev.Seq).comment = ev.Seq
		}
	}
}

// plan adds a plan or its revision.
func (b *builder) plan(ev event.Event) {
	p := Plan{Seq: ev.Seq, Clock: clock(ev.Time)}
	actions := event.ActionPlan{}
	switch body := ev.Body.(type) {
	case *event.PlanMade:
		p.Goal, actions = b.line(body.Plan.Goal.Objective), body.Plan.Actions
		for _, c := range body.Plan.Goal.Criteria {
			p.Criteria = append(p.Criteria, b.line(c))
		}
	case *event.PlanRevised:
		p.Revision, p.Reason, p.Trigger, actions = 1, b.line(body.Revision.Reason), b.line(i18n.Word(b.src.Lang, "trigger.", body.Trigger)), body.Revision.Actions
		if n := len(b.doc.Plans); n > 0 {
			p.Revision = b.doc.Plans[n-1].Revision + 1
		}
		for _, c := range body.Revision.Changes {
			p.Changes = append(p.Changes, b.line(c.Type+": "+c.Details))
		}
	}
	for _, a := range actions.Actions {
		p.Actions = append(p.Actions, b.action(a))
	}
	b.doc.Plans = append(b.doc.Plans, p)
}

func (b *builder) action(a event.Action) PlanAction {
	out := PlanAction{ID: b.line(a.ID), Purpose: b.line(a.Purpose), Tool: b.line(a.Tool)}
	if b.state == nil {
		return out
	}
	for _, known := range b.state.Planning.Actions {
		if known.ID == a.ID {
			out.Status = cmp.Or(known.Status, "pending")
			if i := b.state.Planning.Current; known.Status == "" && i >= 0 && i < len(b.state.Planning.Actions) && b.state.Planning.Actions[i].ID == a.ID {
				out.Status = "current"
			}
			out.StatusText = i18n.Text(b.src.Lang, i18n.OrOther("page.action.", out.Status))
		}
	}
	return out
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimLeft(s, "\n"), "\n")
	return s
}

// taskURL is the address of the task on the web.
func taskURL(s *projections.State) string {
	if s == nil || s.Task == nil {
		return ""
	}
	return Web(s.Task.URL)
}

func number(n int) string { return fmt.Sprint(n) }
