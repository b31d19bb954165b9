package cluster

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Info is what a worker tells the others of itself.
type Info struct {
	Worker     string    `json:"worker"` // host name, or the configured one
	PID        int       `json:"pid"`
	Version    string    `json:"version"`
	Workspaces string    `json:"workspaces"` // the same path on all workers
	Capacity   int       `json:"capacity"`   // tasks at a time; 0: it takes none
	Working    int       `json:"working"`    // contexts that it holds
	Since      time.Time `json:"since"`
	Lease      int64     `json:"lease_ms"`
	Beat       uint64    `json:"beat"` // grows with each renewal
}

// margin is how much earlier a worker stops to rely on its own lease than others may
// take it over: for what its clock and theirs differ in speed, and for a check that is
// followed by a slow system call.
const margin = time.Second

// session is this worker's sign of life: a key that it renews. All its locks end with it.
// It is dead once another worker has deleted the key, which that one may do when it has
// seen no renewal for the time of the lease, by a clock that runs steadily. The renewal
// and the deletion both expect a revision, so only one of them succeeds.
type session struct {
	id    string
	bus   Bus
	lease time.Duration
	clock func() time.Duration
	lost  chan struct{} // closed once it is dead

	mu       sync.Mutex
	info     Info
	revision uint64
	until    time.Duration // by clock
	dead     bool
}

func sessionKey(id string) string { return "sessions/" + id }

func startSession(ctx context.Context, bus Bus, info Info, lease time.Duration, clock func() time.Duration) (*session, error) {
	s := &session{id: rand.Text(), bus: bus, lease: lease, clock: clock, info: info, lost: make(chan struct{})}
	s.info.Lease = lease.Milliseconds()
	return s, s.renew(ctx)
}

// renew extends the lease from the moment before it asks.
func (s *session) renew(ctx context.Context) error {
	s.mu.Lock()
	s.info.Beat++
	info, revision := s.info, s.revision
	s.mu.Unlock()
	data, err := json.Marshal(info)
	if err != nil {
		return err
	}
	asked := s.clock()
	made, err := s.bus.SetKey(ctx, sessionKey(s.id), data, revision)
	if errors.Is(err, ErrStale) || errors.Is(err, ErrUnreachable) {
		made, err = s.readBack(ctx, data, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(err, ErrStale) && !s.dead {
		s.dead = true
		close(s.lost)
	}
	if err != nil {
		return fmt.Errorf("renew the session: %w", err)
	}
	s.revision, s.until = made, asked+s.lease
	return nil
}

// readBack tells an answer that was lost from a session that was ended.
func (s *session) readBack(ctx context.Context, data []byte, failed error) (uint64, error) {
	now, err := s.bus.Key(ctx, sessionKey(s.id))
	switch {
	case err == nil && string(now.Data) == string(data):
		return now.Revision, nil
	case errors.Is(err, ErrMissing) && errors.Is(failed, ErrStale):
		return 0, failed
	case err == nil && errors.Is(failed, ErrStale): // an earlier renewal of ours, whose answer was lost
		s.mu.Lock()
		s.revision = now.Revision
		s.mu.Unlock()
		return 0, ErrUnreachable
	case err != nil && !errors.Is(err, ErrMissing):
		return 0, err
	}
	return 0, ErrUnreachable
}

// keep renews until ctx ends, three times in the time of a lease.
func (s *session) keep(ctx context.Context, failed func(error)) {
	tick := time.NewTicker(s.lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.lost:
			return
		case <-tick.C:
			trial, cancel := context.WithTimeout(ctx, s.lease/3)
			if err := s.renew(trial); err != nil && ctx.Err() == nil {
				failed(err)
			}
			cancel()
		}
	}
}

// left is for how long nobody else may take over what this session holds.
func (s *session) left() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead {
		return 0
	}
	return max(s.until-margin-s.clock(), 0)
}

// end gives all up at once.
func (s *session) end(ctx context.Context) error {
	s.mu.Lock()
	revision := s.revision
	if !s.dead {
		s.dead = true
		close(s.lost)
	}
	s.mu.Unlock()
	if revision == 0 {
		return nil
	}
	return s.bus.DeleteKey(ctx, sessionKey(s.id), revision)
}

func (s *session) working(change int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.info.Working += change
}
