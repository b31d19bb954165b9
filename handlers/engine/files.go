package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/projections"
)

// Opening says what is known of the time in which nobody worked on a context.
type Opening struct {
	Crashed bool // the process before did not end properly, or the machine was started anew since
	Take    bool // a person said that the files count as they are
}

// Files keeps the files of the working copy as the log has them. The working copy is
// a projection: what the log says can be made again, what it does not say is not there.
type Files interface {
	// Open compares the files with the latest tree of the log before they are first
	// needed, and makes them equal. What it returns was done: a *event.WorkspaceSaved,
	// *event.WorkspaceRestored or *event.WorkspaceChanged, or nil if they are equal. An
	// error means that it may work later.
	Open(ctx context.Context, s *projections.State, o *contexts.Objects, how Opening) (event.Body, error)
	// Save stores what a call may have changed, durably. nil: nothing has changed. An
	// error is of the store.
	Save(ctx context.Context, s *projections.State, o *contexts.Objects, call *event.ToolRequested) (*event.WorkspaceSaved, error)
	// Merge stores in less room what was saved. Nothing is lost if it fails.
	Merge(o *contexts.Objects) error
}

// openFiles makes the files what the log says, once in a process, before a step that
// needs them. changed is true if the log has something new.
func (e *Engine) openFiles(ctx context.Context) (changed bool, err error) {
	s := e.state
	if !saving || e.opened || s.Workspace == nil || s.Workspace.Dir == "" || s.Workspace.Error != "" || s.Status != projections.Running {
		return false, nil
	}
	open := func() (event.Body, error) {
		return e.p.Workspace.Open(ctx, s, e.objects(), Opening{Crashed: e.crashed, Take: s.Saved.Take})
	}
	body, err := open()
	if lost, ok := body.(*event.WorkspaceRestored); err == nil && ok && lost.Error != "" {
		var more bool
		if more, err = e.log.FetchMore(); more {
			e.stored = nil
			body, err = open()
		}
	}
	if err != nil {
		return false, e.orStore(ctx, err)
	}
	e.opened = true
	if body == nil {
		return false, nil
	}
	return true, e.input(body)
}

// ErrUnusable says that git cannot use the working copy any more: a tool has damaged it.
var ErrUnusable = errors.New("git cannot use the working copy")

// reopen lets the copy be made again before the next step that needs it. Tool servers
// keep the directory that they began in, so they are started anew.
func (e *Engine) reopen() error {
	e.opened, e.crashed = false, false
	if e.tools == nil {
		return nil
	}
	err := e.tools.Close()
	e.tools = nil
	return err
}

func (e *Engine) objects() *contexts.Objects {
	if e.stored == nil {
		e.stored = e.log.Objects()
	}
	return e.stored
}

// orStore keeps an error of the disk what it is. Every other one may not come again.
func (e *Engine) orStore(ctx context.Context, err error) error {
	var later *Temporary
	if code := contexts.ExitCode(err); ctx.Err() == nil && !errors.As(err, &later) && (code == contexts.ExitIO || code == contexts.ExitTemporary) {
		return err
	}
	return orTemporary(ctx, err)
}

// saveTime bounds a save after the process was told to end.
const saveTime = 30 * time.Second

// save stores what a call may have changed, before its outcome is acknowledged. The
// model learns what could not be stored.
func (e *Engine) save(ctx context.Context, seq uint64, c *event.ToolRequested, outcome event.Body) (event.Body, error) {
	w := e.state.Workspace
	if w == nil || w.Dir == "" || w.Error != "" || e.state.Saved.Seq == 0 || e.readOnly(c) {
		return outcome, nil
	}
	if ctx.Err() != nil { // what was done is done
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), saveTime)
		defer cancel()
	}
	saved, err := e.p.Workspace.Save(ctx, e.state, e.objects(), c)
	if err != nil {
		return nil, e.orStore(ctx, err)
	}
	if saved == nil {
		return outcome, nil
	}
	if _, err := e.append(saved, seq); err != nil {
		return nil, err
	}
	return withNote(outcome, saved), nil
}

func (e *Engine) readOnly(c *event.ToolRequested) bool {
	if e.state.Tools == nil {
		return false
	}
	for _, server := range e.state.Tools.Servers {
		for _, t := range server.Tools {
			if server.Name == c.Server && t.Name == c.Tool {
				return t.ReadOnly
			}
		}
	}
	return false
}

// notedFiles is how many files that are not stored a note names.
const notedFiles = 5

// withNote tells the model which files are not stored.
func withNote(outcome event.Body, saved *event.WorkspaceSaved) event.Body {
	replied, ok := outcome.(*event.ToolReplied)
	note := ""
	if saved.Error != "" {
		note = "the files could not be stored for recovery: " + saved.Error
	} else if n := len(saved.NotSaved); n > 0 {
		var names []string
		for _, f := range saved.NotSaved[:min(n, notedFiles)] {
			names = append(names, fmt.Sprintf("%s (%s)", f.Path, whyNotSaved[f.Reason]))
		}
		note = "not stored for recovery: " + clean(strings.Join(names, ", "))
		if n > notedFiles {
			note += fmt.Sprintf(" and %d more", n-notedFiles)
		}
	}
	if !ok || note == "" {
		return outcome
	}
	noted := *replied
	noted.Content = event.T(noted.Content.Inline + "\n\n[" + note + "]")
	return &noted
}

var whyNotSaved = map[string]string{"secret": "it holds a secret value", "too_large": "it is too large", "unreadable": "it cannot be read",
	"repository": "a repository of its own", "special": "no plain file", "name": "git takes no such name, or it lies too deep"}
