package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"agent/internal/i18n"
	"agent/llm"
)

// dialogue plays a small conversation with a model, as a task would have it: a summary
// that an earlier attempt left, a call, its result, a comment of a person, and a
// question for a plan. What servers refuse, they refuse in one of these.
type dialogue struct {
	model   llm.Provider
	request llm.Request
	tools   []llm.Tool
	shape   []string // steps away from the profile that were needed
	turn    i18n.ID  // that was asked for last
}

// pong is the tool that the conversation is about.
var pong = llm.Tool{Name: "ping", Description: "Answers pong.", Schema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)}

var planSchema = json.RawMessage(`{"type":"object","properties":{"next":{"type":"string"}},"required":["next"],"additionalProperties":false}`)

func newDialogue(model llm.Provider, r llm.Request, calls bool) *dialogue {
	p := &dialogue{model: model, request: r}
	if calls {
		p.tools = []llm.Tool{pong}
	}
	p.request.Messages = []llm.Message{
		{Role: llm.System, Content: "You are being tested. Do exactly what you are told, and say nothing else."},
		{Role: llm.Assistant, Content: "Summary of an earlier attempt: nothing was done yet."},
		{Role: llm.User, Content: "Call the tool ping once. If you have no tools, say ping."},
	}
	return p
}

// first is the turn that must lead to a call.
func (p *dialogue) first(ctx context.Context) (llm.Reply, error) {
	p.request.Tools = p.tools
	return p.ask(ctx, "doctor.turn.call")
}

// rest are the turns after it.
func (p *dialogue) rest(ctx context.Context, reply llm.Reply) error {
	p.answer(reply)
	p.say("A comment of a person: call ping once more, and then say done.")
	reply, err := p.ask(ctx, "doctor.turn.comment")
	if err != nil {
		return err
	}
	p.answer(reply)
	p.say(`What would you do next? Reply with one JSON object: {"next": "a few words"}.`)
	p.request.Kept, p.request.Tools, p.request.JSON, p.request.Schema = p.tools, nil, true, planSchema
	if reply, err = p.ask(ctx, "doctor.turn.plan"); err != nil {
		return err
	}
	p.answer(reply)
	p.say("Say done.")
	p.request.Kept, p.request.Tools, p.request.JSON, p.request.Schema = nil, p.tools, false, nil
	_, err = p.ask(ctx, "doctor.turn.last")
	return err
}

// answer puts a reply and the results of its calls into the conversation.
func (p *dialogue) answer(r llm.Reply) {
	p.request.Messages = append(p.request.Messages, llm.Message{Role: llm.Assistant, Content: r.Text, Calls: r.Calls, Reasoning: r.Opaque})
	for _, c := range r.Calls {
		p.request.Messages = append(p.request.Messages, llm.Message{Role: llm.ToolRole, Content: "pong", CallID: c.ID, Name: c.Name})
	}
}

func (p *dialogue) say(text string) {
	p.request.Messages = append(p.request.Messages, llm.Message{Role: llm.User, Content: text})
}

// ask takes the next plainer shape after each refusal that nothing names, as a task does.
func (p *dialogue) ask(ctx context.Context, turn i18n.ID) (llm.Reply, error) {
	p.turn = turn
	for {
		reply, err := p.model.Complete(ctx, p.request)
		if err == nil {
			p.note(reply.Shape)
			return reply, nil
		}
		var failed *llm.Error
		if !errors.As(err, &failed) || failed.Kind != llm.Invalid {
			return reply, err
		}
		p.note(failed.Shape)
		i := slices.IndexFunc(llm.Ladder, func(step string) bool { return !slices.Contains(p.request.Shape, step) })
		if i < 0 || llm.Ladder[i] == llm.StepJSON {
			return reply, err
		}
		p.request.Shape = append(slices.Clip(p.request.Shape), llm.Ladder[i])
		p.note(p.request.Shape)
	}
}

func (p *dialogue) note(steps []string) {
	for _, step := range steps {
		if !slices.Contains(p.shape, step) {
			p.shape = append(p.shape, step)
		}
	}
}

const conversation = "conversation"

// converse finds out whether a task would be refused later than in its first call.
func (d *doctor) converse(p *dialogue, reply llm.Reply, began time.Time, profile string) {
	ctx, cancel := d.within(time.Duration(d.Config.LLM.TimeoutSeconds) * time.Second)
	defer cancel()
	err := p.rest(ctx, reply)
	switch {
	case err != nil:
		result, todo := Failed, i18n.ID("doctor.todo.conversation")
		if len(p.tools) > 0 && d.Config.LLM.Protocol == "auto" {
			result = Warning // the JSON protocol is left
		}
		d.note(conversation, result, d.text("doctor.conversation.refused", d.text(p.turn), err), d.text(todo))
	case len(p.shape) > 0:
		d.note(conversation, Warning, d.text("doctor.conversation.shaped", strings.Join(p.shape, ", ")), d.text("doctor.todo.shaped"))
	case profile != "":
		d.ok(conversation, "doctor.conversation.profile", profile, time.Since(began).Round(time.Millisecond))
	default:
		d.ok(conversation, "doctor.conversation", time.Since(began).Round(time.Millisecond))
	}
}
