package rounds

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers/engine"
	"agent/handlers/policy"
	"agent/internal/app"
	"agent/internal/git"
	"agent/internal/report"
	"agent/internal/sanitize"
	"agent/projections"
)

// do works on one job until its task ends, pauses or waits.
func (r *round) do(ctx context.Context, j job) {
	name := j.uuid
	if name == "" {
		name = j.key.String()
	}
	var c claims
	if !r.take(name, &c) {
		return
	}
	defer r.leave(&c)
	r.pulse.beat(c[0], stepTakes)
	release, free := r.slot(j)
	if !free {
		r.noSlot(j)
		return
	}
	defer release()
	releaseRepository, free := r.repositorySlot(r.taskOf(j))
	if !free {
		r.saw(r.keyOf(j), contexts.Busy, r.text("seen.repository", r.Config.Cluster.PerRepository), j.uuid)
		return
	}
	defer releaseRepository()
	err := error(nil)
	if f := r.halted(); f != nil {
		err = f
	} else {
		err = r.attempt(ctx, j, &c)
	}
	var out *outsideError
	if errors.Is(err, engine.ErrElsewhere) || errors.As(err, &out) { // the label at another address may be on the list, too
		if at, found := r.release(name, &c); found {
			j.key, j.found = at, true
			err = r.attempt(ctx, j, &c)
		}
	}
	err = r.again(ctx, err, &c)
	if err == nil || ctx.Err() != nil {
		return
	}
	if errors.As(err, &out) {
		r.skip(job{uuid: out.uuid, key: out.key}, r.text("skip.project", out.key.Project))
		return
	}
	var l *left
	if errors.As(err, &l) {
		r.keepForLater(j, l)
		return
	}
	if f := r.faultOf(err); f != nil {
		r.halt(f)
	} else {
		r.trouble(name, err)
		r.tellDamage(ctx, j.uuid, j.key, err)
	}
	r.sawTrouble(j, err)
}

func (r *round) attempt(ctx context.Context, j job, c *claims) error {
	if j.uuid != "" {
		return r.resume(ctx, j, c)
	}
	lock, err := r.Store.LockKey(j.key.String())
	if err != nil {
		return err
	}
	defer lock.Close()
	uuid, live, err := r.Store.Active(j.key.String())
	if err != nil {
		return err
	}
	if !live {
		if uuid, j.found, err = r.movedHere(ctx, j); err != nil {
			return err
		}
		live = uuid != ""
	}
	if live {
		if j.uuid = uuid; j.trigger == policy.ByComment {
			j.trigger = "" // it has begun meanwhile
		}
		if j.found && !r.takeAt(uuid, j.key, c) || !j.found && !r.take(uuid, c) {
			return nil
		}
		return r.resume(ctx, j, c)
	}
	if begins, err := r.askedAgain(ctx, &j); !begins || err != nil {
		return err
	}
	err = r.begin(ctx, j, lock, c)
	if to, moved := movedTo(j.at, err); moved && r.take(to.String(), c) {
		j.key = to
		return r.attempt(ctx, j, c)
	}
	return err
}

// begin makes a context for a task.
func (r *round) begin(ctx context.Context, j job, lock io.Closer, c *claims) error {
	t, may, err := r.mayBegin(ctx, j)
	if !may || err != nil {
		return err
	}
	first := r.creation(j, t)
	g := &gate{Provider: r.Model, r: r, uuid: first.UUID, own: j.trigger == policy.ByCommand}
	ports := r.portsFor(j.at, t.Key.String(), g)
	ahead := r.ahead(&ports, j.at, first, t)
	defer ahead.drop()
	ready := make(chan error, 1)
	go func() { ready <- r.ready(ctx, ahead.tools) }() // while the forge is asked
	refused := r.cloneable(ctx, j)
	if refused == nil && ahead.copy != nil {
		ahead.copy.Clone(ctx)
	}
	if err := cmp.Or(<-ready, refused); err != nil {
		return err
	}
	release, err := r.workspaceLock(j.at, c)
	if err != nil {
		return err
	}
	defer release()
	if f := r.halted(); f != nil {
		return f // while it waited for its place
	}
	if r.shut() {
		return nil // the fault is about to be told
	}
	r.take(g.uuid, c)
	e, err := engine.Create(ports, first)
	if err != nil {
		return err
	}
	_ = lock.Close() // the live context guards the task from here on
	r.saw(j.key.String(), contexts.Taken, r.becauseOf(j.trigger), e.State().Created.UUID)
	return r.run(ctx, e, j.at, nil, g)
}

// mayBegin reads the item again under the lock of its key, since another process may have finished it after it was
// listed, and says whether a context may begin for it.
func (r *round) mayBegin(ctx context.Context, j job) (t forge.Task, may bool, err error) {
	if r.PauseSignal() {
		r.skip(j, r.signalNote())
		return t, false, nil
	}
	if t, err = r.item(ctx, j); err != nil {
		return t, false, err
	}
	refusal, err := r.refusal(ctx, t, j)
	if err != nil {
		return t, false, err
	}
	if refusal != "" {
		r.skip(j, refusal)
		return t, false, nil
	}
	if f := r.withheld(); f != nil {
		r.saw(j.key.String(), contexts.Skipped, f.Error(), "")
		return t, false, nil
	}
	return t, true, nil
}

// creation is the first event of the context for an item.
func (r *round) creation(j job, t forge.Task) *event.ContextCreated {
	host, _ := os.Hostname()
	return &event.ContextCreated{Format: event.Format, UUID: uuid.NewString(), TaskKey: t.Key.String(),
		Forge: j.key.Host, Kind: string(j.key.Kind), User: t.Author.Login, Title: sanitize.Line(t.Title, 500), Trigger: j.trigger,
		Version: r.Ports.Version, Host: host, PID: os.Getpid(), Actor: j.actor, Comment: j.comment}
}

// cloneable refuses a clone URL that leads elsewhere before the item is touched. A
// repository that cannot be read now is the task's own trouble.
func (r *round) cloneable(ctx context.Context, j job) error {
	if j.at.Config.Workspace != "" || !r.NeedsCopies() {
		return nil
	}
	repo, err := j.at.Client.Repository(ctx, j.key)
	if j.at.Config.Driver.Local {
		return r.configured(ctx, repo, err)
	}
	if err != nil {
		return ctx.Err()
	}
	return app.AllowClone(j.at.Config, repo.CloneURL)
}

// configured wants the repository that the configuration names for a directory of tasks. That there is none is no
// fault of a task, which stays as it is.
func (r *round) configured(ctx context.Context, repo forge.Repository, err error) error {
	if err == nil {
		if err = git.Reach(ctx, git.Options{URL: repo.CloneURL, AllowHTTP: r.Config.AllowHTTP}); err != nil {
			err = fmt.Errorf("the repository %s: %w", repo.CloneURL, err)
		}
	}
	switch {
	case err == nil || ctx.Err() != nil:
		return ctx.Err()
	case strings.Contains(repo.CloneURL, "://"), git.IsMachine(err), git.IsFull(err):
		return &engine.Temporary{Err: err}
	}
	return &engine.Refused{Err: err}
}

func (r *round) skip(j job, why string) {
	r.voice.ended(Outcome{UUID: j.uuid, TaskKey: j.key.String(), State: Skipped, Because: why}, r.Language())
	r.saw(j.key.String(), contexts.Skipped, why, j.uuid)
}

// item reads the item that a job is about.
func (r *round) item(ctx context.Context, j job) (forge.Task, error) {
	t, err := j.at.Client.Task(ctx, j.key)
	var failed *forge.Error
	switch {
	case errors.As(err, &failed) && (failed.Kind == forge.NotFound || failed.Kind == forge.Hidden) && j.trigger == policy.ByCommand:
		return t, &RefError{Err: errNoItem}
	case err != nil:
		return t, unread(err)
	}
	return t, nil
}

func (r *round) run(ctx context.Context, e *engine.Engine, at app.Site, wake event.Body, g *gate) error {
	defer func(ctx context.Context) {
		_ = e.Close()
		r.amend(ctx, at, e)
		r.closeCaches(ctx, at, e.State())
		r.fellAsleep(e.State())
	}(ctx)
	ctx, g.stop = context.WithCancelCause(ctx)
	defer g.stop(nil)
	s := e.State()
	name := s.Key.String()
	r.voice.Note(r.text("round.working", name, s.Created.UUID, s.Created.Title))
	start, log := time.Now(), r.logOf(name, s.Created.UUID)
	logBegin(log, s)
	err := e.Run(ctx, r.pinned(at, s), wake)
	var l *left
	if err != nil && errors.As(context.Cause(ctx), &l) {
		err = l
	}
	logEnd(log, s, time.Since(start).Seconds(), err)
	if r.voice.Watch != nil {
		r.voice.Watch.Left(s.Created.UUID)
	}
	r.report(s, time.Since(start), err)
	if err == nil && endedForRetry(s) {
		return &againError{s.Key, at}
	}
	return err
}

func (r *round) report(s *projections.State, took time.Duration, err error) {
	r.mu.Lock()
	r.summary.Did++
	if s.Status == projections.Running {
		r.summary.Left = append(r.summary.Left, s.Created.UUID)
	}
	if s.Status == projections.Failed {
		r.summary.Failed++
	}
	if report.WaitsForModel(s) {
		r.summary.Outage = true
	}
	r.mu.Unlock()
	if f := r.faultOfModel(s); f != nil {
		defer r.halt(f) // after the task's own line
	}
	if err != nil {
		return
	}
	if r.faultOfModel(s) == nil && !report.WaitsForModel(s) { // a server that is down says nothing of the account
		r.wentOn(s.Created.UUID)
	}
	r.voice.ended(r.outcome(s, took), r.Language())
	r.discard(s)
}

// portsFor are the ports for one context of a task.
func (r *round) portsFor(at app.Site, task string, g *gate) engine.Ports {
	p := r.PortsFor(at)
	p.Model = g
	p.Log = r.logOf(task, g.uuid)
	spans := p.OnEvent
	p.OnEvent = func(ev event.Event, s *projections.State) {
		r.pulse.end(forge.FoldKey(task)) // its job began without a context
		r.pulse.beat(g.uuid, r.mayTake(ev.Body))
		logEvent(p.Log, ev)
		if spans != nil {
			spans(ev, s)
		}
		if r.voice.Watch != nil {
			r.voice.Watch.Event(ev, s)
		}
	}
	return p
}

// workspaceLock lets one context at a time work in a repository that is worked on in place.
func (r *round) workspaceLock(at app.Site, c *claims) (release func(), err error) {
	dir := at.Config.Workspace
	if dir == "" {
		return func() {}, nil
	}
	r.mu.Lock()
	own := r.works[dir]
	if own == nil {
		own = &sync.Mutex{}
		r.works[dir] = own
	}
	r.mu.Unlock()
	r.pulse.end((*c)[0]) // it waits for another job
	defer r.pulse.beat((*c)[0], stepTakes)
	own.Lock()
	lock, err := r.Store.LockHere("workspace " + dir)
	if err != nil {
		own.Unlock()
		return nil, err
	}
	return func() { _ = lock.Close(); own.Unlock() }, nil
}
