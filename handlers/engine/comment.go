package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"agent/eventlog/event"
	"agent/forge"
	"agent/internal/i18n"
	"agent/internal/sanitize"
	"agent/projections"
)

// comment writes a new comment or edits one. again means that it may stand already.
func (e *Engine) comment(ctx context.Context, seq uint64, in *event.CommentRequested, again bool) (event.Body, error) {
	id := op(e.state.Created.UUID, seq)
	body, err := e.fullBody(in)
	if err != nil {
		return nil, err
	}
	head, err := e.head(seq, in)
	if err != nil {
		return nil, err
	}
	w := write{refused: commentFailed, bestEffort: in.Repeated(), closing: projections.Status(in.Purpose).Ended()}
	if in.Edit != "" {
		w.send = func() (event.Body, error) {
			c, err := e.fitting(body, head, id, func(body string) (forge.Comment, error) {
				return e.p.Forge.EditComment(ctx, e.state.Key, in.Edit, body)
			})
			return &event.CommentPosted{ID: in.Edit, URL: c.URL}, err
		}
		return e.write(ctx, w)
	}
	earlier := e.unanswered(in)
	w.uncertain = again || len(earlier) > 0
	w.find = func() (event.Body, error) {
		c, found, err := e.find(ctx, append(earlier, id)...)
		if err == nil && found != "" && found != id { // what an earlier request wrote says what this one says now
			_, err = e.fitting(body, head, id, func(body string) (forge.Comment, error) {
				return e.p.Forge.EditComment(ctx, e.state.Key, c.ID, body)
			})
		}
		if err != nil || found == "" {
			return nil, err
		}
		return &event.CommentPosted{ID: c.ID, URL: c.URL, Adopted: true}, nil
	}
	w.send = func() (event.Body, error) {
		c, err := e.fitting(body, head, id, func(body string) (forge.Comment, error) {
			return e.p.Forge.PostComment(ctx, e.state.Key, body)
		})
		return &event.CommentPosted{ID: c.ID, URL: c.URL}, err
	}
	return e.write(ctx, w)
}

// unanswered are the ops of the requests before this one that may have written its comment:
// what is best effort is given up before it is known what became of it.
func (e *Engine) unanswered(in *event.CommentRequested) (ops []string) {
	if !in.Repeated() {
		return nil
	}
	for _, seq := range e.state.Progress.Posts[in.Purpose].Lost {
		ops = append(ops, op(e.state.Created.UUID, seq))
	}
	return ops
}

// shortest is how many characters of a comment are left at least where a forge takes
// no longer one.
const shortest = 1000

// fitting sends a comment, and a shorter one where the forge finds it too long. What
// ends it, the head and the marker, is never cut.
func (e *Engine) fitting(body, head, id string, send func(string) (forge.Comment, error)) (forge.Comment, error) {
	for room := utf8.RuneCountInString(body); ; room /= 2 {
		short := sanitize.Cut(body, room, i18n.Text(e.state.Lang, "cut"))
		c, err := send(marked(short+head, e.p.MarkerKey, e.state.Key, id))
		var failed *forge.Error
		if !errors.As(err, &failed) || failed.Kind != forge.Invalid || !strings.Contains(strings.ToLower(failed.Message), "too long") || room < 2*shortest {
			return c, err
		}
	}
}

// head ends a last word with the hash of the log up to its own intent, so
// that nobody can change that part of the log and not be found out by whoever
// reads the comment. It is empty for other comments.
func (e *Engine) head(seq uint64, in *event.CommentRequested) (string, error) {
	if !projections.Status(in.Purpose).Ended() {
		return "", nil
	}
	for rec, err := range e.p.Store.Records(e.log.UUID()) {
		if err != nil {
			return "", err
		}
		if rec.Seq == seq {
			sum := sha256.Sum256(rec.Line)
			return "\n\n" + i18n.Text(e.state.Lang, "facts.head", e.log.UUID(), seq, hex.EncodeToString(sum[:])), nil
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

// find looks for a comment by our account whose marker names one of some ops and is genuine,
// and gives that op. It looks at all of them: no clock tells which can be ours.
func (e *Engine) find(ctx context.Context, ops ...string) (c forge.Comment, op string, err error) {
	comments, err := e.p.Forge.Comments(ctx, e.state.Key, time.Time{})
	if err != nil {
		return c, "", err
	}
	for _, c := range comments {
		found, valid := e.genuine(c.Body)
		if valid && slices.Contains(ops, found) && (e.mine(ctx, c.Author) || e.me == nil) { // nobody can know the op before us
			return c, found, nil
		}
	}
	return c, "", nil
}

// mine reports whether an account is ours. Some tokens cannot ask who they
// are; then the configured name decides.
func (e *Engine) mine(ctx context.Context, a forge.Account) bool {
	if me := e.account(ctx); me != nil {
		return a.Login == me.Login
	}
	return a.Login == e.state.Config.Bot
}

// account is the agent's own, nil if the forge does not say.
func (e *Engine) account(ctx context.Context) *forge.Account {
	if e.me == nil {
		me, err := e.p.Forge.Me(ctx)
		if err != nil {
			return nil
		}
		e.me = &me
	}
	return e.me
}
