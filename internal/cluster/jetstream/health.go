package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"agent/internal/cluster"
)

// Health is what can be seen of the servers.
type Health struct {
	Server     string        `json:"server"` // that we are connected to
	Version    string        `json:"version"`
	URLs       []string      `json:"urls"` // of all servers that we know
	RTT        time.Duration `json:"rtt_ns"`
	MaxPayload int64         `json:"max_payload"`
	Streams    []Stream      `json:"streams"`
	Disks      []Disk        `json:"disks,omitempty"` // of the servers whose monitoring is known
}

// Stream is how a stream is kept.
type Stream struct {
	Name     string    `json:"name"`
	Created  time.Time `json:"created"`
	Messages uint64    `json:"messages"`
	Bytes    uint64    `json:"bytes"`
	Last     uint64    `json:"last"`     // position
	Replicas int       `json:"replicas"` // as configured
	Leader   string    `json:"leader,omitempty"`
	Others   []Replica `json:"others,omitempty"` // than the leader
}

// Replica is a copy of a stream, as its leader sees it.
type Replica struct {
	Server  string        `json:"server"`
	Current bool          `json:"current"`
	Offline bool          `json:"offline"`
	Lag     uint64        `json:"lag"` // messages
	Active  time.Duration `json:"active_ns"`
}

// Whole tells whether a stream has a leader and all its copies are complete.
func (s Stream) Whole() bool {
	if s.Replicas == 1 {
		return true
	}
	return s.Leader != "" && len(s.Others) == s.Replicas-1 && !slices.ContainsFunc(s.Others, func(r Replica) bool { return !r.Current || r.Offline })
}

// Disk is how a server writes. A client is not told: only the server's monitoring tells,
// or its system account.
type Disk struct {
	URL        string        `json:"url"`
	Server     string        `json:"server,omitempty"`
	Version    string        `json:"version,omitempty"`
	SyncAlways bool          `json:"sync_always"`
	Interval   time.Duration `json:"sync_interval_ns,omitempty"` // between two syncs, if they are not done always
	Error      string        `json:"error,omitempty"`            // why nothing is known
}

// Health asks how the servers are.
func (b *Bus) Health(ctx context.Context) (Health, error) {
	ctx, cancel := b.bounded(ctx)
	defer cancel()
	h := Health{Server: b.nc.ConnectedServerName(), Version: b.nc.ConnectedServerVersion(), URLs: b.nc.Servers(), MaxPayload: b.nc.MaxPayload()}
	var err error
	if h.RTT, err = b.nc.RTT(); err != nil {
		return h, fmt.Errorf("ask the cluster: %w: %w", cluster.ErrUnreachable, err)
	}
	streams := b.streams()
	h.Streams = make([]Stream, len(streams))
	err = atOnce(len(streams), func(i int) (err error) {
		h.Streams[i], err = b.streamHealth(ctx, streams[i].Name)
		return err
	})
	h.Disks = make([]Disk, len(b.o.Monitor))
	return h, errors.Join(err, atOnce(len(b.o.Monitor), func(i int) error {
		h.Disks[i] = disk(ctx, b.o.Monitor[i])
		return nil
	}))
}

func (b *Bus) streamHealth(ctx context.Context, name string) (Stream, error) {
	info, err := b.state(ctx, name)
	if err != nil {
		return Stream{Name: name}, err
	}
	s := Stream{Name: name, Created: info.Created, Messages: info.State.Msgs, Bytes: info.State.Bytes, Last: info.State.LastSeq, Replicas: info.Config.Replicas}
	if info.Cluster == nil {
		return s, nil
	}
	s.Leader = info.Cluster.Leader
	for _, r := range info.Cluster.Replicas {
		s.Others = append(s.Others, Replica{Server: r.Name, Current: r.Current, Offline: r.Offline, Lag: r.Lag, Active: r.Active})
	}
	return s, nil
}

var monitoring = sync.OnceValue(func() *http.Client { return &http.Client{Timeout: 5 * time.Second} })

// disk asks the monitoring of a server.
func disk(ctx context.Context, address string) Disk {
	u, err := url.Parse(address)
	if err != nil {
		return Disk{Error: "its address is no URL"}
	}
	d := Disk{URL: u.Redacted()}
	fail := func(err error) Disk { d.Error = err.Error(); return d }
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.JoinPath("varz").String(), nil)
	if err != nil {
		return fail(err)
	}
	resp, err := monitoring().Do(req)
	if err != nil {
		return fail(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fail(fmt.Errorf("status %s", resp.Status))
	}
	var v struct {
		Name      string `json:"server_name"`
		Version   string `json:"version"`
		JetStream struct {
			Config *struct {
				Always   bool          `json:"sync_always"`
				Interval time.Duration `json:"sync_interval"`
			} `json:"config"`
		} `json:"jetstream"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&v); err != nil {
		return fail(err)
	}
	d.Server, d.Version = v.Name, v.Version
	if v.JetStream.Config == nil {
		return fail(errors.New("the server has no JetStream"))
	}
	d.SyncAlways, d.Interval = v.JetStream.Config.Always, v.JetStream.Config.Interval
	return d
}
