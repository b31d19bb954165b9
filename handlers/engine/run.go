package engine

import (
	"context"
	"fmt"
	"os"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/handlers"
	"agent/internal/fsx"
	"agent/llm"
)

// Run works until the context rests, ends, or ctx is done. pinned is the
// configuration in force; wake, if set, is what ends a pause or a wait.
func (e *Engine) Run(ctx context.Context, pinned event.ConfigPinned, wake event.Body) error {
	if err := e.begin(pinned, wake); err != nil {
		return err
	}
	err := e.loop(ctx)
	if err == nil || ctx.Err() != nil {
		return e.end(ctx, err)
	}
	return err
}

func (e *Engine) begin(pinned event.ConfigPinned, wake event.Body) error {
	if r := e.recovered(); r != nil {
		if err := e.input(r); err != nil {
			return err
		}
	}
	host, _ := os.Hostname()
	if err := e.input(&event.ProcessStarted{Version: e.p.Version, Decisions: handlers.Decisions, Host: host, PID: os.Getpid(), BootID: fsx.BootID()}); err != nil {
		return err
	}
	if e.state.Config == nil || !same(e.state.Own(pinned), *e.state.Config) {
		if err := e.input(&pinned); err != nil {
			return err
		}
	}
	if wake == nil {
		return nil
	}
	if err := e.input(wake); err != nil {
		return err
	}
	switch wake.(type) {
	case *event.StatusRequested, *event.LimitRaised: // they end no pause
		return nil
	}
	return e.p.Store.Clear(e.log.UUID(), contexts.Resume)
}

// recovered describes what the process before left behind, if it did not end properly.
func (e *Engine) recovered() *event.ProcessRecovered {
	s, torn := e.state, e.log.Torn()
	if s.Process == nil || (s.EndedProperly && s.Open == nil && torn == nil && e.log.Healed() == 0) {
		return nil
	}
	r := &event.ProcessRecovered{Healed: e.log.Healed()}
	if s.Open != nil {
		r.OpenSeq, r.OpenType = s.Open.Seq, s.Open.Body.Type()
	}
	if torn != nil {
		r.TornBytes, r.Quarantine = torn.Bytes, torn.Copy
	}
	return r
}

// same compares configurations as Next sees them: protocol, language and mode stay what they were.
func same(pinned, old event.ConfigPinned) bool {
	pinned.Protocol, pinned.Language, pinned.Planning.Enabled = old.Protocol, old.Language, old.Planning.Enabled
	return pinned == old
}

// end says that the process leaves the context in order. An ended context gets
// nothing more: nobody would repair the torn line of a process that is killed here.
func (e *Engine) end(ctx context.Context, err error) error {
	if e.stored != nil {
		if err := e.p.Workspace.Merge(e.stored); err != nil {
			e.p.Log.Warn("saved files could not be packed", "error", err)
		}
	}
	if e.state.Status.Ended() {
		return err
	}
	reason := string(e.state.Status)
	if ctx.Err() != nil {
		reason = "interrupted"
	}
	if !e.saveFiles() {
		return err // without the event the next process rebuilds them
	}
	if appendErr := e.input(&event.ProcessEnded{Reason: reason}); appendErr != nil {
		return appendErr
	}
	return err
}

// known refuses to go on where a newer release has decided: this one may decide otherwise.
func known(ev event.Event) error {
	if b, ok := ev.Body.(*event.ProcessStarted); ok && b.Decisions > handlers.Decisions {
		return fmt.Errorf("seq %d: decisions %d: %w", ev.Seq, b.Decisions, event.ErrNewer)
	}
	return nil
}

func (e *Engine) loop(ctx context.Context) error {
	if open := e.state.Open; open != nil {
		if needsFiles(open.Body) {
			if _, err := e.openFiles(ctx); err != nil {
				return err
			}
		}
		if err := e.perform(ctx, open.Seq, open.Body, nil, true); err != nil {
			return err
		}
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := e.takeSignals(); err != nil {
			return err
		}
		if err := e.checkTask(ctx); err != nil {
			return err
		}
		switch effect := handlers.Next(e.state).(type) {
		case handlers.Idle:
			return nil
		case handlers.Record:
			if err := e.record(effect.Body); err != nil {
				return err
			}
		case handlers.Read:
			if err := e.read(ctx, effect); err != nil {
				return err
			}
		case handlers.Wait:
			if err := e.wait(ctx, effect.Until); err != nil {
				return err
			}
		case handlers.Act:
			if err := e.act(ctx, effect); err != nil {
				return err
			}
		default:
			panic(fmt.Sprintf("engine: no way to perform %T", effect))
		}
	}
}

// act appends the intent and performs it. Before a model call the tools are
// compared with those that the conversation was begun with.
func (e *Engine) act(ctx context.Context, a handlers.Act) error {
	if needsFiles(a.Intent) {
		if changed, err := e.openFiles(ctx); changed || err != nil {
			return err
		}
	}
	if call, ok := a.Intent.(*event.LLMRequested); ok && !call.OutsideConversation() {
		if changed, err := e.checkTools(ctx); changed || err != nil {
			return err
		}
		if reached, err := e.checkDay(); reached || err != nil {
			return err
		}
	}
	if changed, err := e.lastCheck(ctx, a.Intent); changed || err != nil {
		return err
	}
	intent, err := e.append(a.Intent, 0)
	if err != nil {
		return err
	}
	return e.perform(ctx, intent.Seq, intent.Body, a.Request, false)
}

// perform does what an intent says and appends its outcome. again means that
// a process that died may have done it already. In a cluster it ends when the lease does.
func (e *Engine) perform(ctx context.Context, seq uint64, intent event.Body, request *llm.Request, again bool) error {
	owned, release, err := e.log.Guard(ctx)
	if err != nil {
		return err
	}
	defer release()
	err = e.performOwned(owned, seq, intent, request, again)
	if err != nil && ctx.Err() == nil && owned.Err() != nil {
		err = context.Cause(owned)
	}
	e.noteLate(seq, intent, err)
	return err
}

func (e *Engine) performOwned(ctx context.Context, seq uint64, intent event.Body, request *llm.Request, again bool) error {
	var outcome event.Body
	var err error
	if e.state.Simulates() && writes(intent) {
		if outcome, err = e.simulate(ctx, seq, intent); err != nil {
			return err
		}
		_, err = e.append(outcome, seq)
		return err
	}
	switch in := intent.(type) {
	case *event.LLMRequested:
		outcome, err = e.callModel(ctx, in.OutsideConversation(), request, again)
	case *event.ToolRequested:
		outcome, err = e.callTool(ctx, seq, in, again)
	case *event.CommentRequested:
		outcome, err = e.comment(ctx, seq, in, again)
	case *event.ReactionRequested:
		outcome, err = e.react(ctx, in)
	case *event.LabelsRequested:
		outcome, err = e.labels(ctx, in)
	case *event.ChangeRequested:
		outcome, err = e.change(ctx, in)
	default:
		return fmt.Errorf("no way to perform %s", intent.Type())
	}
	if err != nil {
		return err
	}
	_, err = e.append(outcome, seq)
	return err
}

// writes is true for intents that change something on the forge.
func writes(intent event.Body) bool {
	switch intent.(type) {
	case *event.CommentRequested, *event.LabelsRequested, *event.ChangeRequested:
		return true
	}
	return false
}

// needsFiles is true for intents that read or change the files, and for calls of the model:
// it needs to know what happened to them.
func needsFiles(intent event.Body) bool {
	switch intent.(type) {
	case *event.LLMRequested, *event.ToolRequested, *event.ChangeRequested:
		return true
	}
	return false
}

// maxSleep bounds a single wait, whatever the clock says.
const maxSleep = 15 * time.Minute

func (e *Engine) wait(ctx context.Context, until time.Time) error {
	ctx, cancel := e.untilSignal(ctx)
	defer cancel()
	d := min(until.Sub(e.p.Now()), maxSleep)
	if err := e.p.Sleep(ctx, d); err != nil {
		return interruptedBySignal(ctx, err)
	}
	return e.input(&event.TimerFired{Until: until})
}
