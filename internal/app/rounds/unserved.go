package rounds

import (
	"context"
	"time"

	"agent/contexts"
	"agent/forge"
	"agent/internal/app"
	"agent/projections"
)

// A context is unserved if the configuration does not name its forge: somebody took the
// section out, or the context is that of `agent try`. A round leaves it alone, unless
// somebody wants it stopped.

// serves reports whether a run takes a paused context once something wakes it. A forge
// that does not say now where a project moved to counts as one that serves it.
func (r *round) serves(ctx context.Context, s *projections.State) bool {
	at, configured := r.Site(s.Created.Forge)
	if !configured {
		return false
	}
	out, err := outside(ctx, at, s)
	return err != nil || !out
}

// ofTry reports whether this process is an `agent try`.
func (s *Rounds) ofTry() bool { return len(s.Sites) == 1 && forge.OfTry(s.Sites[0].Host) }

// leavesToTry reports whether a context is for `agent try` to go on with.
func (s *Rounds) leavesToTry(host string) bool {
	_, configured := s.Site(host)
	return !configured && forge.OfTry(host)
}

// siteOf is where a context is worked on. An unserved one can only be stopped.
func (r *round) siteOf(j job, host string, pending map[contexts.Signal][]byte) (at app.Site, ok bool) {
	if at, ok = r.Site(host); ok {
		return at, true
	}
	if pending[contexts.Stop] != nil {
		return app.Site{Client: absent{}, Host: host}, true
	}
	why := r.text("skip.forge", host, j.uuid[:8])
	if r.leavesToTry(host) {
		why = r.text("skip.try", j.uuid[:8])
	}
	r.saw(r.keyOf(j), contexts.Skipped, why, j.uuid)
	if !r.leavesToTry(host) || j.trigger != "" { // nobody asked for that
		r.voice.ended(Outcome{UUID: j.uuid, State: Skipped, Because: why}, r.Language())
	}
	return at, false
}

// absent is a forge that nobody can reach: nothing is read from it or written to it.
type absent struct{}

func unreachable(op string) error {
	return &forge.Error{Kind: forge.NotFound, Op: op, Message: "its forge is not configured"}
}

func (absent) MaxComment() int { return 65536 }

func (absent) Me(context.Context) (forge.Account, error) {
	return forge.Account{}, unreachable("read account")
}

func (absent) ListTasks(context.Context, string) ([]forge.Task, error) {
	return nil, unreachable("list tasks")
}

func (absent) Task(context.Context, forge.TaskKey) (forge.Task, error) {
	return forge.Task{}, unreachable("read task")
}

func (absent) Repository(context.Context, forge.TaskKey) (forge.Repository, error) {
	return forge.Repository{}, unreachable("read repository")
}

func (absent) Comments(context.Context, forge.TaskKey, time.Time) ([]forge.Comment, error) {
	return nil, unreachable("read comments")
}

func (absent) PostComment(context.Context, forge.TaskKey, string) (forge.Comment, error) {
	return forge.Comment{}, unreachable("post comment")
}

func (absent) EditComment(context.Context, forge.TaskKey, string, string) (forge.Comment, error) {
	return forge.Comment{}, unreachable("edit comment")
}

func (absent) React(context.Context, forge.TaskKey, string, forge.Emoji) error {
	return unreachable("react to comment")
}

func (absent) Reactions(context.Context, forge.TaskKey, string, forge.Emoji) ([]forge.Reaction, error) {
	return nil, unreachable("read reactions")
}

func (absent) ChangeLabels(context.Context, forge.TaskKey, []forge.Label, []string) ([]string, error) {
	return nil, unreachable("change labels")
}

func (absent) Permission(context.Context, forge.TaskKey, string) (forge.Permission, error) {
	return 0, unreachable("read permission")
}

func (absent) LabelledBy(context.Context, forge.TaskKey, string) (forge.Labelling, error) {
	return forge.Labelling{}, unreachable("read label")
}

func (absent) LastEdit(context.Context, forge.TaskKey) (forge.Edit, error) {
	return forge.Edit{}, unreachable("read edit")
}

func (absent) FindChange(context.Context, forge.TaskKey, string) (*forge.Change, error) {
	return nil, unreachable("find change")
}

func (absent) OpenChange(context.Context, forge.TaskKey, forge.ChangeSpec) (forge.Change, error) {
	return forge.Change{}, unreachable("open change")
}

func (absent) AskReview(context.Context, forge.TaskKey, int, string) error {
	return unreachable("ask for review")
}
