package engine

import (
	"agent/contexts"
	"agent/projections"
)

// ReadState folds the log of a context without taking it. Errors are those of
// [contexts.Store.Events].
func ReadState(store *contexts.Store, uuid string) (*projections.State, error) {
	state := projections.NewState()
	for ev, err := range store.ToFold(uuid) {
		if err != nil {
			return nil, err
		}
		state.Apply(ev)
	}
	return state, nil
}
