package contexts

import (
	"errors"
	"slices"
	"sync"

	"agent/eventlog/event"
)

// Known gives up to n contexts for a first screen: those in running and paused, then others
// by task. They are as the index knows them, which may be some time ago, and no log is read
// beyond its first line. It gives none if there is no index that can be used.
func (s *Store) Known(n int) (all []Info, err error) {
	x, err := s.load()
	if err == nil {
		defer x.Close()
		all, err = s.knownOf(x, n)
	}
	if errors.Is(err, errIndex) {
		return nil, nil
	}
	return all, err
}

func (s *Store) knownOf(x *snapshot, n int) (all []Info, err error) {
	for _, p := range []Dir{Running, Paused} {
		names, err := s.names(p, func(error) {}) // [Store.Infos] names what is no context
		if err != nil {
			return nil, err
		}
		for _, uuid := range names[:min(len(names), n-len(all))] {
			i, err := s.knownAs(x, uuid, p)
			if err != nil {
				return nil, err
			}
			if i.UUID != "" {
				all = append(all, i)
			}
		}
	}
	living := len(all)
	for r, err := range x.rows() {
		if err != nil || len(all) >= n {
			return all, err
		}
		if !r.over() || slices.ContainsFunc(all[:living], func(i Info) bool { return i.UUID == r.UUID }) {
			continue
		}
		i, err := r.whole()
		if err != nil {
			return nil, err
		}
		all = append(all, i)
	}
	return all, nil
}

// knownAs is what the index says of a context in running or paused, or else its first line;
// zero if there is neither.
func (s *Store) knownAs(x *snapshot, uuid string, p Dir) (Info, error) {
	if i, ok := x.tail[uuid]; ok && !i.gone {
		return i, nil
	}
	for rec, err := range s.Records(uuid) {
		if err != nil {
			break
		}
		ev, err := decode(uuid, rec)
		first, ok := ev.Body.(*event.ContextCreated)
		if err != nil || !ok {
			break
		}
		i, found, err := x.get(first.TaskKey, uuid)
		if err != nil || found {
			return i, err
		}
		state := StateRunning
		if p == Paused {
			state = StatePaused
		}
		return Info{UUID: uuid, TaskKey: first.TaskKey, Title: first.Title, State: state, Created: ev.Time, Updated: ev.Time}, nil
	}
	return Info{}, nil
}

// Seen is for who lists again and again ([Query.Seen]): the log of a context that has not
// ended is read again only if its file changed. A long one is not read at all.
type Seen struct {
	Longest int64 // bytes of a log that is read; 0: any. Of longer ones the list has what the index and the last event say.

	mu    sync.Mutex
	infos map[string]Info
}

func (n *Seen) again(s *Store, known Info) Info {
	if n == nil {
		return s.again(known)
	}
	size, modified, archived, err := s.measure(known.UUID)
	if err == nil && n.Longest > 0 && size > n.Longest && !archived {
		return s.fromEnd(known)
	}
	n.mu.Lock()
	i, ok := n.infos[known.UUID]
	n.mu.Unlock()
	if ok && err == nil && i.Err == nil && i.Size == size && i.modified == modified && i.Archived == archived {
		return i
	}
	if i = s.again(known); i.UUID == "" {
		return i
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.infos == nil {
		n.infos = map[string]Info{}
	}
	n.infos[i.UUID] = i
	return i
}

// fromEnd is what the index knows of a context, with what the last event of its log changes.
func (s *Store) fromEnd(known Info) Info {
	m, last, err := s.lastOf(known.UUID)
	if err != nil { // torn: it is being written
		return known
	}
	known.Size, known.modified, known.Updated = m.Size, m.Modified, last.When()
	switch string(last.Type) {
	case "context.paused", "context.awaiting", "context.resumed", "context.completed", "context.stopped", "context.failed":
		if ev, err := decode(known.UUID, last); err == nil {
			known.apply(ev)
		}
	}
	return known
}
