package engine

import (
	"context"
	"errors"
	"fmt"

	"agent/eventlog/event"
	"agent/forge"
	"agent/projections"
)

// task reads the item, at the address that it has now.
func (e *Engine) task(ctx context.Context) (forge.Task, error) {
	t, err := e.p.Forge.Task(ctx, e.state.Key)
	moved, followErr := e.follow(err)
	if moved {
		t, followErr = e.p.Forge.Task(ctx, e.state.Key)
	}
	return t, Identify(ctx, e.p.Forge, e.state, t, followErr)
}

// ErrElsewhere is in the error of a read that did not meet the item of a task at its
// address: it is where no tasks are taken, or another item has the address.
var ErrElsewhere = errors.New("elsewhere")

// Identify returns err, the error of a read of the item t, unless what is at the address
// is not what the log is about: a project with another name leaves its old one to
// whoever takes it. Such an item is hidden, and nothing is said there.
func Identify(ctx context.Context, client forge.Client, s *projections.State, t forge.Task, err error) error {
	replaced := func(what string) error {
		return &forge.Error{Kind: forge.Hidden, Op: "get task", Err: ErrElsewhere,
			Message: fmt.Sprintf("%s is another %s now than the one that was worked on; if that has another address, give the label there", s.Key, what)}
	}
	var failed *forge.Error
	switch {
	case err == nil && s.Item != "" && t.ID != "" && t.ID != s.Item:
		return replaced("item")
	case errors.As(err, &failed) && failed.Kind == forge.NotFound && s.Home != "":
		repo, repoErr := client.Repository(ctx, s.Key)
		if repoErr == nil && repo.ID != "" && repo.ID != s.Home {
			return replaced("project")
		}
	}
	return err
}

// MovedTo takes over the address where the item was found by its id.
func (e *Engine) MovedTo(to forge.TaskKey) error {
	if forge.CompareKeys(e.state.Key.String(), to.String()) == 0 {
		return nil
	}
	return e.input(&event.TaskMoved{From: e.state.Key.String(), To: to.String(), Reason: "renamed"})
}

// follow takes over the address that the forge named. Its own redirect is believed
// for a project that has another name. An item in another project is followed only
// where tasks are taken; elsewhere it waits. The error is err, or why it waits.
func (e *Engine) follow(err error) (bool, error) {
	var m *forge.Error
	if !errors.As(err, &m) || m.Kind != forge.Moved || m.To == (forge.TaskKey{}) {
		return false, err
	}
	reason := "renamed"
	if m.Transferred {
		reason = event.Transferred
	}
	if m.To.Host != e.state.Key.Host || m.Transferred && !e.p.Takes(m.To) {
		return false, &forge.Error{Kind: forge.Hidden, Op: m.Op, Err: ErrElsewhere, Message: fmt.Sprintf("%s moved to %s, where no tasks are taken", e.state.Key, m.To)}
	}
	return true, e.input(&event.TaskMoved{From: e.state.Key.String(), To: m.To.String(), Reason: reason})
}

// followWrite finds out where to, after a write that was not done because its address
// is an old one.
func (e *Engine) followWrite(ctx context.Context, failed *forge.Error) (bool, error) {
	if failed.Kind != forge.Moved {
		return false, nil
	}
	_, err := e.p.Forge.Task(ctx, e.state.Key)
	moved, err := e.follow(err)
	var hidden *forge.Error
	if !moved && errors.As(err, &hidden) && hidden.Kind != forge.Moved {
		return false, &Temporary{err}
	}
	return moved, ctx.Err()
}

// genuine finds the op of the marker in a comment, and whether it was made for this
// task, under whatever address.
func (e *Engine) genuine(body string) (op string, valid bool) {
	op, valid = markerOf(body, e.p.MarkerKey, e.state.Key)
	for _, key := range e.state.Earlier {
		if valid {
			break
		}
		op, valid = markerOf(body, e.p.MarkerKey, key)
	}
	return op, valid
}
