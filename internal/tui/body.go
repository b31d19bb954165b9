package tui

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/internal/term"
	"agent/internal/timeline"
	"agent/internal/viewer"
)

// body shows a body that people read often; false if it has no form of its own.
func (p *page) body(b event.Body) bool {
	switch b := b.(type) {
	case *event.LLMRequested:
		p.add(term.Aux, b.Model+" · "+i18n.Phase(p.Lang, b.Purpose))
	case *event.LLMReplied:
		p.reply(b)
	case *event.ToolRequested:
		p.head("tui.arguments")
		p.json(b.Args.View())
	case *event.ToolReplied:
		p.head("tui.output")
		p.output(b.Content.View())
	case *event.MessageAdded:
		p.head("tui.message", i18n.Word(p.Lang, "message.", string(b.Purpose)))
		p.markdown(b.Content.View())
	case *event.CommentRequested:
		p.head("tui.comment", viewer.CommentPurpose(p.Lang, b.Purpose))
		p.markdown(viewer.Unfolded(b.Body.View()))
	case *event.TaskFetched:
		p.head("tui.by", b.Author)
		p.add(term.Head, b.Title)
		p.markdown(b.Body.View())
	case *event.SummaryAdded:
		p.head("tui.summary", b.From, b.To)
		p.markdown(b.Text.View())
	case *event.PlanMade:
		p.plan(b.Plan)
	case *event.PlanRevised:
		p.head("tui.revised", i18n.Word(p.Lang, "trigger.", b.Trigger))
		p.add("", b.Revision.Reason)
		p.actions(b.Revision.Actions)
	default:
		return false
	}
	return true
}

func (p *page) reply(b *event.LLMReplied) {
	if text := b.Reasoning.View(); strings.TrimSpace(text) != "" {
		p.head("tui.reasoning")
		p.add(term.Aux, text)
	}
	if b.Finish == "" || b.Finish == "stop" || b.Finish == "tool_calls" { // what is below shows it
		p.head("tui.reply")
	} else {
		p.head("tui.reply.cut", b.Finish)
	}
	p.markdown(b.Text.View())
	for _, call := range b.Calls {
		p.head("tui.call", timeline.ToolName(call.Name))
		p.json(call.Args.View())
	}
}

// json shows arguments. The texts in them, such as a file that is written, stand on lines
// of their own.
func (p *page) json(text string) {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &object) != nil {
		p.add("", text)
		return
	}
	names := []string{}
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		var word string
		if json.Unmarshal(object[name], &word) == nil && strings.Contains(word, "\n") {
			p.add(term.Name, name+":")
			p.add("", word)
			continue
		}
		var b bytes.Buffer
		if json.Compact(&b, object[name]) != nil {
			b.Write(object[name])
		}
		p.add("", name+": "+b.String())
	}
}

// output shows what a tool said; a patch in it has colours.
func (p *page) output(text string) {
	if strings.HasPrefix(text, "diff ") || strings.Contains(text, "\ndiff --git ") {
		p.patch(text)
		return
	}
	p.add("", text)
}

func (p *page) plan(plan event.Plan) {
	p.head("tui.plan")
	p.add("", plan.Goal.Objective)
	for _, c := range plan.Goal.Criteria {
		p.add("", " ✓ "+c)
	}
	for _, t := range plan.Decomposition.Subtasks {
		p.add("", " · "+t.ID+"  "+t.Description)
	}
	p.actions(plan.Actions)
}

func (p *page) actions(a event.ActionPlan) {
	p.head("tui.actions", len(a.Actions))
	for _, action := range a.Actions {
		p.add("", " "+action.ID+"  "+action.Purpose)
		if action.Tool != "" {
			p.add(term.Aux, "     "+action.Tool)
		}
	}
}
