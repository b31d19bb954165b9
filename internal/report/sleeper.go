package report

import (
	"encoding/json"

	"agent/contexts"
	"agent/handlers/engine"
	"agent/handlers/policy"
	"agent/internal/i18n"
	"agent/projections"
)

// Sleeper is what is known of a context without reading its log: rounds keep a note about
// each that is paused or waits for people. Whatever it depends on beside the log is in it.
type Sleeper struct {
	Version  string             `json:"version"` // of the program: another one may fold the log in another way
	Language i18n.Lang          `json:"language"`
	Because  string             `json:"because"`
	Event    string             `json:"event"` // type of the last one
	Waiter   projections.Waiter `json:"waiter"`
}

// Sleeping reads the note about a context; nil if there is none that holds for its log
// as it is now.
func Sleeping(store *contexts.Store, uuid, version string, lang i18n.Lang) *Sleeper {
	var n Sleeper
	note := store.Waiting(uuid)
	if note == nil || json.Unmarshal(note, &n) != nil || n.Version != version || n.Language != lang {
		return nil
	}
	return &n
}

// NoteSleeper keeps one of a state whose log had the mark, unless more than a Waiter
// holds decides about the context.
func NoteSleeper(store *contexts.Store, s *projections.State, mark contexts.Mark, version string, lang i18n.Lang) error {
	if !policy.Waiting(s) || s.Stop != nil || s.Created == nil || NeedsOperator(s) || mark.Head.Seq != s.Seq {
		return nil
	}
	note, err := json.Marshal(Sleeper{version, lang, Because(s, lang), mark.Type, projections.WaiterOf(s)})
	if err != nil {
		return err
	}
	return store.NoteWaiting(s.Created.UUID, mark, note)
}

// ReadSleeper gives the state by which it is decided what wakes a context, and why it
// waits: from its note, else from its log, of which it then keeps one.
func ReadSleeper(store *contexts.Store, uuid, version string, lang i18n.Lang) (s *projections.State, because string, noteErr, err error) {
	if n := Sleeping(store, uuid, version, lang); n != nil {
		return n.Waiter.State(), n.Because, nil, nil
	}
	mark, markErr := store.MarkOf(uuid)
	if s, err = engine.ReadState(store, uuid); err != nil {
		return nil, "", nil, err
	}
	if markErr == nil {
		noteErr = NoteSleeper(store, s, mark, version, lang)
	}
	return s, Because(s, lang), noteErr, nil
}
