package main

import (
	"context"
	"errors"
	"time"

	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers/engine"
	"agent/projections"
)

// wakeOf says what, if anything, ends the rest of a context. trigger is how the
// task came up: by its label, by a person's command, or by itself ("").
func (r *round) wakeOf(ctx context.Context, s *projections.State, trigger string) (event.Body, error) {
	if s.Resume != nil || (s.Status != projections.Paused && s.Status != projections.Awaiting) {
		return nil, nil
	}
	if resume, err := engine.TakeResume(r.Store, s.Created.UUID); err != nil {
		return nil, err
	} else if resume != nil {
		return resume, nil
	}
	asked := trigger == "command"
	if trigger == "label" && (s.Rest == nil || s.Rest.Reason != projections.Denied) {
		var err error
		if asked, err = r.stillLabelled(ctx, s); err != nil {
			return nil, err
		}
	}
	switch {
	case asked:
		return &event.ResumeRequested{By: trigger, Person: true}, nil
	case s.Status == projections.Awaiting:
		return r.answered(ctx, s)
	case r.expired(s):
		return &event.StopRequested{By: "expired"}, nil
	}
	return pauseOver(s.Rest.Until, r.PauseSignal()), nil
}

// stillLabelled reads the task again, now that its context is held: when it was
// listed, another process may just have begun it and put it to rest.
func (r *round) stillLabelled(ctx context.Context, s *projections.State) (bool, error) {
	at, ok := r.Site(s.Created.Forge)
	if !ok {
		return false, nil
	}
	t, err := at.Client.Task(ctx, s.Key)
	if err != nil {
		return false, &engine.Temporary{Err: err}
	}
	return trigger(at, t.Labels) != "", nil
}

// expired is true for a pause that nobody ended for paused_task_expiry_days.
func (r *round) expired(s *projections.State) bool {
	days := r.Config.PauseResume.PausedTaskExpiryDays
	return days > 0 && time.Since(s.PausedAt) > time.Duration(days)*24*time.Hour
}

// pauseOver ends a pause whose time has come or whose signal is gone.
func pauseOver(until event.Until, signal bool) event.Body {
	switch {
	case until.Kind == "time" && !time.Now().Before(until.Time):
		return &event.ResumeRequested{By: "timer"}
	case until.Kind == "signal" && !signal:
		return &event.ResumeRequested{By: "signal_file", Person: true}
	}
	return nil
}

// answered looks whether the author of a waiting task has written, or whether
// the time for that is over. A look that finds nothing leaves no event.
func (r *round) answered(ctx context.Context, s *projections.State) (event.Body, error) {
	at, ok := r.Site(s.Created.Forge)
	if !ok {
		return nil, nil
	}
	t, err := at.Client.Task(ctx, s.Key)
	var failed *forge.Error
	switch {
	case errors.As(err, &failed) && failed.Kind == forge.NotFound:
		return &event.StopRequested{By: "gone"}, nil
	case err != nil:
		return nil, &engine.Temporary{Err: err}
	}
	if t.State != "open" {
		return &event.StopRequested{By: "closed"}, nil
	}
	comments, err := at.Client.Comments(ctx, s.Key, s.Comments.LastFetch.Add(-5*time.Minute))
	if err != nil {
		return nil, &engine.Temporary{Err: err}
	}
	for _, c := range comments {
		if engine.IsAuthor(s, c.Author) && isNew(s, c) {
			return &event.ResumeRequested{By: "comment"}, nil
		}
	}
	if until := s.Wait.Until.Time; !time.Now().Before(until) {
		return &event.TimerFired{Until: until}, nil
	}
	return nil, nil
}

// isNew reports whether the log does not hold this text of a comment yet. Our
// own comments carry a marker, also where author and agent share an account.
func isNew(s *projections.State, c forge.Comment) bool {
	if c.System || s.Comments.Own(projections.CommentID(c.Kind, c.ID)) || engine.Marked(c.Body) {
		return false
	}
	known, seen := s.Comments.Seen(projections.CommentID(c.Kind, c.ID))
	return !seen || known != engine.Hash(c.Body)
}
