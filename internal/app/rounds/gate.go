package rounds

import (
	"context"
	"errors"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/handlers"
	"agent/handlers/policy"
	"agent/internal/startup"
	"agent/llm"
	"agent/projections"
)

// gate stands between one task and the model. Of the tasks that the server refuses
// as it would refuse every other, the first of a round pauses and says so; the
// others are left as they are, without a word.
type gate struct {
	llm.Provider
	r    *round
	uuid string // of the task's context
	own  bool   // a person asked for this task
	stop context.CancelCauseFunc
}

// left is why the work on a task ended that is left as it is.
type left struct{ refusal string }

func (l *left) Error() string { return "another task met a refusal of the model server: " + l.refusal }

// Complete asks the model, unless it would only be refused.
func (g *gate) Complete(ctx context.Context, request llm.Request) (llm.Reply, error) {
	if f := g.r.withheldFrom(g.uuid); f != nil && !g.own {
		return llm.Reply{}, g.leave(ctx, f.Text)
	}
	reply, err := g.Provider.Complete(ctx, request)
	startup.Collect()
	var failed *llm.Error
	if errors.As(err, &failed) && failed.Kind.RefusesAll() && !g.r.first(g.uuid, failed) && !g.own {
		return reply, g.leave(ctx, failed.Message)
	}
	if err == nil {
		g.r.wentOn(g.uuid)
	}
	return reply, err
}

func (g *gate) leave(ctx context.Context, refusal string) error {
	g.stop(&left{refusal})
	<-ctx.Done() // it is a context of the run's
	return ctx.Err()
}

// first reports whether a context is the first of this round that the model refuses so.
func (r *round) first(uuid string, failed *llm.Error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.turnedAway == nil && r.fault == nil {
		r.turnedAway = &turnedAway{uuid, failed}
	}
	return r.turnedAway != nil && r.turnedAway.uuid == uuid
}

// turnedAway is the context that speaks for all others, and its refusal.
type turnedAway struct {
	uuid   string
	failed *llm.Error
}

// shut is true once the model has refused a task of this round: nothing is begun,
// although the fault is not told yet.
func (r *round) shut() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.turnedAway != nil
}

// tellTurnedAway says why tasks were left, if no task's pause did.
func (r *round) tellTurnedAway() {
	r.mu.Lock()
	t, told := r.turnedAway, r.fault != nil
	r.mu.Unlock()
	if t != nil && !told {
		r.halt(r.modelFault(t.failed.Kind, r.text("fault.model", r.Config.LLM.Active().URL, t.failed.Message)))
	}
}

// waitsForOther reports whether a context is not to go on now: its next step would
// be a model call, nobody but a timer asked for it, and the model refuses another task.
func (r *round) waitsForOther(s *projections.State, wake event.Body, trigger string) *Fault {
	if s.Status.Ended() || s.Stop != nil || s.Open != nil || byPerson(wake, trigger) {
		return nil
	}
	act, acts := handlers.Next(s).(handlers.Act)
	request, asks := act.Intent.(*event.LLMRequested)
	if wake == nil && !(acts && asks && !request.OutsideConversation()) {
		return nil
	}
	return r.withheldFrom(s.Created.UUID)
}

// byPerson is true for what somebody asked for: by a command, a label, an answer.
func byPerson(wake event.Body, trigger string) bool {
	if trigger == policy.ByCommand {
		return true
	}
	switch b := wake.(type) {
	case nil:
		return false
	case *event.ResumeRequested:
		return b.By != "timer"
	}
	return true
}

// keepForLater notes that a task was left as it is.
func (r *round) keepForLater(j job, l *left) {
	r.saw(r.keyOf(j), contexts.Skipped, r.text("seen.left", l.refusal), j.uuid)
}

// noteRefusals looks among the paused contexts for one that the model refuses, before
// any other is worked on. There is no note about such a one, not even of another release.
func (r *round) noteRefusals(ctx context.Context, paused []string) {
	limited, cancel := r.within(ctx, upkeepTime)
	defer cancel()
	for _, uuid := range paused {
		if limited.Err() != nil {
			return // a task more may be refused
		}
		if r.Store.Waiting(uuid) != nil {
			continue
		}
		if state, _, err := r.sleeper(uuid); err == nil { // due says what is wrong
			r.noteRefusal(limited, state)
		}
		if r.knowsRefusal() {
			return
		}
	}
}

func (r *round) knowsRefusal() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused != nil
}
