package engine

import (
	"cmp"
	"context"
	"errors"

	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers"
)

// Published is what became of the commits of a change.
type Published struct {
	Commit  string
	Rebased bool         // onto what others had pushed meanwhile
	Patch   []byte       // of work that was not pushed
	Failed  *Unpublished // why not; nil if it was, or was not to be
}

// Unpublished says why commits could not be pushed, for good.
type Unpublished struct {
	Kind    string // as in event.ChangeFailed
	Message string
}

// maxRuns is how many runs a forge that does not answer is waited for with a change, and maxWait how
// long at least: better said without it than never.
const maxRuns = 5

// change publishes the work. Committing, pushing, looking for the change by its
// branch and asking for a review may all be repeated.
func (e *Engine) change(ctx context.Context, in *event.ChangeRequested) (event.Body, error) {
	done, err := e.publish(ctx, in)
	switch {
	case ctx.Err() == nil && err != nil && in.Paused: // a pause does not wait for it
		return &event.ChangeFailed{Kind: "other", Message: clean(err.Error()), Unfinished: true, Paused: true}, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, err
	case done.Failed != nil || done.Patch != nil:
		return e.unpublished(in, done)
	}
	opened := &event.ChangeOpened{Commit: done.Commit, Files: e.changedFiles(), Unfinished: in.Unfinished, Paused: in.Paused, Rebased: done.Rebased}
	if in.Unfinished {
		opened.Branch = in.Branch
		return opened, nil
	}
	if outcome, err := e.open(ctx, in, opened); outcome != opened {
		return outcome, err
	}
	return e.askReview(ctx, in, opened)
}

// publish commits and pushes. What may work later is tried again, in this run
// and in some of the next.
func (e *Engine) publish(ctx context.Context, in *event.ChangeRequested) (done Published, err error) {
	_, err = e.write(ctx, write{
		maxRuns: maxRuns,
		send: func() (event.Body, error) {
			done, err = e.p.Workspace.Publish(ctx, e.state, in)
			return nil, err
		},
		refused: func(err *forge.Error) event.Body {
			done.Failed = &Unpublished{string(err.Kind), err.Message}
			return nil
		},
	})
	return done, err
}

// unpublished keeps the patch beside the log before the log speaks of it.
func (e *Engine) unpublished(in *event.ChangeRequested, done Published) (event.Body, error) {
	var patch event.Text
	if len(done.Patch) > 0 {
		done.Patch = []byte(e.p.Redact.Exact(string(done.Patch)))
		if err := e.log.KeepPatch(done.Patch); err != nil {
			return nil, err
		}
		patch = event.T(clean(string(done.Patch)))
	}
	if done.Failed == nil {
		return &event.ChangeOpened{Commit: done.Commit, Files: e.changedFiles(), Patch: patch, Unfinished: in.Unfinished, Paused: in.Paused}, nil
	}
	return &event.ChangeFailed{Kind: done.Failed.Kind, Message: clean(done.Failed.Message), Commit: done.Commit, Patch: patch, Unfinished: in.Unfinished, Paused: in.Paused}, nil
}

func (e *Engine) changedFiles() []string {
	files := []string{}
	m := e.state.Publishing.Measured
	if in, ok := e.state.Open.Body.(*event.ChangeRequested); m == nil || ok && in.Paused {
		return files // nobody measured what is kept
	}
	for _, f := range m.Files {
		files = append(files, f.Path)
	}
	return files
}

// open finds the request of the branch, or opens it. It fills opened.
func (e *Engine) open(ctx context.Context, in *event.ChangeRequested, opened *event.ChangeOpened) (event.Body, error) {
	found := func(c forge.Change) event.Body {
		opened.Number, opened.URL = c.Number, c.URL
		return opened
	}
	spec := forge.ChangeSpec{Branch: in.Branch, Base: in.Base, Title: in.Title, Body: in.Body.View(), Draft: in.Draft}
	return e.write(ctx, write{
		uncertain: true,
		maxRuns:   maxRuns,
		find: func() (event.Body, error) {
			c, err := e.p.Forge.FindChange(ctx, e.state.Key, in.Branch)
			if c == nil || err != nil {
				return nil, err
			}
			return found(*c), nil
		},
		send: func() (event.Body, error) {
			c, err := e.p.Forge.OpenChange(ctx, e.state.Key, spec)
			if base := e.renamedBase(ctx, in.Base, err); base != "" {
				spec.Base = base
				c, err = e.p.Forge.OpenChange(ctx, e.state.Key, spec)
			}
			return found(c), err
		},
		refused: func(err *forge.Error) event.Body {
			return &event.ChangeFailed{Kind: string(err.Kind), Message: clean(err.Message), Commit: opened.Commit, Pushed: true}
		},
	})
}

// renamedBase is the default branch where a change was refused and the branch that it
// was meant for was the default one when the work began, "" if nothing has changed.
func (e *Engine) renamedBase(ctx context.Context, base string, refused error) string {
	var failed *forge.Error
	wanted := cmp.Or(handlers.BaseOf(e.state.Task.Body.View()), e.state.Config.Change.Base)
	if !errors.As(refused, &failed) || failed.Kind != forge.Invalid || wanted == base {
		return ""
	}
	repo, err := e.p.Forge.Repository(ctx, e.state.Key)
	if err != nil || repo.DefaultBranch == base {
		return ""
	}
	return repo.DefaultBranch
}

// askReview asks the author. Who cannot be asked is mentioned all the same.
func (e *Engine) askReview(ctx context.Context, in *event.ChangeRequested, opened *event.ChangeOpened) (event.Body, error) {
	if in.Reviewer == "" {
		return opened, nil
	}
	return e.write(ctx, write{
		maxRuns: maxRuns,
		send: func() (event.Body, error) {
			err := e.p.Forge.AskReview(ctx, e.state.Key, opened.Number, in.Reviewer)
			if err == nil {
				opened.Reviewer = in.Reviewer
			}
			return opened, err
		},
		refused: func(*forge.Error) event.Body { return opened },
	})
}

// measure says what would be published. What the working copy does not let us
// find out is said as well.
func (e *Engine) measure(ctx context.Context) error {
	measured, err := e.p.Workspace.Measure(ctx, e.state)
	var failed *forge.Error
	var later *Temporary
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &later):
		return err
	case errors.Is(err, ErrUnusable) && !e.reopened:
		e.reopened = true
		return e.reopen()
	case errors.As(err, &failed) && temporary(failed.Kind):
		return &Temporary{err}
	case err != nil:
		measured = event.ChangeMeasured{Files: []event.ChangedFile{}, Error: clean(err.Error())}
	}
	return e.input(&measured)
}
