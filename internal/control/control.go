// Package control asks contexts to pause, to go on and to stop: it leaves signals, which
// the agent that works on a context takes, or else the next round.
package control

import (
	"encoding/json"
	"errors"
	"slices"

	"agent/contexts"
	"agent/forge"
	"agent/handlers/engine"
	"agent/projections"
)

// Request is what is asked of some contexts.
type Request struct {
	Signal contexts.Signal
	Add    float64 // resume: how much of a reached limit is granted; 0 is the same amount once more
	Reason string  // stop

	Refs  []string // contexts: URLs, uuids or their beginnings
	All   bool     // instead: all that no person has forked
	Dir   contexts.Dir
	Hosts []string // of the configured forges

	// End carries out the stop of a try, which no run takes. It is false if another process does.
	End func(uuid string) (ended bool, err error)
}

// payload says who asks, and for what.
func (r Request) payload() []byte {
	payload, _ := json.Marshal(engine.SignalPayload{Add: r.Add, By: engine.Operator(), Reason: r.Reason}) // of a number and texts
	return payload
}

// Answer is what became of a request to one context, as --json prints it.
type Answer struct {
	UUID      string          `json:"uuid"`
	Signal    contexts.Signal `json:"signal"`
	Requested bool            `json:"requested"` // false: the context has ended
	Status    string          `json:"state"`

	State *projections.State `json:"-"` // nil if none can be read
	Try   bool               `json:"-"` // no run takes it: agent try --resume does
}

// Send leaves the signal for each context. A damaged one gets it, too, for after its
// repair; the damage is the error in the end.
func Send(store *contexts.Store, r Request, told func(Answer)) error {
	uuids, err := r.targets(store)
	if err != nil {
		return err
	}
	var damaged error
	for _, uuid := range uuids {
		state, err := engine.ReadState(store, uuid)
		a := Answer{uuid, r.Signal, err != nil || !state.Status.Ended(), statusOf(state), state, r.ofTry(store, uuid)}
		if a.Requested {
			if err := r.send(store, &a); err != nil {
				return err
			}
		}
		told(a)
		if contexts.ExitCode(err) == contexts.ExitDamage && !contexts.IsTorn(err) {
			damaged = errors.Join(damaged, err)
		}
	}
	return damaged
}

// send leaves the signal. The stop of a try is carried out at once. One that nobody works
// on cannot be paused: agent try --resume would only pause it again.
func (r Request) send(store *contexts.Store, a *Answer) error {
	if a.Try && r.Signal == contexts.Pause {
		if busy, err := store.Locked(a.UUID); !busy || err != nil {
			if a.Requested = false; a.Status == string(projections.Running) {
				a.Status = "interrupted"
			}
			return err
		}
	}
	if err := store.Send(a.UUID, r.Signal, r.payload()); err != nil {
		return err
	}
	if r.Signal != contexts.Stop || !a.Try || r.End == nil {
		return nil
	}
	ended, err := r.End(a.UUID)
	if ended {
		a.Status = string(projections.Stopped)
	}
	return err
}

func (r Request) ofTry(store *contexts.Store, uuid string) bool {
	first, err := store.Creation(uuid)
	return err == nil && forge.OfTry(first.Forge) && !slices.Contains(r.Hosts, first.Forge)
}

// statusOf is the state by the log; none can be read of one that is damaged.
func statusOf(s *projections.State) string {
	if s == nil || s.Created == nil {
		return contexts.StateDamaged
	}
	return string(s.Status)
}

func (r Request) targets(store *contexts.Store) (uuids []string, err error) {
	for _, ref := range r.Refs {
		uuid, err := store.Live(ref, r.Hosts...)
		if err != nil {
			return nil, err
		}
		uuids = append(uuids, uuid)
	}
	if !r.All {
		return uuids, nil
	}
	for entry, err := range store.Unfinished() {
		if fork, _ := store.ForkOf(entry.UUID); fork != nil {
			continue // no round takes it
		}
		if r.Signal == contexts.Resume && r.ofTry(store, entry.UUID) {
			continue // nor that
		}
		if err == nil && entry.Dir == r.Dir {
			uuids = append(uuids, entry.UUID)
		}
	}
	return uuids, nil
}
