package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"agent/contexts"
	"agent/forge"
	"agent/internal/cluster"
	"agent/internal/cluster/jetstream"
	"agent/internal/config"
	"agent/internal/webhook"
)

// joinTime bounds how long the servers of a cluster may take to answer at the start.
const joinTime = 20 * time.Second

// syncTime bounds how long a command that only looks waits for what other workers wrote.
const syncTime = 5 * time.Second

// ClusterError means that the cluster cannot be reached, or used as it is.
type ClusterError struct{ Err error }

func (e *ClusterError) Error() string { return "cluster: " + e.Err.Error() }
func (e *ClusterError) Unwrap() error { return e.Err }

// ExitCode is 75: without the cluster nothing can be done, and it may be back soon.
func (e *ClusterError) ExitCode() int { return contexts.ExitTemporary }

// OpenBus connects to the engine of the cluster that a configuration names.
func OpenBus(ctx context.Context, c config.Cluster) (cluster.Bus, error) {
	return openBus(ctx, busOptions(c))
}

// OpenBusReadOnly connects to what there is of a cluster, and creates nothing.
func OpenBusReadOnly(ctx context.Context, c config.Cluster) (cluster.ObservedBus, error) {
	o := busOptions(c)
	o.NoCreate = true
	return openBus(ctx, o)
}

func busOptions(c config.Cluster) jetstream.Options {
	return jetstream.Options{URLs: c.NATS.URLs, Name: c.Name, Replicas: c.Replicas, Monitor: c.NATS.MonitorURLs,
		CredsFile: c.NATS.CredsFile, NKeyFile: c.NATS.NKeyFile, CAFile: c.NATS.CAFile, CertFile: c.NATS.CertFile, KeyFile: c.NATS.KeyFile}
}

func openBus(ctx context.Context, o jetstream.Options) (cluster.ObservedBus, error) {
	bus, err := jetstream.Open(ctx, o)
	if err != nil {
		return nil, &ClusterError{err}
	}
	return bus, nil
}

// join makes this process a worker of the cluster.
func join(ctx context.Context, bus cluster.Bus, cfg *config.Config, version string, capacity int) (*cluster.Member, error) {
	name := cfg.Cluster.Worker
	if name == "" {
		name, _ = os.Hostname()
	}
	info := cluster.Info{Worker: name, PID: os.Getpid(), Version: version, Workspaces: cfg.WorkspacesDir,
		Capacity: capacity, Since: time.Now().UTC()}
	m, err := cluster.Join(ctx, bus, cluster.Options{Info: info, Lease: time.Duration(cfg.Cluster.LeaseSeconds) * time.Second})
	if err != nil {
		return nil, &ClusterError{err}
	}
	for _, other := range m.Workers() {
		if capacity > 0 && other.Capacity > 0 && other.Workspaces != info.Workspaces { // commands make no working copies
			return nil, errors.Join(&ClusterError{fmt.Errorf("the worker %s has another workspaces_dir; all must have the same path, since working copies are made there again", other.Worker)}, m.Leave(ctx))
		}
	}
	return m, nil
}

// joinStore opens the contexts as a worker of the cluster that takes so many tasks at a
// time. leave ends that.
func joinStore(cfg *config.Config, o Options, capacity int, warn func(error)) (store *contexts.Store, m *cluster.Member, leave func() error, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), joinTime)
	defer cancel()
	bus := o.Bus
	if bus == nil {
		if bus, err = OpenBus(ctx, cfg.Cluster); err != nil {
			return nil, nil, nil, err
		}
	}
	if m, err = join(ctx, bus, cfg, o.Version, capacity); err != nil {
		return nil, nil, nil, errors.Join(err, bus.Close())
	}
	leave = func() error {
		ctx, cancel := context.WithTimeout(context.Background(), syncTime)
		defer cancel()
		return errors.Join(m.Leave(ctx), bus.Close())
	}
	if store, err = openStore(cfg, contexts.Options{Warn: warn, Bus: bus, Member: m}); err != nil {
		return nil, nil, nil, errors.Join(err, leave())
	}
	return store, m, leave, nil
}

// openSynced opens the contexts to look, with what all workers did. A cluster that does
// not answer is a warning: what this machine knows is shown. One that no worker has used
// yet has nothing to show.
func openSynced(cfg *config.Config, warn func(error)) (*contexts.Store, error) {
	ctx, cancel := context.WithTimeout(context.Background(), syncTime)
	defer cancel()
	bus, err := OpenBusReadOnly(ctx, cfg.Cluster)
	if err == nil {
		var here *contexts.Store
		if here, err = openStore(cfg, contexts.Options{Warn: warn, Bus: bus}); err == nil {
			if err = here.CatchUp(ctx); errors.Is(err, cluster.ErrMissing) {
				err = nil
			} else if err == nil {
				go func() { _ = here.Mirror(context.Background()) }() // for commands that follow
			}
		}
	}
	if err != nil {
		warn(fmt.Errorf("only what this machine knows is shown: %w", err))
	}
	return openStore(cfg, contexts.Options{Warn: warn, Bus: bus, ReadOnly: true, Behind: err != nil})
}

// job is the content of a job in the queue of a cluster: an item that is to be looked at.
type job struct {
	Task    string   `json:"task"`
	Labels  []string `json:"labels,omitempty"`
	Comment bool     `json:"comment,omitempty"`
}

// Offer puts an item into the queue of a cluster, where it waits once.
func Offer(ctx context.Context, m *cluster.Member, i webhook.Item, lane int) error {
	data, err := json.Marshal(job{i.Key.String(), i.Labels, i.Comment})
	if err != nil {
		return err
	}
	return m.Offer(ctx, cluster.Name(forge.FoldKey(i.Key.String())), lane, data)
}

// Offered reads a job. It is false for one of a forge that is not configured here.
func (a *App) Offered(data []byte) (webhook.Item, bool) {
	var j job
	if json.Unmarshal(data, &j) != nil {
		return webhook.Item{}, false
	}
	key, err := forge.ParseTaskKey(j.Task, Hosts(a.Config)...)
	return webhook.Item{Key: key, Labels: j.Labels, Comment: j.Comment}, err == nil
}
