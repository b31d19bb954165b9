package rounds

import (
	"context"
	"sync"
	"time"

	"agent/contexts"
	"agent/forge"
	"agent/handlers/policy"
	"agent/internal/app"
)

// endedItems knows up to which change the comments on items of ended tasks were read.
type endedItems struct {
	mu     sync.Mutex
	loaded bool
	seen   map[string]contexts.Change // by folded task key
	listed map[string]time.Time       // by host
}

// load takes over what earlier processes noted. What cannot be read is read once more from the forge.
func (e *endedItems) load(s *contexts.Store) {
	if e.loaded {
		return
	}
	e.loaded, e.seen, e.listed = true, map[string]contexts.Change{}, map[string]time.Time{}
	scan, err := s.Scan()
	if err != nil {
		return
	}
	for key, change := range scan.Ended {
		e.seen[key] = change
	}
	for host, h := range scan.Hosts {
		e.listed[host] = h.Ended
	}
}

// mostEnded bounds what a loop remembers: of items that are forgotten the comments are read once more.
const mostEnded = 10_000

func (e *endedItems) note(name string, change contexts.Change) {
	e.seen[name] = change
	for other := range e.seen { // in random order
		if len(e.seen) <= mostEnded {
			return
		}
		delete(e.seen, other)
	}
}

// changedAfterEnd finds the open items whose task has ended and that have changed since their comments were
// read: somebody may ask for another attempt. That costs a list for each of the labels of ended tasks, now and then.
func (r *round) changedAfterEnd(ctx context.Context, at app.Site, jobs chan<- job) {
	every := time.Duration(r.Config.Commands.EndedIntervalSeconds) * time.Second
	if !r.Config.Commands.Enabled || every == 0 || !r.dueAfterEnd(at.Host, every) {
		return
	}
	read := map[string]bool{"": true}
	for _, label := range []string{at.Config.DoneLabel, at.Config.StoppedLabel, at.Config.FailedLabel} {
		if read[label] {
			continue
		}
		read[label] = true
		tasks, err := at.Client.ListTasks(ctx, label)
		if err != nil {
			return // the forge's troubles are said where the tasks are listed
		}
		for _, t := range tasks {
			if policy.ItemOf(t).Trigger(at.Config.Triggers()) != "" || !r.hasChanged(t) {
				continue
			}
			if !r.send(ctx, jobs, job{key: t.Key, at: at, trigger: policy.ByComment, changed: t.UpdatedAt}) {
				return
			}
		}
	}
}

func (r *round) dueAfterEnd(host string, every time.Duration) bool {
	r.over.mu.Lock()
	defer r.over.mu.Unlock()
	r.over.load(r.Store)
	now := time.Now().UTC()
	if now.Sub(r.over.listed[host]) < every {
		return false
	}
	r.over.listed[host] = now
	r.seen.mu.Lock()
	defer r.seen.mu.Unlock()
	if r.seen.scan.Hosts == nil {
		r.seen.scan.Hosts = map[string]contexts.HostScan{}
	}
	h := r.seen.scan.Hosts[host]
	h.Ended = now
	r.seen.scan.Hosts[host] = h
	return true
}

func (r *round) hasChanged(t forge.Task) bool {
	r.over.mu.Lock()
	defer r.over.mu.Unlock()
	known := r.over.seen[forge.FoldKey(t.Key.String())]
	return !known.Twice || !known.Time.Equal(t.UpdatedAt)
}

// readAfterEnd notes that the comments were read of an item that had changed last at a time.
func (r *round) readAfterEnd(key forge.TaskKey, changed time.Time) {
	if changed.IsZero() {
		return
	}
	name := forge.FoldKey(key.String())
	r.over.mu.Lock()
	known := r.over.seen[name]
	now := contexts.Change{Time: changed, Twice: known.Time.Equal(changed)}
	r.over.note(name, now)
	r.over.mu.Unlock()
	r.seen.mu.Lock()
	defer r.seen.mu.Unlock()
	if r.seen.scan.Ended == nil {
		r.seen.scan.Ended = map[string]contexts.Change{}
	}
	r.seen.scan.Ended[name] = now
}
