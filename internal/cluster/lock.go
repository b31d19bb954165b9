package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"agent/internal/lease"
)

// ErrHeld says that another worker holds a lock.
var ErrHeld = errors.New("another worker holds it")

// holder is the content of a lock's key.
type holder struct {
	Session string    `json:"session"`
	Worker  string    `json:"worker"` // for people
	Since   time.Time `json:"since"`
}

// Lock is a name that this worker holds, for as long as its session lives.
type Lock struct {
	m        *Member
	own      *session
	key      string
	revision uint64
}

func lockKey(name string) string { return "locks/" + name }

// Lock takes a name for this worker, or fails with ErrHeld. The lock of a session that
// has ended is taken over.
func (m *Member) Lock(ctx context.Context, name string) (*Lock, error) {
	key, own := lockKey(name), m.session()
	if !m.claim(key, own) {
		return nil, ErrHeld
	}
	lock, err := m.lock(ctx, name, key, own)
	if err != nil {
		m.unclaim(key, own)
	}
	return lock, err
}

func (m *Member) lock(ctx context.Context, name, key string, own *session) (*Lock, error) {
	at, err := m.Key(ctx, key)
	if err != nil && !errors.Is(err, ErrMissing) {
		return nil, err
	}
	if err == nil {
		dead, err := m.deadHolder(ctx, at)
		if err == nil && !dead {
			err = ErrHeld
		}
		if err != nil {
			return nil, err
		}
	}
	data, err := json.Marshal(holder{own.id, m.o.Info.Worker, time.Now().UTC()})
	if err != nil {
		return nil, err
	}
	revision, err := m.SetKey(ctx, key, data, at.Revision)
	if errors.Is(err, ErrUnreachable) { // it may be ours
		var now Value
		if now, err = m.Key(ctx, key); err == nil && string(now.Data) == string(data) {
			revision = now.Revision
		} else if err == nil || errors.Is(err, ErrMissing) {
			err = ErrUnreachable
		}
	}
	if errors.Is(err, ErrStale) {
		return nil, ErrHeld
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	own.working(1)
	return &Lock{m, own, key, revision}, nil
}

func (m *Member) deadHolder(ctx context.Context, v Value) (bool, error) {
	var h holder
	if err := json.Unmarshal(v.Data, &h); err != nil {
		return false, fmt.Errorf("%s holds no lock: %w", v.Key, err)
	}
	if h.Session == m.session().id {
		return false, nil
	}
	return m.dead(ctx, h.Session)
}

// Locked tells whether a living worker holds a lock, as far as this one sees: nobody is
// asked about a lock whose holder is known to live.
func (m *Member) Locked(ctx context.Context, name string) (bool, error) {
	m.mu.Lock()
	v, held := m.held[lockKey(name)]
	m.mu.Unlock()
	if !held {
		return false, nil
	}
	dead, err := m.deadHolder(ctx, v)
	return !dead, err
}

// releaseTime bounds the release of a lock. One that is not released is left behind.
const releaseTime = 5 * time.Second

// Close releases the lock.
func (l *Lock) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), releaseTime)
	defer cancel()
	defer l.m.unclaim(l.key, l.own)
	l.own.working(-1)
	err := l.m.DeleteKey(ctx, l.key, l.revision)
	if errors.Is(err, ErrStale) {
		return nil // it was taken over
	}
	return err
}

// Locked tells whether a worker holds a lock, for those who are none themselves.
func Locked(ctx context.Context, bus Bus, name string) (bool, error) {
	v, err := bus.Key(ctx, lockKey(name))
	if err == nil {
		var h holder
		if err = json.Unmarshal(v.Data, &h); err == nil {
			_, err = bus.Key(ctx, sessionKey(h.Session))
		}
	}
	if errors.Is(err, ErrMissing) {
		return false, nil
	}
	return err == nil, err
}

// ErrLost says that this worker may not be the owner any more: its lease was not renewed.
var ErrLost = errors.New("the lease of this worker has run out")

// Left is for how long nobody else may take over the lock.
func (l *Lock) Left() time.Duration { return l.own.left() }

// Guard is for an effect outside: it waits until the lease is fresh, and gives a context
// that ends, with the cause ErrLost, before another worker may take over.
func (l *Lock) Guard(parent context.Context) (context.Context, context.CancelFunc, error) {
	if !leaseChecked {
		return parent, func() {}, nil
	}
	for l.Left() < l.own.lease/4 {
		select {
		case <-parent.Done():
			return nil, nil, parent.Err()
		case <-l.own.lost:
			return nil, nil, ErrLost
		case <-time.After(l.own.lease / 50):
		}
	}
	ctx, cancel := context.WithCancelCause(parent)
	go func() {
		for {
			left := l.Left()
			if left == 0 {
				cancel(ErrLost)
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-l.own.lost:
			case <-time.After(left):
			}
		}
	}()
	return lease.With(ctx, l.Left), func() { cancel(nil) }, nil
}

// Name makes any text a name for locks and jobs.
func Name(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}
