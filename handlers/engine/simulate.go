package engine

import (
	"context"
	"fmt"

	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers"
	"agent/projections"
)

// A fork that is not live writes nothing to the forge. What its origin did as well has
// the outcome that the origin recorded, everything else is noted as not done. What was
// read from the forge after the fork began comes from that record, too: the item shows
// by now what the origin made of it.

// readOnly is a forge that takes no write.
type readOnly struct{ forge.Client }

func (readOnly) refuse(op string) error {
	return &forge.Error{Kind: forge.Forbidden, Op: op, Message: "a fork that is not live writes nothing"}
}

func (r readOnly) PostComment(context.Context, forge.TaskKey, string) (forge.Comment, error) {
	return forge.Comment{}, r.refuse("post comment")
}

func (r readOnly) EditComment(context.Context, forge.TaskKey, string, string) (forge.Comment, error) {
	return forge.Comment{}, r.refuse("edit comment")
}

func (r readOnly) React(context.Context, forge.TaskKey, string, forge.Emoji) error {
	return r.refuse("react to comment")
}

func (r readOnly) ChangeLabels(context.Context, forge.TaskKey, []forge.Label, []string) ([]string, error) {
	return nil, r.refuse("change labels")
}

func (r readOnly) OpenChange(context.Context, forge.TaskKey, forge.ChangeSpec) (forge.Change, error) {
	return forge.Change{}, r.refuse("open change")
}

func (r readOnly) AskReview(context.Context, forge.TaskKey, int, string) error {
	return r.refuse("ask for review")
}

// simulated keeps a fork from its task.
func simulated(p Ports) Ports {
	p.Forge = readOnly{p.Forge}
	p.TaskCheck = -1
	return p
}

// record is what the origin of a fork read and did after the fork began.
type record struct {
	task      *event.TaskFetched
	inherited *event.ContextInherited
	fetches   [][]event.Comment
	done      []effect
}

type effect struct{ intent, outcome event.Body }

// recorded reads the origin's log. What is not there any more was not recorded.
func (e *Engine) recorded() *record {
	if e.origin != nil {
		return e.origin
	}
	r, fork := &record{}, e.state.Fork
	e.origin = r
	var open event.Body
	var part []event.Comment
	for ev, err := range e.p.Store.Events(fork.Origin) {
		if err != nil {
			e.p.Log.Info("the origin of the fork cannot be read any more", "origin", fork.Origin, "error", err)
			break
		}
		if ev.Seq <= fork.Seq {
			continue
		}
		event.Unspill(ev.Body, func(hash string) ([]byte, error) { return e.p.Store.Blob(fork.Origin, hash) })
		switch event.RoleOf(ev.Body) {
		case event.Intent:
			open = ev.Body
		case event.Outcome:
			r.done = append(r.done, effect{open, ev.Body})
		case event.Input, event.Mark:
		}
		switch b := ev.Body.(type) {
		case *event.TaskFetched:
			r.task = b
		case *event.ContextInherited:
			r.inherited = b
		case *event.CommentsFetched:
			if part = append(part, b.Comments...); b.Last {
				r.fetches, part = append(r.fetches, part), nil
			}
		}
	}
	return r
}

// reread appends what the origin read; false if it read no such thing.
func (e *Engine) reread(r handlers.Read) (done bool, err error) {
	if !e.state.Simulates() {
		return false, nil
	}
	rec := e.recorded()
	switch {
	case r.Want == handlers.WantTask && rec.task != nil:
		return true, e.input(rec.task)
	case r.Want == handlers.WantInherited && rec.inherited != nil:
		return true, e.input(rec.inherited)
	case r.Want == handlers.WantComments && (r.Reason != event.FetchStart || len(rec.fetches) > 0):
		return true, e.refetch(rec, r.Reason)
	}
	return false, nil
}

// refetch appends the comments that the origin found when it had read as often.
func (e *Engine) refetch(rec *record, reason event.FetchReason) error {
	found := []event.Comment{}
	if n := e.state.Fork.Fetches; n < len(rec.fetches) {
		for _, c := range rec.fetches[n] {
			if hash, seen := e.state.Comments.Seen(projections.CommentID(c.Kind, c.ID)); !seen || hash != c.Hash || c.Verdict == event.DeletedComment {
				found = append(found, c)
			}
		}
	}
	return e.input(&event.CommentsFetched{Reason: reason, Comments: found, Last: true})
}

// simulate gives the outcome of a write that is not done.
func (e *Engine) simulate(ctx context.Context, seq uint64, intent event.Body) (event.Body, error) {
	for _, did := range e.recorded().done {
		if outcome := did.answers(intent); outcome != nil {
			return outcome, nil
		}
	}
	switch in := intent.(type) {
	case *event.CommentRequested:
		id := in.Edit
		if id == "" {
			id = fmt.Sprintf("fork-%d", seq)
		}
		return &event.CommentPosted{ID: id, Simulated: event.NotDone}, nil
	case *event.LabelsRequested:
		return &event.LabelsChanged{Labels: nonNil(e.state.Labels), Simulated: event.NotDone}, nil
	case *event.ChangeRequested:
		return e.keepChange(ctx, in)
	}
	return nil, fmt.Errorf("no way to simulate %s", intent.Type())
}

// keepChange makes a patch of a change that is not pushed.
func (e *Engine) keepChange(ctx context.Context, in *event.ChangeRequested) (event.Body, error) {
	patch := *in
	patch.Branch, patch.Existing, patch.Reviewer = "", false, ""
	outcome, err := e.change(ctx, &patch)
	if opened, ok := outcome.(*event.ChangeOpened); ok && in.Branch != "" {
		opened.Simulated = event.NotDone
	}
	return outcome, err
}

// answers gives the outcome of an effect if it is the same as intent, and was done.
func (d effect) answers(intent event.Body) event.Body {
	switch in := intent.(type) {
	case *event.CommentRequested:
		did, ok := d.intent.(*event.CommentRequested)
		posted, done := d.outcome.(*event.CommentPosted)
		if ok && done && posted.Simulated == "" && did.Purpose == in.Purpose && did.Edit == in.Edit && did.Body.View() == in.Body.View() {
			return &event.CommentPosted{ID: posted.ID, URL: posted.URL, Simulated: event.Recorded}
		}
	case *event.LabelsRequested:
		did, ok := d.intent.(*event.LabelsRequested)
		changed, done := d.outcome.(*event.LabelsChanged)
		if ok && done && changed.Simulated == "" && did.Purpose == in.Purpose && fmt.Sprint(did.Add, did.Remove) == fmt.Sprint(in.Add, in.Remove) {
			return &event.LabelsChanged{Labels: changed.Labels, Event: changed.Event, Simulated: event.Recorded}
		}
	case *event.ChangeRequested:
		did, ok := d.intent.(*event.ChangeRequested)
		opened, done := d.outcome.(*event.ChangeOpened)
		same := ok && done && opened.Simulated == "" && in.Tree != "" && did.Tree == in.Tree && did.Base == in.Base && did.Unfinished == in.Unfinished && did.Paused == in.Paused
		if same && opened.Patch.IsZero() && !opened.Paused {
			again := *opened
			again.Simulated = event.Recorded
			return &again
		}
	}
	return nil
}
