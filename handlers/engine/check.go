package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers/policy"
	"agent/internal/sanitize"
	"agent/projections"
)

// checkTask looks now and then whether people took the task away or changed
// it. A look that finds nothing new leaves no event.
func (e *Engine) checkTask(ctx context.Context) error {
	s := e.state
	if e.p.TaskCheck < 0 || s.Status != projections.Running || s.Task == nil || s.Stop != nil || !s.Done(projections.LabelsStart, 0) {
		return nil
	}
	now := e.p.Now()
	if !e.checkedAt.IsZero() && now.Sub(e.checkedAt) < e.p.TaskCheck {
		return nil
	}
	e.checkedAt = now
	t, err := e.task(ctx)
	var failed *forge.Error
	if errors.As(err, &failed) && failed.Kind == forge.NotFound {
		return e.input(&event.StopRequested{By: "gone"})
	}
	if errors.Is(err, ErrElsewhere) {
		return &Temporary{err} // nothing may be written there
	}
	if err != nil {
		return ctx.Err() // a look that failed is made again later
	}
	if by := e.takenAway(ctx, t); by != "" {
		return e.input(&event.StopRequested{By: by})
	}
	if err := e.noticeEdit(ctx, t); err != nil {
		return err
	}
	return e.takeCommands(ctx, t)
}

// lastCheck looks once more before the work is published or called done, however
// long the next look would be off.
func (e *Engine) lastCheck(ctx context.Context, intent event.Body) (changed bool, err error) {
	closing := false
	switch in := intent.(type) {
	case *event.ChangeRequested:
		closing = true
	case *event.CommentRequested:
		closing = in.Purpose == string(projections.Completed)
	}
	if !closing || e.p.Now().Sub(e.checkedAt) < time.Second {
		return false, nil
	}
	before := e.state.Seq
	e.checkedAt = time.Time{}
	err = e.checkTask(ctx)
	return e.state.Seq != before, err
}

// takenAway names how people ended the task, if they did.
func (e *Engine) takenAway(ctx context.Context, t forge.Task) string {
	by, need := policy.TakenAway(e.state, policy.ItemOf(t), nil)
	if need == policy.Self {
		assigned := slices.ContainsFunc(t.Assignees, func(login string) bool { return e.mine(ctx, forge.Account{Login: login}) })
		by, _ = policy.TakenAway(e.state, policy.ItemOf(t), &assigned)
	}
	return by
}

func (e *Engine) noticeEdit(ctx context.Context, t forge.Task) error {
	sum := Hash(t.Title + "\x00" + t.Body)
	waits := e.state.Unseen != nil && (e.state.Unseen.Text == nil || e.state.Unseen.Text.Hash == sum)
	if sum == e.state.Task.Hash || waits {
		return nil
	}
	var edit event.TextEdit
	if policy.Guarded(e.state, t.Private) {
		var err error
		if edit, err = e.edit(ctx, t, false); err != nil {
			return ctx.Err() // it is noticed again at the next check
		}
	}
	title, _ := sanitize.Input(t.Title)
	body, removed := sanitize.Rendered(t.Body)
	return e.input(&event.TaskChanged{What: "text", Title: sanitize.Line(title, 500), Body: event.T(body), Removed: removed, Hash: sum, Edit: edit})
}
