package rest

import (
	"sync"

	"agent/forge"
)

// Labels knows which labels exist, by any id that tells them apart. The zero
// value knows none. It is safe for concurrent use.
type Labels struct{ known sync.Map }

// Ensure creates a label with its colour where get does not find it: the forge
// would invent one. It asks nothing about a label that is known to exist.
func (l *Labels) Ensure(id string, get, create func() error) error {
	if _, known := l.known.Load(id); known {
		return nil
	}
	err := get()
	if Kind(err) == forge.NotFound {
		err = create()
	}
	switch Kind(err) {
	case forge.NotFound, forge.Forbidden, forge.Invalid:
		return nil // a colour is no reason to fail: to add the label shows whether we may
	default: // the caller retries
	}
	if err == nil {
		l.known.Store(id, true)
	}
	return err
}
