package rounds

import (
	"context"
	"errors"

	"agent/contexts"
	"agent/handlers/engine"
	"agent/internal/app"
	"agent/internal/cluster"
	"agent/internal/git"
	"agent/internal/i18n"
	"agent/internal/logging"
	"agent/internal/report"
	"agent/llm"
	"agent/projections"
)

// Fault is something wrong with this machine or its configuration. No task is to
// blame: after the first fault a round begins and resumes nothing. The classes are
// a table in docs/architecture.md.
type Fault struct {
	Class  string // git, workspaces_dir, room, server, model, clone_url
	Text   string // what is wrong
	Todo   string // what the operator can do
	Passes bool   // the next run may find it gone
}

func (f *Fault) Error() string { return f.Text + " → " + f.Todo }

// ExitCode is 75 for what passes by itself, else 78.
func (f *Fault) ExitCode() int {
	if f.Passes {
		return contexts.ExitTemporary
	}
	return contexts.ExitConfig
}

// halt ends the round: what runs goes on, nothing else is begun. A loop says the
// same fault once.
func (r *round) halt(f *Fault) {
	r.mu.Lock()
	first := r.fault == nil
	if first {
		r.fault = f
		r.sawFault(f)
		r.summary.Errors = append(r.summary.Errors, f)
	}
	told := r.told == f.Error()
	if first {
		r.told = f.Error()
	}
	r.mu.Unlock()
	if first {
		r.Log.ErrorContext(logging.OnlyFile(context.Background()), f.Error(), "class", f.Class)
	}
	if first && !told {
		r.voice.Trouble(r.text("fault.machine"), f)
	}
}

// halted is the fault that ended the round, nil if it goes on.
func (r *round) halted() *Fault {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fault
}

// faultOf finds the fault of the machine in an error of one task, nil if it is about the task.
func (r *round) faultOf(err error) *Fault {
	var fault *Fault
	var server *engine.ServerError
	var clone *app.CloneError
	switch {
	case errors.As(err, &clone):
		return &Fault{"clone_url", err.Error(), r.text("fault.todo.clone"), false}
	case errors.As(err, &fault):
		return fault
	case errors.Is(err, cluster.ErrUnreachable):
		return &Fault{"cluster", err.Error(), r.text("fault.todo.cluster"), true}
	case errors.Is(err, contexts.ErrNoRoom), git.IsFull(err):
		return &Fault{"room", r.text("fault.room", err), r.text("doctor.todo.room", contexts.MinBytes>>20, contexts.MinInodes), true}
	case git.IsMachine(err):
		return r.noGit(err)
	case errors.As(err, &server):
		return r.serverFault(server.Server, server.Reason, server.Temporary)
	}
	return nil
}

// faultOfModel is the fault behind a task's pause: every other task would be
// refused by the model server as well.
func (r *round) faultOfModel(s *projections.State) *Fault {
	if s.Status != projections.Paused {
		return nil
	}
	kind, ofModel := s.Paused.Reason.OfModel()
	if !ofModel || !llm.Kind(kind).RefusesAll() {
		return nil
	}
	text := report.Reason(s, r.Language())
	if !r.ofTry() {
		text = r.text("fault.model.others", text)
	}
	f := r.modelFault(llm.Kind(kind), text)
	f.Passes = s.Paused.Until.Kind == "time"
	return f
}

func (r *round) modelFault(kind llm.Kind, text string) *Fault {
	return &Fault{"model", text, r.text("fault.todo.model."+i18n.ID(kind), r.modelKeys()...), false}
}

// refusal is a paused task that the model server refuses, as it would every other.
type refusal struct {
	uuid     string
	fault    *Fault
	withheld bool // a new task was not begun because of it
}

// noteRefusal remembers the first paused task of this round that the configured model
// refuses. Until it goes on, no new one is begun only to be refused as well. A task that no
// run takes holds up no other: it would do so for ever.
func (r *round) noteRefusal(ctx context.Context, s *projections.State) {
	f, active := r.faultOfModel(s), r.Config.LLM.Active()
	if f == nil || s.Config == nil || s.Config.Provider != active.Name || s.Config.Model != active.Model || !r.serves(ctx, s) {
		return
	}
	f.Todo += r.text("fault.todo.resume", s.Created.UUID[:8])
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused == nil {
		r.refused = &refusal{uuid: s.Created.UUID, fault: f}
	}
}

// withheld is why no new task is begun, nil if nothing speaks against it. It does not
// end the round: the refused task may come up later in it, by its label.
func (r *round) withheld() *Fault {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused == nil {
		return nil
	}
	r.refused.withheld = true
	return r.refused.fault
}

// withheldFrom is why a context other than the refused one does not ask the model.
func (r *round) withheldFrom(uuid string) *Fault {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused == nil || r.refused.uuid == uuid {
		return nil
	}
	r.refused.withheld = true
	return r.refused.fault
}

// wentOn notes that a task ran without such a refusal: if it is the refused one, new
// ones may begin.
func (r *round) wentOn(uuid string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused != nil && r.refused.uuid == uuid {
		r.refused = nil
	}
}

// tellWithheld says once a round why new tasks were not begun.
func (r *round) tellWithheld() {
	var f *Fault
	r.mu.Lock()
	if r.refused != nil && r.refused.withheld {
		f = r.refused.fault
	}
	r.mu.Unlock()
	if f != nil {
		r.halt(f)
	}
}

// modelKeys are the active provider's section, its URL key, and where its API key is set.
func (r *round) modelKeys() []any {
	d := r.Config.LLM.Active().Driver
	key := d.URLPath()
	if d.Key {
		key = "llm." + d.Name + ".api_key (" + d.KeyEnv() + ")"
	}
	return []any{"llm." + d.Name + ".model", d.URLPath(), key}
}
