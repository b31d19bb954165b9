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
//	                            (before both the files are made what the log says)
//	comment                     adopted if the forge holds it, else sent with the same op
//	edit, labels                repeated: they set, they do not add up
//	change                      found by its head branch, else opened
//
// In a cluster another machine may close the intent while this one sleeps. What its effect then undoes
// on the forge is done again, see [Late].
//
// Errors: an I/O error of the log ends the run at once (exit 74 or 75). A forge
// that cannot be reached is a [Temporary] error: the intent stays open and the
// next run closes it. Everything else becomes an event.
package engine

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers/reply"
	"agent/internal/fsx"
	"agent/internal/redact"
	"agent/llm"
	"agent/mcp"
	"agent/projections"
)

// Tools runs tools of the servers that a context may use; see mcp.Session.
type Tools interface {
	// WarmUp begins to start the servers that List waits for.
	WarmUp()
	List(ctx context.Context) []mcp.Server
	Call(ctx context.Context, server, tool string, args json.RawMessage) (mcp.Result, error)
	// Close ends the servers that were started for this context alone.
	Close() error
}

// Workspace prepares, keeps and publishes the files that the work is done on.
type Workspace interface {
	Files
	// Prepare gives the working copy. A failed one has Error set; an error
	// return means that it may work later.
	Prepare(ctx context.Context, s *projections.State) (event.WorkspacePrepared, error)
	// Project reads the repository's rules and its list of files, as they are.
	// What cannot be read is missing, and Error says why. An error return means that
	// it may work later.
	Project(ctx context.Context, s *projections.State) (event.ProjectRead, error)
	// BeforeCall makes the working copy ready for a call. An error stops nothing.
	BeforeCall(ctx context.Context, s *projections.State, c *event.ToolRequested) error
	// Measure says what would be published now. It may be repeated.
	Measure(ctx context.Context, s *projections.State) (event.ChangeMeasured, error)
	// Publish commits the tree that was measured and pushes it, or makes a patch
	// of it if there is no branch or nothing can be pushed. It may be repeated, and
	// then makes the same commits. An error that is a *forge.Error means what it
	// means there.
	Publish(ctx context.Context, s *projections.State, in *event.ChangeRequested) (Published, error)
}

// Ports are the outside world.
type Ports struct {
	Forge     forge.Client
	Model     llm.Provider
	Tools     func(s *projections.State) Tools // for the context of that state, which is kept up to date
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
	Takes     func(forge.TaskKey) bool                          // whether tasks are taken in that project
	TaskCheck time.Duration                                     // least time between two looks whether the item was closed or taken away; negative: never
	Inherit   func(s *projections.State) event.ContextInherited // what an earlier go left, see package contexts/history
	Version   string
	OnEvent   func(event.Event, *projections.State) // sees each event when it is durable, and the state after it, which it must not keep; may be nil
}

// Temporary says that something outside could not be reached; the same run may
// succeed later.
type Temporary struct{ Err error }

func (t *Temporary) Error() string { return t.Err.Error() }
func (t *Temporary) Unwrap() error { return t.Err }

// ExitCode is 75, or 78 where only a person can help: a forge refused the token, or
// its certificate is not trusted.
func (t *Temporary) ExitCode() int {
	var failed *forge.Error
	if errors.As(t.Err, &failed) && failed.Kind.NeedsPerson() {
		return contexts.ExitConfig
	}
	return contexts.ExitTemporary
}

// Refused says that the forge refuses a read until a person changes something.
type Refused struct{ Err error }

func (r *Refused) Error() string { return r.Err.Error() }
func (r *Refused) Unwrap() error { return r.Err }

// Unread is the error of a read that failed: a [Temporary] one, or a [Refused] one.
func Unread(err error) error {
	if lasting(err) {
		return &Refused{err}
	}
	return &Temporary{err}
}

// Engine works on one context.
type Engine struct {
	p         Ports
	log       *contexts.Context
	state     *projections.State
	files     projections.Files
	tools     Tools
	stored    *contexts.Objects
	opened    bool // the files are what the log says
	crashed   bool // the process before did not end properly, or the machine was started anew since
	reopened  bool // the working copy was damaged in this process
	checked   bool // the tool list was compared in this process
	behind    bool // a projection file may not be what the log says
	spending  contexts.Spending
	unspent   []contexts.Call // calls that the ledger may not hold yet, at most mostUnspent
	spent     time.Time       // when the ledger was last brought up to date
	checkedAt time.Time       // when the item was last read
	commands  struct {        // in comments
		changed time.Time // the item, when they were read
		again   bool      // they were read twice since
	}
	unredacted calls // of the latest reply that the log holds in its redacted form
	trusted    map[string]bool
	me         *forge.Account
	origin     *record // of a fork, once it was read
	late       *Late
}

// calls are what a reply asks for, with the arguments that the model wrote.
type calls struct {
	reply uint64 // seq of the reply
	calls []reply.Call
}

// Create makes the context of a new task and its engine.
func Create(p Ports, first *event.ContextCreated) (*Engine, error) {
	e := newEngine(p)
	stored, _, _, err := e.redact(first)
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
	var made *rebuild // nil: the process before has left whole projection files
	log, err := p.Store.AcquireTo(uuid, func(log *contexts.Context) func(event.Event) error {
		if !wasSaved(p.Store, log) {
			made = newRebuild(log)
		}
		return func(ev event.Event) error { return e.takeUp(ev, made) }
	})
	if err != nil {
		if made != nil {
			made.drop()
		}
		return nil, err
	}
	e.log = log
	if e.state.Simulates() {
		e.p = simulated(e.p)
	}
	// The files of a process that ended properly were not synced: only the log was.
	e.crashed = e.state.Process != nil && (!e.state.EndedProperly || e.state.Process.BootID != fsx.BootID())
	e.spendAll()
	if made != nil {
		e.behind = made.install() != nil
		e.saveFiles() // before the directory moves, see moveDirectory
	}
	if err := log.Relocate(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return e, nil
}

// takeUp folds an event of a log that is opened, and what it does to the projection files
// if they are rebuilt.
func (e *Engine) takeUp(ev event.Event, files *rebuild) error {
	if err := known(ev); err != nil {
		return err
	}
	changes := e.fold(ev)
	e.remember(ev)
	if files == nil {
		return nil
	}
	return files.add(changes)
}

// wasSaved tells whether a log ends with the end of a process, which has saved the
// projection files before, and nobody has removed them since.
func wasSaved(store *contexts.Store, log *contexts.Context) bool {
	mark, err := store.MarkOf(log.UUID())
	if err != nil || mark.Type != (&event.ProcessEnded{}).Type() {
		return false
	}
	_, err = log.ReadFile(projections.MetadataFile)
	return err == nil
}

func newEngine(p Ports) *Engine {
	return &Engine{p: p, state: projections.NewState(), trusted: map[string]bool{}}
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
