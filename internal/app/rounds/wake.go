package rounds

import (
	"cmp"
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
// not.
func (r *round) wakeOf(ctx context.Context, s *projections.State, j job) (wake event.Body, why string, err error) {
	if !policy.Waiting(s) {
		return nil, "", nil
	}
	resume, err := engine.TakeResume(r.Store, s.Created.UUID)
	if err != nil {
		return nil, "", err
	}
	at, configured := r.Site(s.Created.Forge)
	f := policy.Facts{Now: r.Ports.Now(), Trigger: j.trigger, Told: j.told, Resume: resume, PauseSignal: r.PauseSignal(),
		ExpiryDays: r.Config.PauseResume.PausedTaskExpiryDays, Triggers: at.Config.Triggers(),
		Accept: r.Config.NewCommentHandling.Accept, Operator: engine.Operator(), Commands: r.Config.Commands.Enabled}
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
	case policy.Reactions:
		return readThumbs(ctx, at, s, f)
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
	self, grammar := r.self(ctx, at, comments)
	answers := []policy.Answer{}
	for _, c := range comments {
		id := projections.CommentID(c.Kind, c.ID)
		known, seen := s.Comments.Seen(id)
		a := policy.Answer{ID: c.ID, Author: c.Author, New: !seen || known != engine.Hash(c.Body), Edited: seen || policy.Edited(c), Ordered: id == c.ID,
			Self: self != "" && c.Author.Login == self, Wordless: !strings.ContainsFunc(c.Body, isWord),
			Ours: c.System || s.Comments.Own(id) || engine.Marked(c.Body)} // author and agent may share an account
		a.Commands, a.Alone = policy.Commands(c.Body, grammar)
		answers = append(answers, a)
	}
	f.Comments = &answers
	return err
}

// self is the login of the agent's account, and how commands are written on its forge.
// Who we are matters only where somebody gives a command or mentions us.
func (r *round) self(ctx context.Context, at app.Site, comments []forge.Comment) (login string, g policy.Grammar) {
	g = policy.Grammar{Off: !r.Config.Commands.Enabled, Slash: !at.Config.Driver.QuickActions, Bot: at.Config.BotName}
	for _, c := range comments {
		if commands, _ := policy.Commands(c.Body, g); len(commands) == 0 && (g.Bot != "" || !strings.Contains(c.Body, "@")) {
			continue
		}
		if me, err := at.Client.Me(ctx); err == nil {
			g.Bot = cmp.Or(g.Bot, me.Login)
			return me.Login, g
		}
		break
	}
	return g.Bot, g
}

// readThumbs reads who reacted to the plan with a thumb up. What cannot be read approves
// nothing.
func readThumbs(ctx context.Context, at app.Site, s *projections.State, f *policy.Facts) error {
	thumbs := []policy.Thumb{}
	reactions, err := at.Client.Reactions(ctx, s.Key, s.Planning.Posted.Comment, forge.ThumbsUp)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	self := at.Config.BotName
	if len(reactions) > 0 && err == nil {
		if me, err := at.Client.Me(ctx); err == nil {
			self = me.Login
		}
	}
	for _, t := range reactions {
		thumbs = append(thumbs, policy.Thumb{ID: t.ID, By: t.By, Self: self != "" && t.By.Login == self})
	}
	f.Thumbs = &thumbs
	return nil
}

// isWord is true for what words are made of. A picture or a link has such letters, too.
func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// readPermissions asks about all whose word may count, each once. Who cannot be asked
// about may not.
func (r *round) readPermissions(ctx context.Context, at app.Site, s *projections.State, f *policy.Facts) error {
	asked := map[string]*bool{}
	ask := func(a forge.Account) *bool {
		if asked[a.Login] == nil {
			may, err := at.Client.Permission(ctx, s.Key, a.Login)
			asked[a.Login] = new(err == nil && may >= forge.Write)
		}
		return asked[a.Login]
	}
	for i := range *f.Comments {
		if a := &(*f.Comments)[i]; a.MayWrite == nil && a.New && !a.Ours && (len(a.Commands) > 0 || !a.Wordless && s.Paused != nil && s.Paused.Reason == event.PausePlan) {
			a.MayWrite = ask(a.Author)
		}
	}
	if f.Thumbs != nil {
		for i := range *f.Thumbs {
			t := &(*f.Thumbs)[i]
			t.MayWrite = ask(t.By)
		}
	}
	return ctx.Err()
}
