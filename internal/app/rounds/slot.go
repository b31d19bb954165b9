package rounds

import (
	"errors"
	"strconv"

	"agent/contexts"
	"agent/handlers/policy"
)

// slot takes one of the places in which all processes of this store together may work on
// tasks. A person who names a task does not wait for one.
func (r *round) slot(j job) (release func(), free bool) {
	if j.trigger == policy.ByCommand {
		return func() {}, true
	}
	for n := range r.Config.Workers {
		lock, err := r.Store.LockHere("worker " + strconv.Itoa(n+1))
		switch {
		case err == nil:
			return func() { _ = lock.Close() }, true
		case !errors.Is(err, contexts.ErrBusy):
			return func() {}, true // whoever works on the task will say what is wrong
		}
	}
	return nil, false
}

// noSlot notes that other processes take all places. What is left is done in a later look.
func (r *round) noSlot(j job) {
	why := r.text("seen.workers", r.Config.Workers)
	r.saw(r.keyOf(j), contexts.Busy, why, j.uuid)
	r.crowded.Do(func() { r.voice.Note(why) })
}
