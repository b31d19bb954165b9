package rounds

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers/engine"
	"agent/handlers/policy"
	"agent/internal/app"
	"agent/projections"
)

// wakeOf says what, if anything, wakes a context. trigger is policy.ByLabel,
// policy.ByCommand, or "" if the round came to it by itself.
func (r *round) wakeOf(ctx context.Context, s *projections.State, trigger string) (event.Body, error) {
	if !policy.Waiting(s) {
		return nil, nil
	}
	resume, err := engine.TakeResume(r.Store, s.Created.UUID)
	if err != nil {
		return nil, err
	}
	at, configured := r.Site(s.Created.Forge)
	f := policy.Facts{Now: time.Now(), Trigger: trigger, Resume: resume, PauseSignal: r.PauseSignal(),
		ExpiryDays: r.Config.PauseResume.PausedTaskExpiryDays, Triggers: at.Config.Triggers()}
	for {
		wake, need := policy.Wake(s, f)
		switch {
		case need == policy.Nothing:
			return wake, nil
		case !configured:
			return nil, nil
		case need == policy.Task:
			err = readTask(ctx, at, s, &f)
		case need == policy.Comments:
			err = readAnswers(ctx, at, s, &f)
		default:
			panic(fmt.Sprintf("rounds: waking needs fact %d", need))
		}
		if err != nil {
			return nil, temporary(err)
		}
	}
}

// readTask reads the item now that its context is taken: since it was listed,
// another process may have begun and paused it.
func readTask(ctx context.Context, at app.Site, s *projections.State, f *policy.Facts) error {
	t, err := at.Client.Task(ctx, s.Key)
	var failed *forge.Error
	if errors.As(err, &failed) && failed.Kind == forge.NotFound && s.Status == projections.Awaiting {
		f.Gone = true
		return nil
	}
	item := policy.ItemOf(t)
	f.Task = &item
	return err
}

// readAnswers reads what was written since the last fetch, and a little before: clocks differ.
func readAnswers(ctx context.Context, at app.Site, s *projections.State, f *policy.Facts) error {
	comments, err := at.Client.Comments(ctx, s.Key, s.Comments.LastFetch.Add(-5*time.Minute))
	answers := []policy.Answer{}
	for _, c := range comments {
		id := projections.CommentID(c.Kind, c.ID)
		known, seen := s.Comments.Seen(id)
		answers = append(answers, policy.Answer{Author: c.Author, New: !seen || known != engine.Hash(c.Body),
			Ours: c.System || s.Comments.Own(id) || engine.Marked(c.Body)}) // author and agent may share an account
	}
	f.Comments = &answers
	return err
}
