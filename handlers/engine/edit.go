package engine

import (
	"context"
	"errors"
	"strings"

	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers/policy"
)

// edit finds out whether somebody who may write has seen a task's text as it is. The
// error is of a forge that does not answer now.
func (e *Engine) edit(ctx context.Context, t forge.Task, first bool) (event.TextEdit, error) {
	last, err := told(retryRead(ctx, e, func() (forge.Edit, error) { return e.p.Forge.LastEdit(ctx, e.state.Key) }))
	if err != nil {
		return event.TextEdit{}, err
	}
	label, err := e.triggered(ctx)
	if err != nil {
		return event.TextEdit{}, err
	}
	facts := policy.Edit{First: first, Last: last, Label: label}
	for {
		seen, need := policy.Seen(facts)
		switch need {
		case policy.Labeller:
			may := e.writes(ctx, label.By)
			facts.LabellerMay = &may
		case policy.Permission:
			may := e.writes(ctx, last.By)
			facts.EditorMay = &may
		default:
			return event.TextEdit{By: last.By.Login, At: last.At, Unknown: !last.Known || label.Event == 0, Asks: !seen}, ctx.Err()
		}
	}
}

func (e *Engine) writes(ctx context.Context, a forge.Account) bool {
	return !a.Bot && a.Login != "" && e.mayWrite(ctx, a)
}

// triggered is the latest time that any of the trigger labels was set.
func (e *Engine) triggered(ctx context.Context) (latest forge.Labelling, err error) {
	l := e.state.Config.Labels
	for _, name := range append([]string{l.Bot}, strings.Split(l.Triggers, "\n")...) {
		if name == "" {
			continue
		}
		set, err := told(retryRead(ctx, e, func() (forge.Labelling, error) { return e.p.Forge.LabelledBy(ctx, e.state.Key, name) }))
		if err != nil {
			return latest, err
		}
		if set.Event > latest.Event {
			latest = set
		}
	}
	return latest, nil
}

// told makes a forge that never tells something one that says nothing.
func told[T any](got T, err error) (T, error) {
	var failed *forge.Error
	if errors.As(err, &failed) && (failed.Kind == forge.NotFound || failed.Kind == forge.Forbidden || failed.Kind == forge.Invalid) {
		var nothing T
		return nothing, nil
	}
	return got, err
}
