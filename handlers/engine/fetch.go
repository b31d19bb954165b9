package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"

	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers"
	"agent/handlers/policy"
	"agent/internal/sanitize"
	"agent/projections"
)

// read gets something from outside and appends it.
func (e *Engine) read(ctx context.Context, r handlers.Read) error {
	switch r.Want {
	case handlers.WantProject, handlers.WantTools, handlers.WantMeasure: // a tool server keeps the directory that it begins in
		if changed, err := e.openFiles(ctx); changed || err != nil {
			return err
		}
	default:
	}
	if done, err := e.reread(r); done || err != nil {
		return err
	}
	switch r.Want {
	case handlers.WantTask:
		return e.fetchTask(ctx)
	case handlers.WantWorkspace:
		prepared, err := e.p.Workspace.Prepare(ctx, e.state)
		if err != nil {
			return orTemporary(ctx, err)
		}
		return e.input(&prepared)
	case handlers.WantProject:
		e.session().WarmUp() // while the files are read
		return e.readProject(ctx)
	case handlers.WantMeasure:
		return e.measure(ctx)
	case handlers.WantInherited:
		inherited := e.p.Inherit(e.state)
		return e.input(&inherited)
	case handlers.WantTools:
		listed, err := e.listTools(ctx)
		if errors.Is(err, errRecorded) {
			return nil
		}
		if err != nil {
			return err
		}
		e.checked = true
		return e.input(listed)
	case handlers.WantComments:
		return e.fetchComments(ctx, r.Reason)
	}
	panic("engine: no way to read " + string(r.Want))
}

func orTemporary(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &Temporary{err}
}

func (e *Engine) fetchTask(ctx context.Context) error {
	t, err := retryRead(ctx, e, func() (forge.Task, error) { return e.task(ctx) })
	var failed *forge.Error
	switch {
	case errors.As(err, &failed) && failed.Kind == forge.NotFound:
		return e.input(&event.StopRequested{By: "gone", Reason: "the item does not exist any more, or the token cannot see it"})
	case lasting(err):
		return e.input(&event.ReadRefused{What: "task", Kind: string(failed.Kind), Message: clean(failed.Message)})
	case err != nil:
		return orTemporary(ctx, err)
	}
	fetched := Fetched(t)
	if e.state.Created.Trigger == policy.ByLabel && policy.Guarded(e.state, t.Private) {
		if fetched.Edit, err = e.edit(ctx, t, true); err != nil {
			return orTemporary(ctx, err)
		}
	}
	for _, login := range t.Assignees {
		fetched.Assigned = fetched.Assigned || e.mine(ctx, forge.Account{Login: login})
	}
	return e.input(fetched)
}

// Fetched is what the log holds of an item, but for what other requests tell.
func Fetched(t forge.Task) *event.TaskFetched {
	title, _ := sanitize.Input(t.Title)
	body, removed := sanitize.Rendered(t.Body)
	fetched := &event.TaskFetched{Title: sanitize.Line(title, 500), Body: event.T(body), Author: t.Author.Login, State: t.State,
		Labels: nonNil(t.Labels), Assignees: nonNil(t.Assignees), URL: t.URL, Private: t.Private, Removed: removed,
		Hash: Hash(t.Title + "\x00" + t.Body), Fork: t.Fork, Confidential: t.Confidential, NoPush: t.NoPush,
		ItemID: t.ID, ProjectID: t.Project}
	if !t.Fork {
		fetched.Branch = t.Branch
	}
	return fetched
}

// lasting reports whether a read fails until a person changes something: a
// permission, or what the forge offers. The token itself and the network are other
// matters: they concern every task.
func lasting(err error) bool {
	var failed *forge.Error
	return errors.As(err, &failed) && failed.Kind.Lasting()
}

func nonNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// Hash is the hex SHA-256 that stands for a text in the log.
func Hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// perEvent is how many comments one event holds at most.
const perEvent = 100

// fetchComments appends what is new since the last fetch. At a resume a failure
// is recorded and the work goes on with what is known.
func (e *Engine) fetchComments(ctx context.Context, reason event.FetchReason) error {
	all, err := retryRead(ctx, e, func() ([]forge.Comment, error) { return e.p.Forge.Comments(ctx, e.state.Key, time.Time{}) })
	var failed *forge.Error
	if reason == event.FetchStart && lasting(err) && errors.As(err, &failed) {
		return e.input(&event.ReadRefused{What: "comments", Kind: string(failed.Kind), Message: clean(failed.Message)})
	}
	if err != nil && (reason == event.FetchStart || ctx.Err() != nil) {
		return orTemporary(ctx, err)
	}
	if err != nil {
		e.p.Log.Warn("comments could not be read", "error", err)
		return e.input(&event.CommentsFetched{Reason: reason, Comments: []event.Comment{}, Last: true, Error: clean(err.Error())})
	}
	fresh, seen := e.unseen(ctx, all)
	for first := true; first || len(fresh) > 0; first = false {
		n := min(len(fresh), perEvent)
		part := &event.CommentsFetched{Reason: reason, Comments: fresh[:n:n], Seen: seen, Last: n == len(fresh)}
		fresh = fresh[n:]
		if err := e.input(part); err != nil {
			return err
		}
	}
	return nil
}

// unseen gives the comments that the log does not hold yet, each with what it is.
func (e *Engine) unseen(ctx context.Context, all []forge.Comment) (fresh []event.Comment, seen int) {
	fresh = []event.Comment{}
	for _, c := range all {
		sum := Hash(c.Body)
		old, known := e.state.Comments.Seen(projections.CommentID(c.Kind, c.ID))
		if known && (old == sum || e.state.Comments.Own(projections.CommentID(c.Kind, c.ID))) {
			seen++
			continue
		}
		fresh = append(fresh, e.classified(ctx, c, sum, known))
	}
	policy.Newest(fresh, e.state.Config.Comments.Max)
	return append(fresh, e.deleted(all)...), seen
}

// deleted names comments that were read once and are not there any more.
func (e *Engine) deleted(all []forge.Comment) (gone []event.Comment) {
	there := map[string]bool{}
	for _, c := range all {
		there[projections.CommentID(c.Kind, c.ID)] = true
	}
	for _, id := range e.state.Comments.IDs() {
		if !there[id] {
			kind, plain, _ := strings.Cut(id, ":")
			if plain == "" {
				kind, plain = "", id
			}
			from := e.state.Comments.From(id)
			gone = append(gone, event.Comment{ID: plain, Kind: kind, Author: from.Author, Created: from.Created, Verdict: event.DeletedComment})
		}
	}
	return gone
}

func (e *Engine) classified(ctx context.Context, c forge.Comment, sum string, known bool) event.Comment {
	v := event.Comment{ID: c.ID, Kind: c.Kind, Author: c.Author.Login, Created: c.CreatedAt.UTC(), Updated: c.UpdatedAt.UTC(), Hash: sum}
	commands, alone := policy.Commands(c.Body, e.grammar(ctx, c.Body))
	_, genuine := e.genuine(c.Body)
	v.Verdict = e.classify(ctx, policy.Comment{Author: c.Author, System: c.System, Internal: c.Internal, Known: known, Commands: commands, Alone: alone,
		Posted: e.state.Comments.Own(projections.CommentID(c.Kind, c.ID)), Marked: Marked(c.Body), Genuine: genuine})
	if v.Verdict == event.NewComment || v.Verdict == event.EditedComment {
		text, removed := sanitize.Rendered(withState(c))
		v.Body, v.Removed, v.Warning = event.T(text), removed, sanitize.Suspicious(text)
	}
	return v
}

// grammar is how commands are written on the task's forge. Who we are matters only to
// a text with a mention.
func (e *Engine) grammar(ctx context.Context, body string) policy.Grammar {
	c := e.state.Config
	g := policy.Grammar{Off: !c.Commands.Enabled, Slash: c.Commands.Slash, Bot: c.Bot}
	if g.Bot == "" && strings.Contains(body, "@") {
		if me := e.account(ctx); me != nil {
			g.Bot = me.Login
		}
	}
	return g
}

// withState says before a text what its author or others made of it: a review that was
// dismissed asks for nothing. It is not part of the text's hash: to resolve a thread is no answer.
func withState(c forge.Comment) string {
	switch {
	case c.State == "":
		return c.Body
	case strings.HasPrefix(c.Body, "> "): // its place
		return "> (" + c.State + ")\n" + c.Body
	}
	return "> (" + c.State + ")\n\n" + c.Body
}

// classify reads what the policy must know until it has decided.
func (e *Engine) classify(ctx context.Context, c policy.Comment) event.CommentClass {
	for {
		class, need := policy.Classify(e.state, c)
		switch need {
		case policy.Nothing:
			return class
		case policy.Self:
			ours := e.mine(ctx, c.Author)
			c.Self = &policy.Account{Ours: ours, Unknown: e.me == nil}
		case policy.Permission:
			may := e.mayWrite(ctx, c.Author)
			c.MayWrite = &may
		case policy.Task, policy.Comments, policy.Reactions, policy.Labeller, policy.Listed:
			panic("engine: a comment is classified without fact " + strconv.Itoa(int(need)))
		}
	}
}

// mayWrite asks once per run and account. A forge that does not answer means no.
func (e *Engine) mayWrite(ctx context.Context, a forge.Account) bool {
	if known, ok := e.trusted[a.Login]; ok {
		return known
	}
	p, err := retryRead(ctx, e, func() (forge.Permission, error) { return e.p.Forge.Permission(ctx, e.state.Key, a.Login) })
	e.trusted[a.Login] = err == nil && p >= forge.Write
	return e.trusted[a.Login]
}
