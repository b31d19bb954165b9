package rounds

import (
	"context"
	"errors"
	"strconv"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers"
	"agent/handlers/engine"
	"agent/handlers/policy"
	"agent/internal/app"
	"agent/projections"
)

// Nothing polls the items of ended contexts. What people write on one is read where a hook tells of
// a comment, where its list tells that it has changed, and where a context ended for another attempt.

// againError ends a job whose context ended because a person asked for another attempt.
type againError struct {
	key forge.TaskKey
	at  app.Site
}

func (e *againError) Error() string { return "another attempt was asked for" }

func endedForRetry(s *projections.State) bool {
	return s.Status == projections.Stopped && s.Stop != nil && event.EndReason(s.Stop.By) == event.EndRetry
}

// again makes the attempt that a person asked for, after the one before has ended. Another job
// that was quicker, or a later round, finds the label.
func (r *round) again(ctx context.Context, err error, c *claims) error {
	var again *againError
	for errors.As(err, &again) {
		if err = nil; ctx.Err() != nil || !r.isClaimed(c, again.key.String()) && !r.take(again.key.String(), c) {
			break
		}
		err = r.attempt(ctx, job{key: again.key, at: again.at, trigger: policy.ByComment}, c)
	}
	return err
}

// askedAgain reports whether a task without a live context begins: for a comment, and where the latest
// attempt ended for another one, somebody who may write asked for that. It also answers who asked for the status.
func (r *round) askedAgain(ctx context.Context, j *job) (begins bool, err error) {
	if j.trigger == policy.ByCommand || !r.Config.Commands.Enabled {
		return j.trigger != policy.ByComment, nil
	}
	latest, begun, err := r.latestOf(j.key)
	switch {
	case err != nil:
		return false, err
	case latest == "":
		r.readAfterEnd(j.key, j.changed) // another agent's
		return j.trigger != policy.ByComment, nil
	case j.trigger == policy.ByLabel && !r.endedForRetry(latest):
		return true, nil
	}
	retry, err := r.afterEnd(ctx, *j, latest, begun)
	if err != nil || retry == nil {
		return j.trigger != policy.ByComment && err == nil, err
	}
	j.trigger, j.actor, j.comment = policy.ByComment, retry.Author.Login, retry.ID
	return true, nil
}

// latestOf is the latest attempt at a task, and the latest comment that began one.
func (r *round) latestOf(key forge.TaskKey) (uuid, begun string, err error) {
	infos, err := r.Store.Attempts(key.String())
	for _, i := range infos {
		if i.Fork != "" && !i.Live {
			continue
		}
		if uuid == "" {
			uuid = i.UUID
		}
		if first, err := r.Store.Creation(i.UUID); err == nil && projections.LaterID(first.Comment, begun) {
			begun = first.Comment
		}
	}
	return uuid, begun, err
}

// endedForRetry is false for a log that cannot be read.
func (r *round) endedForRetry(uuid string) bool {
	i, err := r.Store.Info(uuid)
	if err != nil || i.State != contexts.StateStopped {
		return false
	}
	s, err := engine.ReadState(r.Store, uuid)
	return err == nil && endedForRetry(s)
}

// afterEnd reads what people wrote on an item whose latest attempt has ended, and answers those
// who asked for its status.
func (r *round) afterEnd(ctx context.Context, j job, latest, begun string) (retry *policy.Answer, err error) {
	comments, err := j.at.Client.Comments(ctx, j.key, time.Time{})
	if err != nil {
		return nil, unread(err)
	}
	answers := r.commandsAfter(ctx, j.at, comments)
	if len(answers) == 0 {
		r.readAfterEnd(j.key, j.changed)
		return nil, nil
	}
	s, err := engine.ReadState(r.Store, latest)
	if err != nil {
		return nil, err
	}
	f := policy.Facts{Comments: &answers}
	retry, reports, need := policy.AfterEnd(s, answers, begun)
	if need == policy.Permission {
		if err := r.readPermissions(ctx, j.at, s, &f); err != nil {
			return nil, err
		}
		retry, reports, _ = policy.AfterEnd(s, answers, begun)
	}
	for _, a := range reports {
		if err := r.tellEnded(ctx, j, s, comments, a.ID); err != nil {
			return nil, err
		}
	}
	r.readAfterEnd(j.key, j.changed)
	return retry, nil
}

// commandsAfter are the comments with a command that means something after the end.
func (r *round) commandsAfter(ctx context.Context, at app.Site, comments []forge.Comment) (answers []policy.Answer) {
	self, grammar := r.self(ctx, at, comments)
	for _, c := range comments {
		commands, _ := policy.Commands(c.Body, grammar)
		if !policy.Asks(commands, policy.CommandRetry) && !policy.Asks(commands, policy.CommandStatus) {
			continue
		}
		id := projections.CommentID(c.Kind, c.ID)
		answers = append(answers, policy.Answer{ID: c.ID, Author: c.Author, New: true, Edited: policy.Edited(c), Ordered: id == c.ID, Commands: commands,
			Self: self != "" && c.Author.Login == self, Ours: c.System || engine.Marked(c.Body)})
	}
	return answers
}

// tellEnded answers a question about an ended context, once. There is no log to note that in: the
// answer itself, found by its marker, is the note.
func (r *round) tellEnded(ctx context.Context, j job, s *projections.State, comments []forge.Comment, comment string) error {
	about, err := strconv.ParseUint(comment, 10, 64)
	if err != nil || engine.Answered(comments, r.Ports.MarkerKey, j.key, about) {
		return nil
	}
	text, _ := r.Redact.String(handlers.Status(s))
	if err := engine.PostOnce(ctx, j.at.Client, r.Ports.MarkerKey, j.key, about, text); err != nil {
		return unread(err)
	}
	if err := j.at.Client.React(ctx, j.key, comment, forge.ThumbsUp); err != nil {
		r.Log.Warn("a command could not be answered with a reaction", "task", j.key, "error", err)
	}
	return nil
}
