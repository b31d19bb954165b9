package contexts

import (
	"fmt"
	"strings"

	"agent/eventlog"
	"agent/eventlog/event"
)

// descent follows whose log it is that is read: it begins as that of the context which it
// names, and each context.forked makes it that of a fork. The lines before a fork are
// its origin's, so their hash chain proves where they come from.
type descent struct {
	uuid  string
	fork  *event.ContextForked // the latest
	first *event.ContextCreated
}

// descends are the kinds that a descent looks into.
func descends(kind string) bool { return kind == "context.created" || kind == "context.forked" }

// apply takes the next event; before is the head of the log without it.
func (d *descent) apply(e event.Event, before eventlog.Head) error {
	wrong := ""
	switch b := e.Body.(type) {
	case *event.ContextCreated:
		if e.Seq != 1 {
			wrong = "only the first event of a log creates its context"
		}
		d.uuid, d.first = b.UUID, b
	case *event.ContextForked:
		switch {
		case b.Origin != d.uuid:
			wrong = "it is a fork of " + b.Origin + ", and the events before are of " + d.uuid
		case b.Seq != before.Seq || !strings.HasPrefix(b.Hash, fmt.Sprintf("%016x", before.Hash)):
			wrong = "the events before are not those that the fork began with"
		}
		d.uuid, d.fork = b.UUID, b
	default:
		if e.Seq == 1 {
			wrong = "a log begins with the creation of its context"
		}
	}
	if wrong != "" {
		return fmt.Errorf("seq %d: %s", e.Seq, wrong)
	}
	return nil
}

// end is an error if the log is another context's.
func (d *descent) end(name, uuid string) error {
	if d.uuid == uuid {
		return nil
	}
	return &DamageError{Name: name, Reason: "its log is that of " + d.uuid}
}

// created is the creation as that of the context itself.
func (d *descent) created() *event.ContextCreated {
	own := *d.first
	own.UUID = d.uuid
	return &own
}

// Creation reads the first event of a log and no more of it, but for a fork: its first
// event names the context that it descends from, and the one that makes it a fork comes later.
func (s *Store) Creation(uuid string) (*event.ContextCreated, error) {
	d, err := s.descent(uuid)
	if err != nil {
		return nil, err
	}
	return d.created(), nil
}

// ForkOf is what makes a context a fork; nil for one that is none.
func (s *Store) ForkOf(uuid string) (*event.ContextForked, error) {
	d, err := s.descent(uuid)
	if err != nil {
		return nil, err
	}
	return d.fork, nil
}

// Simulates tells whether a context is a fork that is not live, as far as its log, or if
// that cannot be read the index, says so.
func (s *Store) Simulates(uuid string) bool {
	fork, err := s.ForkOf(uuid)
	if err == nil {
		return fork != nil && !fork.Live
	}
	known, err := s.recorded(uuid)
	return err == nil && known.Fork != "" && !known.Live
}

func (s *Store) descent(uuid string) (d descent, err error) {
	var before eventlog.Head
	for rec, err := range s.Records(uuid) {
		if err != nil {
			return d, err
		}
		if rec.Seq == 1 || descends(string(rec.Type)) {
			e, err := decode(uuid, rec)
			if err == nil {
				err = d.apply(e, before)
			}
			if err != nil {
				return d, &DamageError{Name: uuid, Reason: err.Error()}
			}
			if d.uuid == uuid {
				return d, nil
			}
		}
		before = eventlog.HeadOf(rec)
	}
	if d.uuid == "" {
		return d, &DamageError{Name: uuid, Reason: "its log holds no event"}
	}
	return d, d.end(uuid, uuid)
}

// Provenance compares a fork with the origin that it names, as far as that is in the
// store. It is nil for a context that is no fork.
func (s *Store) Provenance(uuid string) error {
	fork, err := s.ForkOf(uuid)
	if fork == nil || err != nil {
		return err
	}
	for rec, err := range s.Records(fork.Origin) {
		if err != nil {
			return nil // reading the origin reports that
		}
		if rec.Seq == fork.Seq && hashOf(rec) != fork.Hash {
			return &DamageError{Name: uuid, Reason: fmt.Sprintf("event %d of its origin %s is another one", fork.Seq, fork.Origin)}
		}
	}
	return nil
}
