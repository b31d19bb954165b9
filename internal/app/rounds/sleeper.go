package rounds

import (
	"encoding/json"

	"agent/contexts"
	"agent/handlers/engine"
	"agent/handlers/policy"
	"agent/internal/report"
	"agent/projections"
)

// sleeper gives what decides about waking a context, and why it waits. It reads the log
// only if no note about it is kept: most logs did not change since the last round.
func (r *round) sleeper(uuid string) (s *projections.State, because string, err error) {
	return r.sleeperBy(uuid, r.note(uuid))
}

func (r *round) sleeperBy(uuid string, n *report.Sleeper) (s *projections.State, because string, err error) {
	if n != nil {
		return n.Waiter.State(), n.Because, nil
	}
	mark, markErr := r.Store.MarkOf(uuid)
	if s, err = engine.ReadState(r.Store, uuid); err != nil {
		return nil, "", err
	}
	if markErr == nil {
		r.noteSleeper(s, mark)
	}
	return s, report.Because(s, r.Language()), nil
}

// note is what is kept about a context, nil if its log has to be read.
func (r *round) note(uuid string) *report.Sleeper {
	return report.Sleeping(r.Store, uuid, r.ProgramVersion(), r.Language())
}

// signalled reports whether a command has left a signal for a context.
func (r *round) signalled(uuid string) bool {
	pending, err := r.Store.Pending(uuid)
	return err != nil || len(pending) > 0
}

// unread notes that the logs of so many paused contexts are left to later looks.
func (r *round) unread(n int) {
	r.Log.Info("the next round goes on to read the logs of paused contexts", "left", n)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.summary.Paused += n
}

// fellAsleep keeps a note about a context that was worked on until now.
func (r *round) fellAsleep(s *projections.State) {
	if s.Created == nil || !policy.Waiting(s) {
		return
	}
	if mark, err := r.Store.MarkOf(s.Created.UUID); err == nil {
		r.noteSleeper(s, mark)
	}
}

// noteSleeper keeps a note, unless more than a Waiter holds decides about the context.
func (r *round) noteSleeper(s *projections.State, mark contexts.Mark) {
	if !policy.Waiting(s) || s.Stop != nil || s.Owes() || s.Created == nil || report.NeedsOperator(s) || mark.Head.Seq != s.Seq {
		return
	}
	note, err := json.Marshal(report.Sleeper{Version: r.ProgramVersion(), Language: r.Language(), Because: report.Because(s, r.Language()),
		Event: mark.Type, Waiter: projections.WaiterOf(s)})
	if err == nil {
		err = r.Store.NoteWaiting(s.Created.UUID, mark, note)
	}
	if err != nil {
		r.Log.Warn("a note on a paused context could not be written: its log is read again", "error", err)
	}
}
