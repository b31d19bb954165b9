package rounds

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers/engine"
	"agent/handlers/policy"
	"agent/internal/app"
	"agent/projections"
)

// wakeOf says what, if anything, wakes a context, and why a label that is there does
// not. trigger is policy.ByLabel, policy.ByCommand, or "" if the round came to it by
// itself.
func (r *round) wakeOf(ctx context.Context, s *projections.State, trigger string) (wake event.Body, why string, err error) {
	if !policy.Waiting(s) {
		return nil, "", nil
	}
	resume, err := engine.TakeResume(r.Store, s.Created.UUID)
	if err != nil {
		return nil, "", err
	}
	at, configured := r.Site(s.Created.Forge)
	f := policy.Facts{Now: time.Now(), Trigger: trigger, Resume: resume, PauseSignal: r.PauseSignal(),
		ExpiryDays: r.Config.PauseResume.PausedTaskExpiryDays, Triggers: at.Config.Triggers(),
		Accept: r.Config.NewCommentHandling.Accept, Operator: engine.Operator()}
	if !configured {
		f.Listed = new(true) // nobody can be asked
	}
	for {
		wake, refusal, need := policy.Wake(s, f)
		if need == policy.Nothing || !configured {
			return wake, r.because(refusal), nil
		}
		if err := r.learn(ctx, at, s, &f, need); err != nil {
			return nil, "", unread(err)
		}
	}
}

// learn reads a fact that decides about waking.
func (r *round) learn(ctx context.Context, at app.Site, s *projections.State, f *policy.Facts, need policy.Need) error {
	switch need {
	case policy.Listed:
		f.Listed = new(r.listed(ctx, at, s))
		return ctx.Err()
	case policy.Task:
		return readTask(ctx, at, s, f)
	case policy.Labeller:
		by, err := r.labeller(ctx, at, s.Key, f.Task.Trigger(f.Triggers), forge.Account{Login: s.Created.User})
		f.Labeller = &by
		return err
	case policy.Comments:
		return r.readAnswers(ctx, at, s, f)
	case policy.Permission:
		return r.readPermissions(ctx, at, s, f)
	case policy.Nothing, policy.Self: // of beginning a task
	}
	panic(fmt.Sprintf("rounds: waking needs fact %d", need))
}

// readTask reads the item now that its context is taken: since it was listed,
// another process may have begun and paused it.
func readTask(ctx context.Context, at app.Site, s *projections.State, f *policy.Facts) error {
	t, err := locate(ctx, at, s)
	var failed *forge.Error
	if errors.As(err, &failed) && failed.Kind == forge.NotFound && s.Status == projections.Awaiting {
		f.Gone = true
		return nil
	}
	if err != nil && f.Listed != nil && ctx.Err() == nil {
		f.Listed = new(true) // a paused task is not asked about in every round only to fail
		return nil
	}
	item := policy.ItemOf(t)
	f.Task = &item
	return err
}

// listed reports whether an item is on the list of those with the paused label, which
// is read once a round. A list that cannot be read says nothing of any item.
func (r *round) listed(ctx context.Context, at app.Site, s *projections.State) bool {
	label := s.Config.Labels.Paused
	r.pausedMu.Lock()
	defer r.pausedMu.Unlock()
	keys, read := r.paused[at.Host+" "+label]
	if !read {
		if tasks, err := at.Client.ListTasks(ctx, label); err == nil {
			keys = map[string]bool{}
			for _, t := range tasks {
				keys[forge.FoldKey(t.Key.String())] = true
			}
		}
		r.paused[at.Host+" "+label] = keys
	}
	return keys == nil || keys[forge.FoldKey(s.Key.String())]
}

// readAnswers reads all comments: their ids and texts say which are new, not
// by any clock. A paused task is not asked about in every round only to fail: what
// cannot be read there approves nothing.
func (r *round) readAnswers(ctx context.Context, at app.Site, s *projections.State, f *policy.Facts) error {
	comments, err := at.Client.Comments(ctx, s.Key, time.Time{})
	if err != nil && s.Status == projections.Paused && ctx.Err() == nil {
		comments, err = nil, nil
	}
	answers, grammar := []policy.Answer{}, r.grammar(ctx, at)
	for _, c := range comments {
		id := projections.CommentID(c.Kind, c.ID)
		known, seen := s.Comments.Seen(id)
		commands, _ := policy.Commands(c.Body, grammar)
		answers = append(answers, policy.Answer{ID: c.ID, Author: c.Author, New: !seen || known != engine.Hash(c.Body), Approves: policy.Asks(commands, policy.CommandApprove) && id == c.ID, Wordless: !strings.ContainsFunc(c.Body, isWord),
			Ours: c.System || s.Comments.Own(id) || engine.Marked(c.Body)}) // author and agent may share an account
	}
	f.Comments = &answers
	return err
}

// grammar is how commands are written on a forge.
func (r *round) grammar(ctx context.Context, at app.Site) policy.Grammar {
	g := policy.Grammar{Off: !r.Config.Commands.Enabled, Slash: !at.Config.Driver.QuickActions, Bot: at.Config.BotName}
	if me, err := at.Client.Me(ctx); g.Bot == "" && err == nil {
		g.Bot = me.Login
	}
	return g
}

// isWord is true for what words are made of. A picture or a link has such letters, too.
func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// readPermissions asks about all who approve. Who cannot be asked about may not.
func (r *round) readPermissions(ctx context.Context, at app.Site, s *projections.State, f *policy.Facts) error {
	for i := range *f.Comments {
		a := &(*f.Comments)[i]
		if !a.Approves || a.MayWrite != nil {
			continue
		}
		may, err := at.Client.Permission(ctx, s.Key, a.Author.Login)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		writes := err == nil && may >= forge.Write
		a.MayWrite = &writes
	}
	return nil
}
