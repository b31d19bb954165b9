package rounds

import (
	"encoding/json"

	"agent/contexts"
	"agent/handlers/engine"
	"agent/handlers/policy"
	"agent/internal/i18n"
	"agent/internal/report"
	"agent/projections"
)

// sleeperNote is what rounds keep about a paused context. Whatever it depends on beside
// the log is in it.
type sleeperNote struct {
	Version  string             `json:"version"` // of the program: another one may fold the log in another way
	Language i18n.Lang          `json:"language"`
	Because  string             `json:"because"`
	Waiter   projections.Waiter `json:"waiter"`
}

// sleeper gives what decides about waking a context, and why it waits. It reads the log
// only if no note about it is kept: most logs did not change since the last round.
func (r *round) sleeper(uuid string) (s *projections.State, because string, err error) {
	var n sleeperNote
	if note := r.Store.Waiting(uuid); note != nil && json.Unmarshal(note, &n) == nil && n.Version == r.ProgramVersion() && n.Language == r.Language() {
		return n.Waiter.State(), n.Because, nil
	}
	mark, markErr := r.Store.MarkOf(uuid)
	if s, err = engine.ReadState(r.Store, uuid); err != nil {
		return nil, "", err
	}
	because = report.Because(s, r.Language())
	if markErr == nil {
		r.noteSleeper(s, mark, because)
	}
	return s, because, nil
}

// noteSleeper keeps a note, unless more than a Waiter holds decides about the context.
func (r *round) noteSleeper(s *projections.State, mark contexts.Mark, because string) {
	if !policy.Waiting(s) || s.Stop != nil || s.Created == nil || r.faultOfModel(s) != nil || mark.Head.Seq != s.Seq {
		return
	}
	note, err := json.Marshal(sleeperNote{r.ProgramVersion(), r.Language(), because, projections.WaiterOf(s)})
	if err == nil {
		err = r.Store.NoteWaiting(s.Created.UUID, mark, note)
	}
	if err != nil {
		r.Log.Warn("a note on a paused context could not be written: its log is read again", "error", err)
	}
}

// fellAsleep keeps a note about a context that was worked on until now.
func (r *round) fellAsleep(s *projections.State) {
	if s.Created == nil || !policy.Waiting(s) {
		return
	}
	if mark, err := r.Store.MarkOf(s.Created.UUID); err == nil {
		r.noteSleeper(s, mark, report.Because(s, r.Language()))
	}
}
