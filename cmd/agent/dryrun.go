package main

import (
	"context"
	"errors"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers/engine"
	"agent/internal/app"
	"agent/internal/sanitize"
	"agent/projections"
)

// The actions of a dry run.
const (
	wouldBegin    = "begin"
	wouldContinue = "continue"
	wouldResume   = "resume"
	wouldStop     = "stop"
	wouldWait     = "wait"
	wouldSkip     = "skip"
	wouldFail     = "fail"
)

// dryLine is what a run would do with one task, as `run --dry-run --json` prints it.
type dryLine struct {
	Action  string `json:"action"`
	TaskKey string `json:"task_key"`
	UUID    string `json:"uuid,omitempty"`
	Title   string `json:"title,omitempty"`
	Reason  string `json:"reason"`
}

// rehearsal is a round that changes nothing: its store is for reading only, and
// of the forge's calls only those that read are made.
type rehearsal struct {
	*looker
	*round
	lines []dryLine
	live  map[string]string // uuids of the contexts that did not end, by task key
	code  int
}

// dryRun says what a run would do.
func (a *cli) dryRun(ctx context.Context, refs []string, asJSON bool) error {
	l, err := a.look()
	if err != nil {
		return err
	}
	s := &system{App: app.NewReadOnly(l.config, l.store, a.options())}
	defer s.Close()
	if err := s.Connect(); err != nil {
		return err
	}
	h := &rehearsal{looker: l, round: s.newRound(voice{silent, silent, silent}), live: map[string]string{}, lines: []dryLine{}}
	if err := h.rehearse(ctx, refs); err != nil {
		return err
	}
	return h.show(asJSON)
}

func (h *rehearsal) rehearse(ctx context.Context, refs []string) error {
	if len(refs) == 0 {
		h.begun(ctx)
		h.labelled(ctx)
		return ctx.Err()
	}
	for _, ref := range refs {
		j, err := h.jobOf(ref)
		if err != nil {
			return err
		}
		h.consider(ctx, j)
	}
	return ctx.Err()
}

// begun looks at the contexts that did not end.
func (h *rehearsal) begun(ctx context.Context) {
	for _, entry := range h.entries() {
		if entry.Place != contexts.Completed {
			h.goOn(ctx, job{uuid: entry.UUID})
		}
	}
}

// labelled looks for new tasks.
func (h *rehearsal) labelled(ctx context.Context) {
	if h.PauseSignal() {
		h.add(dryLine{Action: wouldWait, Reason: h.signalNote()}, nil)
		return
	}
	for _, at := range h.Sites {
		tasks, err := labelled(ctx, at)
		if err != nil {
			h.add(dryLine{TaskKey: at.Host}, &listError{err})
			continue
		}
		for _, t := range tasks {
			j := job{key: t.Key, at: at, trigger: "label"}
			if j.uuid = h.live[t.Key.String()]; j.uuid == "" {
				h.begin(ctx, t, j)
			} else {
				h.goOn(ctx, j)
			}
		}
	}
}

// consider looks at a task that was named.
func (h *rehearsal) consider(ctx context.Context, j job) {
	if j.uuid == "" {
		uuid, live, err := h.Store.Live(j.key.String())
		if err != nil {
			h.add(dryLine{TaskKey: j.key.String()}, err)
			return
		}
		if live {
			j.uuid = uuid
		}
	}
	if j.uuid != "" {
		h.goOn(ctx, j)
		return
	}
	t, err := j.at.Client.Task(ctx, j.key)
	if err != nil {
		h.add(dryLine{TaskKey: j.key.String()}, &engine.Temporary{Err: err})
		return
	}
	h.begin(ctx, t, j)
}

func (h *rehearsal) begin(ctx context.Context, t forge.Task, j job) {
	line := dryLine{Action: wouldBegin, TaskKey: t.Key.String(), Title: t.Title, Reason: becauseOf(j.trigger)}
	why := skip(t, j)
	if why == "" {
		var err error
		if why, err = h.distrust(ctx, t, j); err != nil {
			h.add(line, err)
			return
		}
	}
	if why != "" {
		line.Action, line.Reason = wouldSkip, why
	} else if h.PauseSignal() {
		line.Action, line.Reason = wouldWait, h.signalNote()
	}
	h.add(line, nil)
}

// goOn says what becomes of a context. With a label that was set again it is
// looked at a second time, and the later answer stands.
func (h *rehearsal) goOn(ctx context.Context, j job) {
	g := h.glance(j.uuid, nil)
	s := g.state
	line := dryLine{Action: wouldContinue, UUID: j.uuid, Reason: wokenBy(nil)}
	if s.Created != nil {
		line.TaskKey, line.Title = s.Created.TaskKey, s.Created.Title
		h.live[line.TaskKey] = j.uuid
	}
	if g.err != nil {
		h.add(line, g.err)
		return
	}
	wake, err := h.wakeOf(ctx, s, j.trigger)
	if err != nil {
		h.add(line, err)
		return
	}
	h.add(h.fate(line, s, wake), nil)
}

func (h *rehearsal) fate(line dryLine, s *projections.State, wake event.Body) dryLine {
	pending, _ := h.Store.Pending(line.UUID) // what cannot be read is no signal
	_, stop := pending[contexts.Stop]
	_, pause := pending[contexts.Pause]
	_, configured := h.Site(s.Created.Forge)
	rests := s.Status == projections.Paused || s.Status == projections.Awaiting
	switch {
	case !configured:
		line.Action, line.Reason = wouldSkip, "no forge with its host is configured"
	case s.Status.Ended():
		line.Action, line.Reason = wouldSkip, "it has ended"
	case stop || s.Stop != nil:
		line.Action, line.Reason = wouldStop, "a person asked for it"
	case wake != nil:
		line.Action, line.Reason = wouldResume, wokenBy(wake)
	case rests && s.Resume == nil:
		line.Action, line.Reason = wouldWait, because(s, h.lang)
	case pause:
		line.Action, line.Reason = wouldWait, "a pause was asked for"
	case h.PauseSignal():
		line.Action, line.Reason = wouldWait, h.signalNote()
	}
	return line
}

// add notes a line; one about the same context takes the place of the earlier.
func (h *rehearsal) add(line dryLine, err error) {
	if err != nil {
		reason, _ := h.Redact.String(err.Error())
		line.Action, line.Reason = wouldFail, reason
		h.code = worse(h.code, exitCode(err))
	}
	for i, old := range h.lines {
		if line.UUID != "" && old.UUID == line.UUID {
			h.lines[i] = line
			return
		}
	}
	h.lines = append(h.lines, line)
}

func (h *rehearsal) show(asJSON bool) error {
	if asJSON {
		return errors.Join(h.printJSON(h.lines), quietly(h.code))
	}
	for _, line := range h.lines {
		if line.TaskKey == "" {
			h.looker.say("dry.other", h.text("dry.all"), sanitize.Line(line.Reason, 300))
			continue
		}
		h.looker.say(known("dry.", line.Action), sanitize.Line(line.TaskKey+" "+line.Title, 160), sanitize.Line(line.Reason, 300))
	}
	if len(h.lines) == 0 {
		h.looker.say("dry.nothing")
	}
	return quietly(h.code)
}
