package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"
)

// Options of a member.
type Options struct {
	Info  Info
	Lease time.Duration        // 10 s if 0
	Clock func() time.Duration // that of the machine if nil
	Log   *slog.Logger
}

// Member is this process as a worker of a cluster: its session, its locks, and what it
// sees of the others.
type Member struct {
	Bus
	o    Options
	stop context.CancelFunc
	done sync.WaitGroup

	mu      sync.Mutex
	own     *session
	others  map[string]seen     // sessions by id
	held    map[string]Value    // locks by key, as the watch has them
	claims  map[string]*session // by key of a lock: who has it, or asks for it
	watched chan struct{}       // closed when both are known
	news    chan struct{}       // a worker has gone
}

// seen is a session as it was seen last.
type seen struct {
	Info
	revision uint64
	at       time.Duration // when this revision was seen first, by the member's clock
}

// Join begins a session. It fails if the cluster does not answer.
func Join(ctx context.Context, bus Bus, o Options) (*Member, error) {
	if o.Clock == nil {
		o.Clock = steady
	}
	if o.Lease == 0 {
		o.Lease = 10 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	m := &Member{Bus: bus, o: o, others: map[string]seen{}, held: map[string]Value{}, claims: map[string]*session{}, watched: make(chan struct{}), news: make(chan struct{}, 1)}
	own, err := startSession(ctx, bus, o.Info, o.Lease, o.Clock)
	if err != nil {
		return nil, fmt.Errorf("join the cluster: %w", err)
	}
	m.own = own
	live, stop := context.WithCancel(context.WithoutCancel(ctx))
	m.stop = stop
	m.done.Go(func() { m.keep(live) })
	m.done.Go(func() { m.watch(live) })
	select {
	case <-m.watched:
		return m, nil
	case <-ctx.Done():
		return nil, errors.Join(fmt.Errorf("join the cluster: %w", ErrUnreachable), m.Leave(ctx))
	}
}

// keep renews the session. One that was ended, as after a partition of more than a lease,
// is followed by a new one, which holds nothing of what the old one held.
func (m *Member) keep(ctx context.Context) {
	for ctx.Err() == nil {
		m.session().keep(ctx, func(err error) { m.o.Log.Warn("the lease could not be renewed", "error", err) })
		for ctx.Err() == nil {
			trial, cancel := context.WithTimeout(ctx, m.o.Lease)
			next, err := startSession(trial, m.Bus, m.o.Info, m.o.Lease, m.o.Clock)
			cancel()
			if err == nil {
				m.o.Log.Warn("other workers took over what this one held; it goes on without that")
				m.mu.Lock()
				m.own = next
				m.mu.Unlock()
				break
			}
			m.o.Log.Warn("the worker is out of the cluster", "error", err)
			sleep(ctx, m.o.Lease/3)
		}
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func (m *Member) session() *session {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.own
}

// Leave ends the session and with it all locks. The bus stays open.
func (m *Member) Leave(ctx context.Context) error {
	m.stop()
	m.done.Wait()
	return m.session().end(ctx)
}

// News tells that a worker has gone: there may be something to take over.
func (m *Member) News() <-chan struct{} { return m.news }

// Workers are those that live, by id.
func (m *Member) Workers() map[string]Info {
	m.mu.Lock()
	defer m.mu.Unlock()
	live := map[string]Info{}
	for id, s := range m.others {
		if !m.expired(s) {
			live[id] = s.Info
		}
	}
	return live
}

// AwaitRenewals waits until each other session has shown that it lives, by a renewal, or has ended.
// That takes a lease at most: a process that lives for less would never learn of a worker
// that was killed, and find everything held.
func (m *Member) AwaitRenewals(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 2*m.o.Lease) // where the cluster does not answer
	defer cancel()
	m.mu.Lock()
	silent := maps.Clone(m.others)
	delete(silent, m.own.id)
	m.mu.Unlock()
	for len(silent) > 0 && ctx.Err() == nil {
		sleep(ctx, m.o.Lease/50)
		m.mu.Lock()
		maps.DeleteFunc(silent, func(id string, s seen) bool { return m.others[id].revision != s.revision })
		m.mu.Unlock()
	}
}

// watch follows sessions and locks until ctx ends.
func (m *Member) watch(ctx context.Context) {
	var both sync.WaitGroup
	both.Add(2)
	m.done.Go(func() { both.Wait(); close(m.watched) })
	m.done.Go(func() { m.expire(ctx) })
	m.done.Go(func() {
		m.follow(ctx, "locks/", sync.OnceFunc(both.Done), m.seeLock, func(known map[string]bool) { keepOnly(m.held, "", known) })
	})
	m.follow(ctx, "sessions/", sync.OnceFunc(both.Done), m.seeSession, func(known map[string]bool) { keepOnly(m.others, "sessions/", known) })
}

// keepOnly drops what a new watch does not know any more.
func keepOnly[V any](of map[string]V, prefix string, known map[string]bool) {
	maps.DeleteFunc(of, func(name string, _ V) bool { return !known[prefix+name] })
}

// follow watches keys until ctx ends, again after an error.
func (m *Member) follow(ctx context.Context, prefix string, ready func(), see func(Value), complete func(known map[string]bool)) {
	defer ready()
	for ctx.Err() == nil {
		known := map[string]bool{}
		for v, err := range m.WatchKeys(ctx, prefix) {
			if err != nil {
				break
			}
			m.mu.Lock()
			if v.Key != "" {
				known[v.Key] = !v.Deleted
				see(v)
			} else {
				complete(known)
				ready()
			}
			m.mu.Unlock()
		}
		sleep(ctx, time.Second)
	}
}

func (m *Member) seeSession(v Value) {
	id := v.Key[len("sessions/"):]
	if v.Deleted {
		if m.others[id].Capacity > 0 {
			m.tell()
		}
		delete(m.others, id)
		return
	}
	var info Info
	if json.Unmarshal(v.Data, &info) != nil || m.others[id].revision == v.Revision {
		return
	}
	m.others[id] = seen{info, v.Revision, m.o.Clock()}
}

func (m *Member) seeLock(v Value) {
	if v.Deleted {
		delete(m.held, v.Key)
		return
	}
	m.held[v.Key] = v
}

func (m *Member) tell() {
	select {
	case m.news <- struct{}{}:
	default:
	}
}

// expire ends sessions that are not renewed any more, so that what they held is free, and
// releases what this one left behind.
func (m *Member) expire(ctx context.Context) {
	tick, clean := time.NewTicker(m.o.Lease/50), time.NewTicker(m.o.Lease/3)
	defer tick.Stop()
	defer clean.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-clean.C:
			m.release(ctx)
		case <-tick.C:
		}
		for _, id := range m.overdue() {
			trial, cancel := context.WithTimeout(ctx, m.o.Lease/3)
			_, err := m.dead(trial, id)
			cancel()
			if err != nil && ctx.Err() == nil {
				m.o.Log.Warn("a worker that is gone could not be removed", "error", err)
			}
		}
	}
}

func (m *Member) overdue() (ids []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, s := range m.others {
		if id != m.own.id && m.expired(s) {
			ids = append(ids, id)
		}
	}
	return ids
}

// expired tells whether a session was not renewed in the time of its lease, as far as
// this member sees. [Member.dead] makes it true or learns better.
func (m *Member) expired(s seen) bool {
	return m.o.Clock()-s.at >= time.Duration(s.Lease)*time.Millisecond
}

// dead tells whether the session of a lock has ended, and ends it if it is time.
func (m *Member) dead(ctx context.Context, id string) (bool, error) {
	m.mu.Lock()
	s, known := m.others[id]
	over := known && m.expired(s)
	m.mu.Unlock()
	if known && !over {
		return false, nil
	}
	if !known { // the watch may be behind
		v, err := m.Key(ctx, sessionKey(id))
		if errors.Is(err, ErrMissing) {
			return m.ended(ctx, id)
		}
		if err == nil {
			m.mu.Lock()
			m.seeSession(Value{Key: sessionKey(id), Data: v.Data, Revision: v.Revision})
			m.mu.Unlock()
		}
		return false, err
	}
	err := m.DeleteKey(ctx, sessionKey(id), s.revision)
	if errors.Is(err, ErrStale) { // it was renewed, or another worker has ended it
		_, err = m.Key(ctx, sessionKey(id))
		if errors.Is(err, ErrMissing) {
			return m.ended(ctx, id)
		}
		return false, err
	}
	return err == nil, err
}

// ended makes sure that a session that was not found has ended: a read may be answered by
// a server that is behind. Its key can be made only if it is not there, and then it can
// never be renewed.
func (m *Member) ended(ctx context.Context, id string) (bool, error) {
	revision, err := m.SetKey(ctx, sessionKey(id), []byte("{}"), 0)
	if errors.Is(err, ErrStale) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_ = m.DeleteKey(ctx, sessionKey(id), revision) // one that stays is no worker
	return true, nil
}
