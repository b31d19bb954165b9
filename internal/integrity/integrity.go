// Package integrity checks a context whole, and makes it whole again: its log, its blobs,
// the saved files, and the projection files.
package integrity

import (
	"errors"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/handlers/engine"
	"agent/internal/trees"
	"agent/projections"
)

// Verified is a context that is whole, as verify --json prints it.
type Verified struct {
	UUID   string `json:"uuid"`
	OK     bool   `json:"ok"`
	Events int    `json:"events"`
	Blobs  int    `json:"blobs"`
	Saves  int    `json:"saves"`          // of the working copy's files
	Torn   string `json:"torn,omitempty"` // the end is cut at the next run
}

// Verify reads every byte of a context. A [engine.StaleError] is no damage: projection
// files are not what the log says, see [IsStale].
func Verify(store *contexts.Store, uuid string) (Verified, error) {
	v, err := engine.Verify(store, uuid)
	done := Verified{UUID: uuid, Events: v.Events, Blobs: v.Blobs}
	if v.Torn != nil {
		done.Torn = v.Torn.Error()
	}
	if err == nil || IsStale(err) {
		var damage error
		if done.Saves, damage = trees.Check(store, uuid); damage != nil {
			err = damage
		}
	}
	done.OK = err == nil || IsStale(err)
	return done, err
}

// IsStale is true if nothing is wrong with a log but the files made from it.
func IsStale(err error) bool {
	var stale *engine.StaleError
	return errors.As(err, &stale)
}

// Repaired is what was given up, as repair --json prints it.
type Repaired struct {
	UUID   string `json:"uuid"`
	Lines  int64  `json:"lines_given_up"`
	Bytes  int64  `json:"bytes_given_up"`
	Saves  int    `json:"saves_given_up"`
	Reason string `json:"reason,omitempty"` // what was wrong; empty: it was not damaged
	Status string `json:"state,omitempty"`

	State *projections.State `json:"-"` // nil: it was not damaged
}

// Repair keeps the events before the damage, and gives up saved files that cannot be read.
func Repair(store *contexts.Store, uuid string, now time.Time) (Repaired, error) {
	lost, err := store.Repair(uuid, now)
	done := Repaired{UUID: uuid, Lines: lost.Lines, Bytes: lost.Bytes, Reason: lost.Reason}
	if err != nil {
		return done, err
	}
	if done.Saves, err = trees.Repair(store, uuid, now); err != nil {
		return done, err
	}
	if lost.Lines > 0 || done.Saves > 0 {
		err = Rebuild(store, uuid)
	}
	if err != nil || lost.Lines == 0 && lost.Reason == "" && done.Saves == 0 {
		return done, err
	}
	if done.State, err = engine.ReadState(store, uuid); err == nil {
		done.Status = string(done.State.Status)
	}
	return done, err
}

// Rebuild makes the projection files of a context again from its log.
func Rebuild(store *contexts.Store, uuid string) error {
	log, err := store.Acquire(uuid, func(event.Event) error { return nil })
	if err != nil {
		return err
	}
	defer log.Close()
	return engine.Rebuild(store, log)
}
