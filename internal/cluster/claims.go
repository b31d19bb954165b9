package cluster

import (
	"context"
	"encoding/json"
)

// A lock can be left behind while the session that holds it lives: the servers did not answer
// its release, or took it after nobody waited for that any more. No worker could ever take it
// again. So a member knows its claims, the locks that it holds, takes or releases right now,
// and deletes what is its own beside them.

// claim is false if the session has the lock already.
func (m *Member) claim(key string, own *session) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.claims[key] == own {
		return false
	}
	m.claims[key] = own
	return true
}

// Holds reports whether this member has a lock, as far as it knows.
func (m *Member) Holds(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.claims[lockKey(name)] == m.own
}

func (m *Member) unclaim(key string, own *session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.claims[key] == own {
		delete(m.claims, key)
	}
}

// orphans are the locks of the living session that nobody claims.
func (m *Member) orphans() (all []Value) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, v := range m.held {
		var h holder
		if m.claims[key] != m.own && json.Unmarshal(v.Data, &h) == nil && h.Session == m.own.id {
			all = append(all, v)
		}
	}
	return all
}

// release deletes orphans. The watch may be behind, too: then the revision is not
// that of the key any more, and nothing is deleted.
func (m *Member) release(ctx context.Context) {
	for _, v := range m.orphans() {
		trial, cancel := context.WithTimeout(ctx, m.o.Lease/3)
		_ = m.DeleteKey(trial, v.Key, v.Revision) // if it fails, the next look does it
		cancel()
	}
}
