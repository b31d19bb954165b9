package event

import (
	"encoding/json"
	"fmt"
)

// How a shape changes: the struct gets its new form and its entry in registry
// the next version; an upcaster is added here that turns stored data of the old
// version into the new one; the golden file of the old version stays and proves
// the upcaster. An upcaster works on stored JSON with a private struct of the
// old form, so that later changes of the Go types never touch it, and leaves
// empty what it cannot know. Old data passes through all of them in turn, and
// lines of a log are never rewritten. upcast_test.go shows it with a test shape.

// upcasters[kind][v] turns data of version v into version v+1. A released
// version keeps its upcaster and its golden file for ever.
var upcasters = map[string]map[int]func(json.RawMessage) (json.RawMessage, error){}

func upcast(kind string, from, to int, data []byte) ([]byte, error) {
	for v := from; v < to; v++ {
		up, ok := upcasters[kind][v]
		if !ok {
			return nil, fmt.Errorf("%s: no way from version %d to %d", kind, v, v+1)
		}
		next, err := up(data)
		if err != nil {
			return nil, fmt.Errorf("%s: from version %d: %w", kind, v, err)
		}
		data = next
	}
	return data, nil
}
