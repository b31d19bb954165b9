// Package engine performs what package handlers decides. It is the only code
// that appends to a context's log.
//
// One step is: look for signals, ask [handlers.Next], append the intent, touch
// the world, append the outcome. An intent without an outcome after a crash is
// closed before anything else, by the same code that deals with an answer that
// was lost on the network:
//
//	model call                  llm.failed{interrupted}; Next decides afresh
//	read-only/idempotent tool   run again under the same intent
//	any other tool              tool.interrupted: never repeated silently
//	comment                     adopted if the forge holds it, else sent with the same op
//	edit, labels                repeated: they set, they do not add up
//	change                      found by its head branch, else opened
//
// Errors: an I/O error of the log ends the run at once (exit 74 or 75). A forge
// that cannot be reached is a [Temporary] error: the intent stays open and the
// next run closes it. Everything else becomes an event.
package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers"
	"agent/internal/redact"
	"agent/llm"
	"agent/mcp"
	"agent/projections"
)

// Tools runs tools of the servers that a context may use; see mcp.Session.
type Tools interface {
	List(ctx context.Context) []mcp.Server
	Call(ctx context.Context, server, tool string, args json.RawMessage) (mcp.Result, error)
	// Close ends the servers that were started for this context alone.
	Close() error
}

// Workspace prepares and publishes the files that the work is done on.
type Workspace interface {
	// Prepare gives the working copy. A failed one has Error set; an error
	// return means that it may work later.
	Prepare(ctx context.Context, s *projections.State) (event.WorkspacePrepared, error)
	// Publish commits everything to the branch and pushes it. No files mean
	// that there was nothing to publish.
	Publish(ctx context.Context, s *projections.State, branch, message string) (commit string, files []string, err error)
}

// Ports are the outside world.
type Ports struct {
	Forge     forge.Client
	Model     llm.Provider
	Tools     func(workspace string) Tools // "" before a workspace is known to be needed
	Workspace Workspace
	Store     *contexts.Store
	Redact    *redact.Redactor
	Log       *slog.Logger
	Now       func() time.Time
	Sleep     func(ctx context.Context, d time.Duration) error
	Jitter    func() float64                          // 0 ≤ x < 1
	Cost      func(model string, u llm.Usage) float64 // USD
	PauseFile func() bool                             // the pause signal for all contexts stands
	MarkerKey []byte
	AdoptWait time.Duration // how long the forge may take to list a new comment
	DayLimits contexts.DayLimits
	TaskCheck time.Duration                                     // least time between two looks whether the item was closed or taken away; negative: never
	Inherit   func(s *projections.State) event.ContextInherited // what an earlier go left, see package handlers
	Version   string
	OnEvent   func(event.Event) // for progress on a terminal; may be nil
}

// Temporary says that something outside could not be reached; the same run may
// succeed later.
type Temporary struct{ Err error }

func (t *Temporary) Error() string { return t.Err.Error() }
func (t *Temporary) Unwrap() error { return t.Err }

// Engine works on one context.
type Engine struct {
	p        Ports
	log      *contexts.Context
	state    *projections.State
	files    projections.Files
	tools    Tools
	checked  bool // the tool list was compared in this process
	behind   bool // a projection file may not be what the log says
	spending contexts.Spending
	unspent  []contexts.Call              // calls that the ledger may not hold yet, at most mostUnspent
	spent    time.Time                    // when the ledger was last brought up to date
	looked   time.Time                    // when the item was last read
	unsaid   map[uint64]*event.LLMReplied // replies as they were before redaction, by seq
	trusted  map[string]bool
	me       *forge.Account
}

// Create makes the context of a new task and its engine.
func Create(p Ports, first *event.ContextCreated) (*Engine, error) {
	e := newEngine(p)
	stored, _, err := e.redact(first)
	if err != nil {
		return nil, err
	}
	at := p.Now().UTC().Truncate(time.Microsecond)
	if e.log, err = p.Store.Create(stored.(*event.ContextCreated), at); err != nil {
		return nil, err
	}
	if err := e.apply(event.Event{Seq: 1, Time: at, Body: stored}); err != nil {
		return nil, errors.Join(err, e.log.Close())
	}
	return e, nil
}

// Open takes an existing context under its lock and folds its log.
func Open(p Ports, uuid string) (*Engine, error) {
	e := newEngine(p)
	log, err := p.Store.Hold(uuid, func(ev event.Event) error {
		e.fold(ev)
		e.remember(ev)
		return nil
	})
	if err != nil {
		return nil, err
	}
	e.log = log
	e.spendAll()
	if _, err := log.ReadFile(projections.MetadataFile); err != nil || !e.state.Clean {
		e.behind = true
		e.saveFiles() // before the directory moves, see settle
	}
	if err := log.Settle(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return e, nil
}

func newEngine(p Ports) *Engine {
	return &Engine{p: p, state: projections.NewState(), unsaid: map[uint64]*event.LLMReplied{}, trusted: map[string]bool{}}
}

// State is the folded log. It must not be changed.
func (e *Engine) State() *projections.State { return e.state }

// Close gives the context back.
func (e *Engine) Close() error {
	e.spendAll()
	if e.tools != nil {
		if err := e.tools.Close(); err != nil {
			e.p.Log.Debug("tool servers", "error", err) // how they ended is of no consequence
		}
	}
	return e.log.Close()
}

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
	if err := e.input(&event.ProcessStarted{Version: e.p.Version, Decisions: handlers.Decisions, Host: host, PID: os.Getpid()}); err != nil {
		return err
	}
	if e.state.Config == nil || !same(pinned, *e.state.Config) {
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
	return e.p.Store.Clear(e.log.UUID(), contexts.Resume)
}

// recovered describes what the process before left behind, if it did not end properly.
func (e *Engine) recovered() *event.ProcessRecovered {
	s, torn := e.state, e.log.Torn()
	if s.Process == nil || (s.Clean && s.Open == nil && torn == nil) {
		return nil
	}
	r := &event.ProcessRecovered{}
	if s.Open != nil {
		r.OpenSeq, r.OpenType = s.Open.Seq, s.Open.Body.Type()
	}
	if torn != nil {
		r.TornBytes, r.Quarantine = torn.Bytes, torn.Copy
	}
	return r
}

// same compares configurations as Next sees them: protocol and language stay what they were.
func same(pinned, old event.ConfigPinned) bool {
	pinned.Protocol, pinned.Language = old.Protocol, old.Language
	return pinned == old
}

// end says that the process leaves the context in order. An ended context gets
// nothing more: nobody would repair the torn line of a process that is killed here.
func (e *Engine) end(ctx context.Context, err error) error {
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

func (e *Engine) loop(ctx context.Context) error {
	if open := e.state.Open; open != nil {
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
		case handlers.Rest:
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
		}
	}
}

// act appends the intent and performs it. Before a model call the tools are
// compared with those that the conversation was begun with.
func (e *Engine) act(ctx context.Context, a handlers.Act) error {
	if call, ok := a.Intent.(*event.LLMRequested); ok && call.Purpose == "work" {
		if changed, err := e.checkTools(ctx); changed || err != nil {
			return err
		}
		if reached, err := e.checkDay(); reached || err != nil {
			return err
		}
	}
	if changed, err := e.lastLook(ctx, a.Intent); changed || err != nil {
		return err
	}
	intent, err := e.append(a.Intent, 0)
	if err != nil {
		return err
	}
	return e.perform(ctx, intent.Seq, intent.Body, a.Request, false)
}

// perform does what an intent says and appends its outcome. again means that
// a process that died may have done it already.
func (e *Engine) perform(ctx context.Context, seq uint64, intent event.Body, request *llm.Request, again bool) error {
	var outcome event.Body
	var err error
	switch in := intent.(type) {
	case *event.LLMRequested:
		outcome, err = e.callModel(ctx, request, again)
	case *event.ToolRequested:
		outcome, err = e.callTool(ctx, in, again)
	case *event.CommentRequested:
		outcome, err = e.comment(ctx, seq, in, again)
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

// backoff is how long to wait before try number attempt+1: 1, 2, 4 … seconds and up to half as much again.
func (e *Engine) backoff(attempt int) time.Duration {
	seconds := math.Pow(2, float64(min(attempt, 6)-1)) * (1 + e.p.Jitter()/2)
	return time.Duration(seconds * float64(time.Second))
}
