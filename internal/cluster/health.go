package cluster

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ObservedBus is a bus whose servers can be asked how they are.
type ObservedBus interface {
	Bus
	// Health asks all of them at once. It fails only if none answers: what one stream or
	// server does not say is in its Error.
	Health(ctx context.Context) (Health, error)
}

// Health is what can be seen of the servers of a cluster.
type Health struct {
	Server  string   `json:"server"` // that we are connected to
	Version string   `json:"version"`
	Tested  string   `json:"-"` // the oldest release that the tests ran against
	Streams []Stream `json:"streams"`
	Servers []Server `json:"servers,omitempty"` // those whose monitoring is configured
}

// Stream is how a stream is kept.
type Stream struct {
	Name     string    `json:"name"`
	Created  time.Time `json:"created_at,omitzero"`
	Messages uint64    `json:"messages"`
	Bytes    uint64    `json:"bytes"`
	Last     uint64    `json:"last"`     // position
	Replicas int       `json:"replicas"` // as configured
	Leader   string    `json:"leader,omitempty"`
	Others   []Replica `json:"others,omitempty"`  // than the leader
	Missing  bool      `json:"missing,omitempty"` // no worker has made it yet
	Error    string    `json:"error,omitempty"`   // why nothing is known: often it has no leader
}

// Replica is a copy of a stream, as its leader sees it.
type Replica struct {
	Server  string `json:"server"`
	Current bool   `json:"current"`
	Offline bool   `json:"offline"`
	Lag     uint64 `json:"lag"` // messages
}

// Server is one whose monitoring was asked: the protocol does not tell clients how a server writes.
type Server struct {
	URL        string        `json:"url"`
	Name       string        `json:"name,omitempty"`
	Version    string        `json:"version,omitempty"`
	SyncAlways bool          `json:"sync_always"`
	Interval   time.Duration `json:"-"`               // between two syncs, if they are not done always
	Error      string        `json:"error,omitempty"` // why nothing is known
}

// Leads tells whether a stream has a leader, without which it takes and gives nothing.
func (s Stream) Leads() bool {
	return s.Error == "" && !s.Missing && (s.Replicas == 1 || s.Leader != "")
}

// Whole tells whether a stream has a leader and all its copies are complete.
func (s Stream) Whole() bool {
	return s.Leads() && len(s.Others) == s.Replicas-1 && !slices.ContainsFunc(s.Others, func(r Replica) bool { return !r.Current || r.Offline })
}

// Leads tells whether all streams have a leader.
func (h Health) Leads() bool {
	return !slices.ContainsFunc(h.Streams, func(s Stream) bool { return !s.Leads() })
}

// Whole tells whether all streams are.
func (h Health) Whole() bool {
	return len(h.Streams) > 0 && !slices.ContainsFunc(h.Streams, func(s Stream) bool { return !s.Whole() })
}

// CatchingUp tells whether a copy that is online is behind.
func (h Health) CatchingUp() bool {
	return slices.ContainsFunc(h.Streams, func(s Stream) bool {
		return slices.ContainsFunc(s.Others, func(r Replica) bool { return !r.Current && !r.Offline })
	})
}

// Unused tells that no worker has ever used this cluster.
func (h Health) Unused() bool {
	return !slices.ContainsFunc(h.Streams, func(s Stream) bool { return !s.Missing })
}

// Peers are the servers that keep the streams, by name.
func (h Health) Peers() []string {
	all := []string{h.Server}
	for _, s := range h.Streams {
		if s.Leader != "" {
			all = append(all, s.Leader)
		}
		for _, r := range s.Others {
			all = append(all, r.Server)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Older compares two releases, as 2.11.3 and 2.15. One that cannot be read is older than any.
func Older(release, than string) bool {
	a, b := numbers(release), numbers(than)
	return len(a) == 0 || slices.CompareFunc(a, b, cmp.Compare[int]) < 0 && !slices.Equal(a, b[:min(len(a), len(b))])
}

func numbers(release string) (all []int) {
	release, _, _ = strings.Cut(strings.TrimPrefix(release, "v"), "-")
	for part := range strings.SplitSeq(release, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil
		}
		all = append(all, n)
	}
	return all
}
