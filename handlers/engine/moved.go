package engine

import (
	"context"
	"errors"
	"fmt"

	"agent/eventlog/event"
	"agent/forge"
)

// task reads the item, at the address that it has now.
func (e *Engine) task(ctx context.Context) (forge.Task, error) {
	t, err := e.p.Forge.Task(ctx, e.state.Key)
	if moved, followErr := e.follow(err); followErr != nil || !moved {
		return t, followErr
	}
	return e.p.Forge.Task(ctx, e.state.Key)
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
		reason = "transferred"
	}
	if m.To.Host != e.state.Key.Host || m.Transferred && !e.p.Takes(m.To) {
		return false, &forge.Error{Kind: forge.Hidden, Op: m.Op, Message: fmt.Sprintf("%s moved to %s, where no tasks are taken", e.state.Key, m.To)}
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
