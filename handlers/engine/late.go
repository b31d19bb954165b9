package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/forge"
)

// A machine that sleeps in the middle of a request, or whose request lies in a network that does not
// move, changes the forge when another machine has gone on with its context. A forge refuses nothing for
// that. The log is right, and an older text or label stands on the task.
//
// The machine learns it when it wakes: its context is lost. So it reads the log as it is now, and what
// stands on the task. What its own effect has undone, it does again, until what it reads is what the
// log says. Nothing of that is an event: it repeats effects that are in the log already.

// Late is an effect whose context was lost before its outcome was in the log.
type Late struct {
	uuid   string
	seq    uint64 // of the intent
	intent event.Body
}

// Late gives the effect that may come late, nil if there is none. It is known after [Engine.Run].
func (e *Engine) Late() *Late { return e.late }

// noteLate keeps an effect in mind whose context was lost.
func (e *Engine) noteLate(seq uint64, intent event.Body, err error) {
	if contexts.MayBeLost(err) && writes(intent) && !e.state.Simulates() {
		e.late = &Late{e.log.UUID(), seq, intent}
	}
}

// lateAgain is the time to another look, after which nothing may have changed any more: an effect may
// still be on its way, and a server of the cluster may not know the newest lines.
const lateAgain = 3 * time.Second

// Amend does again what the effect has undone. It ends when two looks have found nothing to do, or with
// ctx. The context may be worked on meanwhile, and is not taken.
func (l *Late) Amend(ctx context.Context, p Ports) error {
	for calm := 0; calm < 2; {
		done, err := l.amend(ctx, p)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case contexts.IsGone(err):
			return nil
		case final(err):
			return err
		case err != nil:
			p.Log.Warn("whether an effect came late could not be seen", "seq", l.seq, "error", err, "next", "tried again")
			calm = 0
		case done:
			calm++
		default:
			calm = 0
		}
		if calm < 2 {
			if err := p.Sleep(ctx, lateAgain); err != nil {
				return err
			}
		}
	}
	return nil
}

// final tells a refusal of the forge that does not pass by itself.
func final(err error) bool {
	var failed *forge.Error
	return errors.As(err, &failed) && !temporary(failed.Kind)
}

// amend looks once. It is true if nothing was to be done, and no other worker is at it right now.
func (l *Late) amend(ctx context.Context, p Ports) (done bool, err error) {
	if err := p.Store.Refresh(ctx, l.uuid); err != nil {
		return false, err
	}
	now, err := l.standing(p.Store)
	if err != nil || now.open || now.seq <= l.seq { // what is older came in time
		return err == nil && !now.open, err
	}
	e := newEngine(p)
	if e.state, err = ReadState(p.Store, l.uuid); err != nil {
		return false, err
	}
	switch in := l.intent.(type) {
	case *event.CommentRequested:
		if in.Edit != "" {
			return e.amendComment(ctx, in.Edit, now)
		}
	case *event.LabelsRequested:
		return e.amendLabels(ctx, in, now)
	}
	return true, nil // a change is found by its branch; a comment that stands twice stays
}

// standing is what the log says of the target of an effect.
type standing struct {
	seq     uint64 // of the latest intent that was done
	comment *event.CommentRequested
	labels  *event.LabelsRequested
	open    bool // somebody is at it
}

// standing reads the log.
func (l *Late) standing(store *contexts.Store) (now standing, err error) {
	edit := ""
	if in, ok := l.intent.(*event.CommentRequested); ok {
		edit = in.Edit
	}
	var comment *event.CommentRequested
	var labels *event.LabelsRequested
	seq := uint64(0)
	for ev, err := range store.Events(l.uuid) {
		if err != nil {
			return now, err
		}
		switch b := ev.Body.(type) {
		case *event.CommentRequested:
			comment, seq, now.open = b, ev.Seq, edit != "" && b.Edit == edit
		case *event.CommentPosted:
			if now.open = false; b.ID == edit {
				now.comment, now.seq = comment, seq
			}
		case *event.LabelsRequested:
			labels, seq, now.open = b, ev.Seq, edit == ""
		case *event.LabelsChanged:
			if now.open = false; edit == "" {
				now.labels, now.seq = labels, seq
			}
		case *event.CommentFailed, *event.LabelsFailed:
			now.open = false
		}
	}
	return now, nil
}

// amendComment writes the newest text into a comment that shows an older one of this context.
func (e *Engine) amendComment(ctx context.Context, id string, now standing) (done bool, err error) {
	comments, err := e.p.Forge.Comments(ctx, e.state.Key, time.Time{})
	if err != nil {
		return false, err
	}
	at := slices.IndexFunc(comments, func(c forge.Comment) bool { return c.ID == id })
	if at < 0 {
		return true, nil // somebody has deleted it
	}
	shown, ours := e.seqOf(comments[at])
	if !ours || shown >= now.seq {
		return true, nil
	}
	body := now.comment.Body.Inline
	if now.comment.Body.Spilled() {
		data, err := e.p.Store.Blob(e.state.Created.UUID, now.comment.Body.Blob)
		if err != nil {
			return false, err
		}
		body = string(data)
	}
	e.p.Log.Warn("an edit came late: the newest text is written again", "comment", id, "shown", shown, "newest", now.seq)
	_, err = e.fitting(body, "", op(e.state.Created.UUID, now.seq), func(body string) (forge.Comment, error) {
		return e.p.Forge.EditComment(ctx, e.state.Key, id, body)
	})
	return false, err
}

// seqOf is the intent that a comment shows, if this context has written it.
func (e *Engine) seqOf(c forge.Comment) (seq uint64, ours bool) {
	found, valid := e.genuine(c.Body)
	uuid, number, _ := strings.Cut(found, ":")
	seq, err := strconv.ParseUint(number, 10, 64)
	return seq, valid && err == nil && uuid == e.state.Created.UUID
}

// amendLabels takes the labels away that came late, and sets those again that went late. What the
// log has asked for since tells them; what people have changed stays. A later attempt has its own labels.
func (e *Engine) amendLabels(ctx context.Context, late *event.LabelsRequested, now standing) (done bool, err error) {
	all, err := e.p.Store.OfTask(e.state.Key.String())
	if err != nil || len(all) == 0 || all[0].UUID != e.state.Created.UUID {
		return err == nil, err
	}
	t, err := e.p.Forge.Task(ctx, e.state.Key)
	if err != nil {
		return false, err
	}
	has := func(name string) bool { return t.Key.Kind.Carries(t.Labels, name) }
	var add, remove []string
	for _, name := range now.labels.Add {
		if slices.Contains(late.Remove, name) && !has(name) {
			add = append(add, name)
		}
	}
	for _, name := range now.labels.Remove {
		if slices.Contains(late.Add, name) && has(name) {
			remove = append(remove, name)
		}
	}
	if len(add)+len(remove) == 0 {
		return true, nil
	}
	e.p.Log.Warn("labels came late: the newest are set again", "add", fmt.Sprint(add), "remove", fmt.Sprint(remove))
	_, err = e.p.Forge.ChangeLabels(ctx, e.state.Key, e.styled(add), remove)
	return false, err
}
