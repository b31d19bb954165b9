package report

import (
	"encoding/json"

	"agent/contexts"
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
