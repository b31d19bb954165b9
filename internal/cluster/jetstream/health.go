package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"agent/internal/cluster"
)

// tested is the oldest release of the server that the tests ran against.
const tested = "2.15"

var _ cluster.ObservedBus = (*Bus)(nil)

// Health implements [cluster.ObservedBus].
func (b *Bus) Health(ctx context.Context) (cluster.Health, error) {
	ctx, cancel := b.bounded(ctx)
	defer cancel()
	streams := b.streams()
	h := cluster.Health{Server: b.nc.ConnectedServerName(), Version: b.nc.ConnectedServerVersion(), Tested: tested,
		Streams: make([]cluster.Stream, len(streams)), Servers: make([]cluster.Server, len(b.o.Monitor))}
	if err := b.nc.FlushWithContext(ctx); err != nil {
		return h, fmt.Errorf("ask the cluster: %w: %w", cluster.ErrUnreachable, err)
	}
	var group sync.WaitGroup
	for i, config := range streams {
		group.Go(func() { h.Streams[i] = b.streamHealth(ctx, config.Name) })
	}
	for i, address := range b.o.Monitor {
		group.Go(func() { h.Servers[i] = monitored(ctx, address) })
	}
	group.Wait()
	return h, nil
}

func (b *Bus) streamHealth(ctx context.Context, name string) cluster.Stream {
	info, err := b.state(ctx, name)
	if err != nil {
		return cluster.Stream{Name: name, Missing: errors.Is(err, cluster.ErrMissing), Error: err.Error()}
	}
	s := cluster.Stream{Name: name, Created: info.Created, Messages: info.State.Msgs, Bytes: info.State.Bytes, Last: info.State.LastSeq, Replicas: info.Config.Replicas}
	if info.Cluster == nil {
		return s
	}
	s.Leader = info.Cluster.Leader
	for _, r := range info.Cluster.Replicas {
		s.Others = append(s.Others, cluster.Replica{Server: r.Name, Current: r.Current, Offline: r.Offline, Lag: r.Lag})
	}
	return s
}

var monitoring = sync.OnceValue(func() *http.Client { return &http.Client{Timeout: 5 * time.Second} })

// monitored asks the monitoring of a server.
func monitored(ctx context.Context, address string) cluster.Server {
	u, err := url.Parse(address)
	if err != nil {
		return cluster.Server{Error: "its address is no URL"}
	}
	d := cluster.Server{URL: u.Redacted()}
	fail := func(err error) cluster.Server { d.Error = err.Error(); return d }
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
	d.Name, d.Version = v.Name, v.Version
	if v.JetStream.Config == nil {
		return fail(errors.New("the server has no JetStream"))
	}
	d.SyncAlways, d.Interval = v.JetStream.Config.Always, v.JetStream.Config.Interval
	return d
}
