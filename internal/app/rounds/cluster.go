package rounds

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"agent/contexts"
	"agent/forge"
	"agent/handlers/engine"
	"agent/internal/app"
	"agent/internal/cluster"
	"agent/internal/webhook"
)

// In a cluster one worker scans each forge and puts what it finds into the queue. Every
// worker takes items from there, as many as it has room for, and looks at them as it does
// at those that hooks tell of: who gets the lock of the task works on it. A job is only a
// hint, since the label stays until the task is begun: one that is lost is found again by
// the next scan. Contexts whose worker has gone are in the store of every other.

const lastLane = 9

// scans reports whether this worker is the one that scans a forge, and stays so while it
// lives.
func (r *round) scans(ctx context.Context, host string) bool {
	if r.Cluster == nil {
		return true
	}
	if lock := r.scanning[host]; lock != nil && lock.Left() > 0 {
		return true
	}
	lock, err := r.Cluster.Lock(ctx, cluster.Name("scan "+host))
	if err != nil {
		if !errors.Is(err, cluster.ErrHeld) && ctx.Err() == nil {
			r.trouble(host, err)
		}
		return false
	}
	r.scanning[host] = lock
	return true
}

// looksAfter reports whether this worker is the one that looks whether something wakes a
// context: the one that scans its forge.
func (r *round) looksAfter(ctx context.Context, uuid string) bool {
	if r.Cluster == nil {
		return true
	}
	first, err := r.Store.Creation(uuid)
	return err != nil || r.scans(ctx, first.Forge)
}

// heldElsewhere reports whether another worker of the cluster works on a context. Most
// that run are.
func (r *round) heldElsewhere(uuid string) bool {
	return r.Cluster != nil && r.busyElsewhere(uuid)
}

// offer puts labelled items into the queue.
func (r *round) offer(ctx context.Context, at app.Site, tasks []forge.Task) {
	lanes := lanesOf(tasks, r.Config.Cluster.UrgentLabels, r.lanes[at.Host])
	r.lanes[at.Host] = lanes
	for _, t := range tasks {
		if err := app.Offer(ctx, r.Cluster, webhook.Item{Key: t.Key}, lanes[t.Key]); err != nil {
			r.trouble(at.Host, err)
			return
		}
	}
}

// lanesOf puts urgent items first, then the first of each repository, then the second of each: none
// waits for all of another's. An item keeps its lane until it is the first one: in each lane it would
// be a job of its own.
func lanesOf(tasks []forge.Task, urgent []string, before map[forge.TaskKey]int) map[forge.TaskKey]int {
	rank, lanes := map[string]int{}, map[forge.TaskKey]int{}
	for _, t := range tasks {
		lane := min(1+rank[t.Key.Project], lastLane)
		rank[t.Key.Project]++
		if slices.ContainsFunc(urgent, func(label string) bool { return slices.Contains(t.Labels, label) }) {
			lane = 0
		}
		if known, offered := before[t.Key]; offered && lane > 1 {
			lane = known
		}
		lanes[t.Key] = lane
	}
	return lanes
}

// takeAll looks at what is in the queue until nothing is, for a process that does one round.
func (r *round) takeAll(ctx context.Context, jobs chan<- job) {
	for ctx.Err() == nil {
		taken, err := r.Cluster.Take(ctx, emptyTime)
		if err != nil {
			r.trouble("cluster", err)
			return
		}
		if taken == nil {
			return
		}
		if item, ok := r.Offered(taken.Data()); ok {
			r.lookAtItem(ctx, item, jobs)
		}
		if err := taken.Done(); err != nil {
			r.Log.Warn("a task may be looked at twice", "error", err)
		}
	}
}

// feed takes jobs from the queue of the cluster while there are free workers, until ctx ends.
func (s *Rounds) feed(ctx context.Context) {
	for ctx.Err() == nil {
		if !s.hasRoom() {
			pause(ctx, roomInterval)
			continue
		}
		job, err := s.Cluster.Take(ctx, takeTime)
		if err != nil {
			if ctx.Err() == nil {
				s.Log.Warn("no tasks can be taken from the cluster's queue", "error", err)
				pause(ctx, takeTime)
			}
			continue
		}
		if job == nil {
			continue
		}
		if item, ok := s.Offered(job.Data()); ok {
			s.Hooks.Add(item)
		}
		if err := job.Done(); err != nil {
			s.Log.Warn("a task may be looked at twice", "error", err)
		}
	}
}

const (
	roomInterval = 100 * time.Millisecond
	takeTime     = 5 * time.Second
	emptyTime    = 500 * time.Millisecond // after which the queue is taken for empty
)

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// hasRoom reports whether another item can be looked at: a worker is free, and no item is on its way
// to it. An item that waits until another machine is done with it takes no room.
func (s *Rounds) hasRoom() bool {
	return int(s.busy.Load()+s.inFlight.Load())+s.Hooks.Fresh() < s.Config.Workers
}

// takeHooks takes the items that the next look is at. It is false if there are none.
func (s *Rounds) takeHooks() bool {
	s.only = s.Hooks.Take()
	s.inFlight.Store(int32(len(s.only)))
	return s.only != nil
}

// amendTime bounds how long it is tried to do again what a late effect has undone.
const amendTime = 2 * time.Minute

// amend does again what an effect of this worker has undone that came when the context was another
// one's, see [engine.Late]. Other tasks do not wait for that; the end of the rounds does.
func (r *round) amend(ctx context.Context, at app.Site, e *engine.Engine) {
	late := e.Late()
	if late == nil {
		return
	}
	p := r.PortsFor(at)
	p.Log = r.logOf(e.State().Key.String(), e.State().Created.UUID)
	r.late.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, amendTime)
		defer cancel()
		if err := late.Amend(ctx, p); err != nil {
			p.Log.Warn("what stands on the task may be older than the log", "error", err)
		}
	})
}

// repositorySlot takes one of the places that a repository has in the cluster.
func (r *round) repositorySlot(key forge.TaskKey) (release func(), free bool) {
	most := r.Config.Cluster.PerRepository
	if r.Cluster == nil || most == 0 || key.Project == "" {
		return func() {}, true
	}
	for n := range most {
		lock, err := r.Store.LockKey("repository " + key.Host + " " + strings.ToLower(key.Project) + " " + strconv.Itoa(n+1))
		switch {
		case err == nil:
			return func() { _ = lock.Close() }, true
		case !errors.Is(err, contexts.ErrBusy):
			return func() {}, true // whoever works on the task will say what is wrong
		}
	}
	return nil, false
}

// taskOf is the task of a job, also of one that names only its context.
func (r *round) taskOf(j job) forge.TaskKey {
	if j.uuid == "" {
		return j.key
	}
	key, err := forge.ParseTaskKey(r.keyOf(j), app.Hosts(r.Config)...)
	if err != nil {
		return j.key
	}
	return key
}

// clusterNews tells that a worker has gone; never where this machine is alone.
func (s *Rounds) clusterNews() <-chan struct{} {
	if s.Cluster == nil {
		return nil
	}
	return s.Cluster.News()
}
