package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"agent/eventlog/event"
	"agent/internal/loosejson"
	"agent/llm"
	"agent/llm/textcall"
)

// callModel sends the request once. A pause cancels it. The draft of a summary
// has the sources of the summary, so that both can be forgotten.
func (e *Engine) callModel(ctx context.Context, outside bool, r *llm.Request, again bool) (event.Body, error) {
	if again || r == nil {
		return &event.LLMFailed{Kind: event.Interrupted, Message: "the process ended before the reply was recorded"}, nil
	}
	callCtx, cancel := e.untilSignal(ctx)
	defer cancel()
	start := time.Now()
	reply, err := e.p.Model.Complete(callCtx, *r)
	if err != nil {
		return e.modelFailure(callCtx, *r, err), nil
	}
	body := e.replied(*r, reply, time.Since(start))
	if outside {
		body.Sources = e.state.Lineage.Sources
	}
	return body, nil
}

func (e *Engine) replied(r llm.Request, reply llm.Reply, took time.Duration) *event.LLMReplied {
	reply, written := withWrittenCalls(r, reply)
	usage := usageOf(r, reply)
	body := &event.LLMReplied{
		Text: event.T(clean(reply.Text)), Reasoning: event.T(clean(reply.Reasoning)), Finish: reply.FinishReason,
		Usage: usage, Model: reply.Model, API: reply.API, DurationMS: took.Milliseconds(), Raw: event.T(clean(string(reply.Raw))),
		CostUSD: e.p.Cost(r.Model, reply.Usage), Shape: reply.Shape,
	}
	if o := reply.Opaque; o != nil {
		body.Opaque, body.From = event.T(clean(string(o.Data))), clean(o.From)
	}
	for _, c := range reply.Calls[:min(len(reply.Calls), mostCalls)] {
		body.Calls = append(body.Calls, event.ToolCall{ID: clean(c.ID), Name: clean(c.Name), Args: event.T(clean(c.Arguments)), Written: written})
	}
	return body
}

// withWrittenCalls takes the calls that the model wrote into its text, if the
// server gave none. Their ids are unique within the conversation.
func withWrittenCalls(r llm.Request, reply llm.Reply) (llm.Reply, bool) {
	if len(reply.Calls) > 0 || len(r.Tools) == 0 || reply.FinishReason == "length" {
		return reply, false
	}
	found := textcall.Read(loosejson.StripThinking(reply.Text), r.Tools)
	if len(found.Calls) == 0 {
		return reply, false
	}
	reply.Text, reply.Calls = found.Prose, found.Calls
	for i := range reply.Calls {
		reply.Calls[i].ID = fmt.Sprintf("call_%d_%d", len(r.Messages), i)
	}
	return reply, true
}

// mostCalls is how many calls of a reply are kept. Of those only the first few
// are performed; the raw reply holds all.
const mostCalls = 32

// usageOf takes the provider's count where it can be true, else our estimate.
func usageOf(r llm.Request, reply llm.Reply) event.Usage {
	u := reply.Usage
	if u.Known && u.Prompt > 0 && u.Completion >= 0 {
		return event.Usage{Prompt: u.Prompt, Completion: u.Completion, Cached: u.Cached, Reasoning: u.Reasoning}
	}
	written := llm.Estimate(reply.Text) + llm.Estimate(reply.Reasoning)
	for _, c := range reply.Calls {
		written += llm.Estimate(c.Arguments)
	}
	return event.Usage{Prompt: llm.EstimateRequest(r), Completion: written, Estimated: true}
}

// modelFailure turns an error into an event, with the time of the next try.
func (e *Engine) modelFailure(ctx context.Context, r llm.Request, err error) *event.LLMFailed {
	var failed *llm.Error
	if ctx.Err() != nil {
		return &event.LLMFailed{Kind: event.Interrupted, Message: context.Cause(ctx).Error()}
	}
	if !errors.As(err, &failed) {
		failed = &llm.Error{Kind: llm.Transient, Message: err.Error()}
	}
	body := &event.LLMFailed{Kind: string(failed.Kind), Status: failed.Status, Message: clean(r.Conceal(failed.Message)), Partial: event.T(clean(failed.Partial)), Window: failed.Window, Shape: failed.Shape}
	if u := failed.Usage; u.Known {
		body.Usage = event.Usage{Prompt: u.Prompt, Completion: u.Completion, Cached: u.Cached, Reasoning: u.Reasoning}
		body.CostUSD = e.p.Cost(r.Model, u)
	}
	if wait := e.modelWait(failed); wait > 0 {
		body.NotBefore = e.p.Now().UTC().Add(wait).Truncate(time.Microsecond)
	}
	return body
}

// clean makes text from outside storable and sendable: a lone surrogate or a
// NUL in one message would make every later request fail.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// checkTools lists the tools once per process and appends the list if it is
// not the one that the log holds.
func (e *Engine) checkTools(ctx context.Context) (changed bool, err error) {
	if e.checked {
		return false, nil
	}
	listed, err := e.listTools(ctx)
	if errors.Is(err, errRecorded) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	e.checked = true
	if sameTools(listed, e.state.Tools) && e.state.Image == nil {
		return false, nil
	}
	return true, e.input(listed)
}
