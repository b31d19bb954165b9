package rounds

import (
	"context"
	"errors"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/handlers/engine"
	"agent/handlers/policy"
	"agent/internal/app"
	"agent/internal/i18n"
	"agent/internal/startup"
	"agent/projections"
)

// resume works on a context that exists. A label that was set again, or a person's
// command, ends its pause.
func (r *round) resume(ctx context.Context, j job, c *claims) error {
	first, err := r.Store.Creation(j.uuid)
	if err != nil {
		return err
	}
	pending, _ := r.Store.Pending(j.uuid)
	at, ok := r.siteOf(j, first.Forge, pending)
	if !ok {
		return nil
	}
	if pending[contexts.Stop] == nil {
		if err := r.ready(ctx, nil); err != nil {
			return err
		}
	}
	fork, err := r.Store.ForkOf(j.uuid)
	if err != nil {
		return err
	}
	if fork != nil && j.trigger != policy.ByCommand { // the item of a live one was labelled
		r.skip(job{uuid: j.uuid, key: j.key}, r.text("skip.fork", j.uuid))
		return nil
	}
	ports := at // a fork has a working copy of its own
	if fork != nil {
		ports.Config.Workspace = ""
	}
	release, err := r.workspaceLock(ports, c)
	if err != nil {
		return err
	}
	defer release()
	if f := r.halted(); f != nil {
		return f
	}
	g := &gate{Provider: r.Model, r: r, uuid: j.uuid}
	startup.Collect() // a log may be long
	e, err := engine.Open(r.portsFor(ports, first.TaskKey, g), j.uuid)
	if err != nil {
		return err
	}
	wake, why, err := r.whatWakes(ctx, e, at, j, pending[contexts.Stop] != nil)
	s := e.State()
	switch {
	case err != nil:
		return errors.Join(err, e.Close())
	case why != "" && wake == nil && s.Stop == nil:
		r.skip(job{uuid: j.uuid, key: s.Key}, why)
		return e.Close()
	case s.Status.Ended():
		r.ended(s, j)
		return e.Close() // where it was listed, only its directory was behind
	}
	if f := r.waitsForOther(s, wake, j.trigger); f != nil {
		r.saw(first.TaskKey, contexts.Skipped, f.Error(), j.uuid)
		return e.Close()
	}
	r.saw(first.TaskKey, contexts.Continued, r.wokenBy(wake), j.uuid)
	g.own = byPerson(wake, j.trigger)
	return r.run(ctx, e, at, wake, g)
}

// whatWakes is what lets a context go on that was opened where its item is now, or why nothing does.
func (r *round) whatWakes(ctx context.Context, e *engine.Engine, at app.Site, j job, stops bool) (wake event.Body, why string, err error) {
	if j.found {
		if err := e.MovedTo(j.key); err != nil {
			return nil, "", err
		}
	}
	if s := e.State(); j.trigger == "" && !stops && s.Stop == nil {
		out, err := outside(ctx, at, s)
		if err != nil {
			return nil, "", err
		}
		if out {
			return nil, "", &outsideError{j.uuid, s.Key}
		}
	}
	return r.wakeOf(ctx, e.State(), j)
}

// ended tells a person who named a context that it has ended, and what begins anew.
func (r *round) ended(s *projections.State, j job) {
	if j.trigger != policy.ByCommand {
		return
	}
	r.voice.Note(r.text("run.ended", s.Created.UUID, i18n.State(r.Language(), string(s.Status)), s.Key.String()))
}
