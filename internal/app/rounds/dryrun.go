package rounds

import (
	"context"
	"errors"

	"agent/contexts"
	"agent/eventlog"
	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers/policy"
	"agent/internal/app"
	"agent/internal/report"
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

// DryLine is what a run would do with one task, as `run --dry-run --json` prints
// it. A line without a task key is about all of a forge.
type DryLine struct {
	Action  string `json:"action"`
	TaskKey string `json:"task_key"`
	UUID    string `json:"uuid,omitempty"`
	Title   string `json:"title,omitempty"`
	Reason  string `json:"reason"`
}

// rehearsal is a round that changes nothing: its store is for reading only, and
// of the forge's calls only those that read are made.
type rehearsal struct {
	*round
	warn  func(error)
	lines []DryLine
	live  map[string]string // uuids of the contexts that did not end, by task key
}

// DryRun says what a round would do with the given tasks, or with everything. a
// is made by [app.NewReadOnly]. The errors are those of single lines.
func DryRun(ctx context.Context, a *app.App, refs []string, warn func(error)) (lines []DryLine, failed []error, err error) {
	silent := Voice{Say: func(string) {}, Note: func(string) {}, Trouble: func(string, error) {}}
	h := &rehearsal{round: New(a, silent).newRound(), warn: warn, live: map[string]string{}, lines: []DryLine{}}
	err = h.rehearse(ctx, refs)
	return h.lines, h.summary.Errors, err
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
	for entry, err := range h.Store.List() {
		switch {
		case err != nil:
			h.warn(err)
		case entry.Dir != contexts.Completed:
			h.resume(ctx, job{uuid: entry.UUID})
		}
	}
}

// labelled looks for new tasks.
func (h *rehearsal) labelled(ctx context.Context) {
	if h.PauseSignal() {
		h.add(DryLine{Action: wouldWait, Reason: h.signalNote()}, nil)
		return
	}
	for _, at := range h.Sites {
		tasks, err := listLabelled(ctx, at)
		if err != nil {
			h.add(DryLine{TaskKey: at.Host}, &ListError{err})
		}
		for _, t := range tasks {
			j := job{key: t.Key, at: at, trigger: policy.ByLabel}
			if j.uuid = h.live[forge.FoldKey(t.Key.String())]; j.uuid == "" {
				h.begin(ctx, t, j)
			} else {
				h.resume(ctx, j)
			}
		}
	}
}

// consider looks at a task that was named.
func (h *rehearsal) consider(ctx context.Context, j job) {
	if j.uuid == "" {
		uuid, live, err := h.Store.Active(j.key.String())
		if err != nil {
			h.add(DryLine{TaskKey: j.key.String()}, err)
			return
		}
		if live {
			j.uuid = uuid
		}
	}
	if j.uuid != "" {
		h.resume(ctx, j)
		return
	}
	t, err := j.at.Client.Task(ctx, j.key)
	if err != nil {
		h.add(DryLine{TaskKey: j.key.String()}, unread(err))
		return
	}
	h.begin(ctx, t, j)
}

func (h *rehearsal) begin(ctx context.Context, t forge.Task, j job) {
	line := DryLine{Action: wouldBegin, TaskKey: t.Key.String(), Title: t.Title, Reason: h.becauseOf(j.trigger)}
	why, err := h.refusal(ctx, t, j)
	if err != nil {
		h.add(line, err)
		return
	}
	if why != "" {
		line.Action, line.Reason = wouldSkip, why
	} else if h.PauseSignal() {
		line.Action, line.Reason = wouldWait, h.signalNote()
	}
	h.add(line, nil)
}

// resume says what becomes of a context. With a label that was set again it is
// looked at a second time, and the later answer stands.
func (h *rehearsal) resume(ctx context.Context, j job) {
	fork, err := h.Store.ForkOf(j.uuid)
	if err == nil && fork != nil && j.trigger != policy.ByCommand {
		h.leave(fork, j)
		return
	}
	s, damage := h.readable(j.uuid)
	line := DryLine{Action: wouldContinue, UUID: j.uuid, Reason: h.wokenBy(nil)}
	if s.Created != nil {
		line.TaskKey, line.Title = s.Created.TaskKey, s.Created.Title
		h.live[forge.FoldKey(line.TaskKey)] = j.uuid
	}
	if damage != nil {
		h.add(line, damage)
		return
	}
	if j.trigger == "" && h.leavesToTry(s.Created.Forge) && h.outlook(line, s, nil).Action == wouldSkip {
		return // as a run says nothing of it
	}
	wake, why, err := h.wakeOf(ctx, s, j)
	if err != nil {
		h.add(line, err)
		return
	}
	line = h.outlook(line, s, wake)
	if why != "" && line.Action == wouldWait {
		line.Reason += "; " + why
	}
	h.add(line, nil)
}

// leave says of a fork that only a person runs it, if its task has the label.
func (h *rehearsal) leave(fork *event.ContextForked, j job) {
	if j.key.Number != 0 {
		h.add(DryLine{Action: wouldSkip, UUID: j.uuid, TaskKey: j.key.String(), Reason: h.text("skip.fork", j.uuid)}, nil)
		return
	}
	if created, err := h.Store.Creation(j.uuid); err == nil && fork.Live {
		h.live[forge.FoldKey(created.TaskKey)] = j.uuid
	}
}

// readable folds a log as far as it can be read. A torn tail is no damage.
func (h *rehearsal) readable(uuid string) (*projections.State, error) {
	state := projections.NewState()
	for ev, err := range h.Store.Events(uuid) {
		var torn *eventlog.TornError
		switch {
		case errors.As(err, &torn):
			return state, nil
		case err != nil:
			return state, err
		}
		state.Apply(ev)
	}
	return state, nil
}

func (h *rehearsal) outlook(line DryLine, s *projections.State, wake event.Body) DryLine {
	pending, _ := h.Store.Pending(line.UUID) // what cannot be read is no signal
	_, stop := pending[contexts.Stop]
	_, pause := pending[contexts.Pause]
	_, configured := h.Site(s.Created.Forge)
	switch {
	case s.Status.Ended():
		line.Action, line.Reason = wouldSkip, h.text("skip.ended")
	case stop || configured && s.Stop != nil:
		line.Action, line.Reason = wouldStop, h.text("seen.stop")
	case h.leavesToTry(s.Created.Forge):
		line.Action, line.Reason = wouldSkip, h.text("skip.try", line.UUID[:8])
	case !configured:
		line.Action, line.Reason = wouldSkip, h.text("skip.forge", s.Created.Forge, line.UUID[:8])
	case wake != nil:
		line.Action, line.Reason = wouldResume, h.wokenBy(wake)
		switch wake.(type) {
		case *event.StopRequested:
			line.Action = wouldStop
		case *event.StatusRequested, *event.LimitRaised:
			line.Action = wouldWait
		}
	case policy.Waiting(s):
		line.Action, line.Reason = wouldWait, report.Because(s, h.Language())
	case pause:
		line.Action, line.Reason = wouldWait, h.text("seen.pause")
	case h.PauseSignal():
		line.Action, line.Reason = wouldWait, h.signalNote()
	}
	return line
}

// add notes a line; one about the same context takes the place of the earlier.
func (h *rehearsal) add(line DryLine, err error) {
	if err != nil {
		reason, _ := h.Redact.String(err.Error())
		line.Action, line.Reason = wouldFail, reason
		h.summary.Errors = append(h.summary.Errors, err)
	}
	for i, old := range h.lines {
		if line.UUID != "" && old.UUID == line.UUID {
			h.lines[i] = line
			return
		}
	}
	h.lines = append(h.lines, line)
}
