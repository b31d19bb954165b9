package rounds

import (
	"agent/handlers/policy"
	"agent/internal/report"
	"agent/projections"
)

// sleeper gives what decides about waking a context, and why it waits. It reads the log
// only if no note about it is kept: most logs did not change since the last round.
func (r *round) sleeper(uuid string) (s *projections.State, because string, err error) {
	s, because, noteErr, err := report.ReadSleeper(r.Store, uuid, r.ProgramVersion(), r.Language())
	r.warnOfNote(noteErr)
	return s, because, err
}

// fellAsleep keeps a note about a context that was worked on until now.
func (r *round) fellAsleep(s *projections.State) {
	if s.Created == nil || !policy.Waiting(s) {
		return
	}
	if mark, err := r.Store.MarkOf(s.Created.UUID); err == nil {
		r.warnOfNote(report.NoteSleeper(r.Store, s, mark, r.ProgramVersion(), r.Language()))
	}
}

func (r *round) warnOfNote(err error) {
	if err != nil {
		r.Log.Warn("a note on a paused context could not be written: its log is read again", "error", err)
	}
}
