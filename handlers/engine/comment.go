package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers"
	"agent/internal/i18n"
	"agent/projections"
)

// maxSends is how often a write to the forge is tried in one run.
const maxSends = 3

// passingWait is the longest wait between two tries of a write that may fail.
const passingWait = 10 * time.Second

// clockSlack is how far the forge's clock may be from ours.
const clockSlack = 5 * time.Minute

// comment writes a new comment or edits one. again means that it may stand already.
func (e *Engine) comment(ctx context.Context, seq uint64, in *event.CommentRequested, again bool) (event.Body, error) {
	id := op(e.state.Created.UUID, seq)
	body, err := e.fullBody(in)
	if err != nil {
		return nil, err
	}
	if body, err = e.withHead(body, seq, in); err != nil {
		return nil, err
	}
	body = marked(body, e.p.MarkerKey, e.state.Key, id)
	w := write{refused: commentFailed, passing: in.Repeated()}
	if in.Edit != "" {
		w.send = func() (event.Body, error) {
			c, err := e.p.Forge.EditComment(ctx, e.state.Key, in.Edit, body)
			return &event.CommentPosted{ID: in.Edit, URL: c.URL}, err
		}
		return e.write(ctx, w)
	}
	since := e.state.Open.Time.Add(-clockSlack)
	w.uncertain = again
	w.look = func() (event.Body, error) { return e.adopt(ctx, id, since) }
	w.send = func() (event.Body, error) {
		c, err := e.p.Forge.PostComment(ctx, e.state.Key, body)
		return &event.CommentPosted{ID: c.ID, URL: c.URL}, err
	}
	return e.write(ctx, w)
}

// withHead ends a last word with the hash of the log up to its own intent, so
// that nobody can change that part of the log and not be found out by whoever
// reads the comment.
func (e *Engine) withHead(body string, seq uint64, in *event.CommentRequested) (string, error) {
	switch projections.Status(in.Purpose) {
	case projections.Completed, projections.Failed, projections.Stopped:
	default:
		return body, nil
	}
	for rec, err := range e.p.Store.Records(e.log.UUID()) {
		if err != nil {
			return "", err
		}
		if rec.Seq == seq {
			sum := sha256.Sum256(rec.Line)
			return body + "\n\n" + i18n.Text(e.state.Lang, "facts.head", e.log.UUID(), seq, hex.EncodeToString(sum[:])), nil
		}
	}
	return "", fmt.Errorf("event %d of %s is not there", seq, e.log.UUID())
}

func (e *Engine) fullBody(in *event.CommentRequested) (string, error) {
	if !in.Body.Spilled() {
		return in.Body.Inline, nil
	}
	data, err := e.log.Blob(in.Body.Blob)
	return string(data), err
}

func commentFailed(err *forge.Error) event.Body {
	return &event.CommentFailed{Kind: string(err.Kind), Message: clean(err.Message)}
}

// adopt looks for a comment by our account whose marker names op and is genuine.
func (e *Engine) adopt(ctx context.Context, op string, since time.Time) (event.Body, error) {
	comments, err := e.p.Forge.Comments(ctx, e.state.Key, since)
	if err != nil {
		return nil, err
	}
	for _, c := range comments {
		found, valid := markerOf(c.Body, e.p.MarkerKey, e.state.Key)
		if valid && found == op && (e.mine(ctx, c.Author) || e.me == nil) { // nobody can know the op before us
			return &event.CommentPosted{ID: c.ID, URL: c.URL, Adopted: true}, nil
		}
	}
	return nil, nil
}

// mine reports whether an account is ours. Some tokens cannot ask who they
// are; then the configured name decides.
func (e *Engine) mine(ctx context.Context, a forge.Account) bool {
	if e.me == nil {
		me, err := e.p.Forge.Me(ctx)
		if err != nil {
			return a.Login == e.state.Config.Bot
		}
		e.me = &me
	}
	return a.Login == e.me.Login
}

// write is one change of the forge.
type write struct {
	uncertain bool                          // it may have been done already
	look      func() (event.Body, error)    // finds it if it was done; nil if doing it twice is no harm
	send      func() (event.Body, error)    // does it
	refused   func(*forge.Error) event.Body // the outcome of a definite no
	patience  int                           // runs after which a forge that does not answer counts as a no; 0: never
	passing   bool                          // what it says is said again later: a forge that does not answer counts as a no at once
}

// write does it exactly once, as far as the forge lets us see. It gives up with
// a Temporary error, which leaves the intent open for the next run.
func (e *Engine) write(ctx context.Context, w write) (event.Body, error) {
	for try := 1; ; try++ {
		if w.uncertain && w.look != nil {
			found, err := e.lookTwice(ctx, w.look)
			if failed := (*forge.Error)(nil); w.passing && ctx.Err() == nil && errors.As(err, &failed) {
				return e.giveUp(w, failed)
			}
			if found != nil || err != nil {
				return found, err
			}
		}
		done, err := w.send()
		if err == nil {
			return done, nil
		}
		var failed *forge.Error
		if ctx.Err() != nil || !errors.As(err, &failed) {
			return nil, err
		}
		wait, retry := e.retryWrite(failed, try)
		if !retry || w.passing && wait > passingWait {
			return e.giveUp(w, failed)
		}
		w.uncertain = w.uncertain || failed.Kind == forge.Ambiguous
		if err := e.p.Sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// giveUp ends the tries of this run. A token that is refused is never passed
// over: nothing else would succeed, either.
func (e *Engine) giveUp(w write, failed *forge.Error) (event.Body, error) {
	lasting := w.passing && failed.Kind != forge.Auth || w.patience > 0 && e.state.Reopened >= w.patience
	if temporary(failed.Kind) && !lasting {
		return nil, &Temporary{failed}
	}
	return w.refused(failed), nil
}

func temporary(k forge.ErrorKind) bool {
	return k == forge.Ambiguous || k == forge.Transient || k == forge.RateLimited || k == forge.Auth || k == forge.Hidden
}

// retryWrite says whether to try again in this run, and when.
func (e *Engine) retryWrite(failed *forge.Error, try int) (time.Duration, bool) {
	switch failed.Kind {
	case forge.RateLimited:
		return failed.RetryAfter, try < maxSends && failed.RetryAfter <= handlers.MaxWait
	case forge.Ambiguous, forge.Transient:
		return e.backoff(try), try < maxSends
	default:
		return 0, false
	}
}

// lookTwice looks, and looks once more after the time that the forge may need
// to list a new comment.
func (e *Engine) lookTwice(ctx context.Context, look func() (event.Body, error)) (event.Body, error) {
	for first := true; ; first = false {
		found, err := look()
		var failed *forge.Error
		switch {
		case found != nil:
			return found, nil
		case errors.As(err, &failed):
			return nil, &Temporary{failed}
		case err != nil || !first:
			return nil, err
		}
		if err := e.p.Sleep(ctx, e.p.AdoptWait); err != nil {
			return nil, err
		}
	}
}
