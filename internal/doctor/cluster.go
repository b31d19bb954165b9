package doctor

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"agent/internal/app"
	"agent/internal/cluster"
)

// checkCluster asks the servers of the cluster how they are.
func (d *doctor) checkCluster() {
	if !d.Config.Cluster.Shared() {
		return
	}
	ctx, cancel := d.within(20 * time.Second)
	defer cancel()
	bus, err := app.OpenBusReadOnly(ctx, d.Config.Cluster)
	if err != nil {
		d.silentCluster(err)
		return
	}
	defer func() { _ = bus.Close() }()
	h, err := steadyHealth(ctx, bus)
	if err != nil {
		d.silentCluster(err)
		return
	}
	d.checkNodes(h)
	if h.Unused() {
		d.ok("cluster", "doctor.cluster.unused", d.Config.Cluster.Name)
		return
	}
	d.judgeStreams(h)
	if h.Leads() {
		d.checkWorkers(ctx, bus)
	}
}

func (d *doctor) silentCluster(err error) {
	d.note("cluster", Failed, d.text("doctor.cluster.silent", err), d.text("doctor.todo.cluster"))
}

func (d *doctor) checkWorkers(ctx context.Context, bus cluster.Bus) {
	workers, err := cluster.Workers(ctx, bus)
	if err != nil {
		d.silentCluster(err)
		return
	}
	for _, w := range workers {
		if w.Workspaces != d.Config.WorkspacesDir {
			d.note("cluster", Failed, d.text("doctor.cluster.workspaces", w.Worker), d.text("doctor.todo.workspaces"))
		}
	}
	d.ok("cluster", "doctor.cluster.ok", d.Config.Cluster.Name, len(workers))
}

const (
	healthTime = 8 * time.Second        // for an answer of a stream, which may be electing its leader
	lagTime    = 300 * time.Millisecond // in which a copy catches up that is a little behind
)

// steadyHealth asks for the health until no copy is just catching up: while much is written,
// one often is.
func steadyHealth(ctx context.Context, bus cluster.ObservedBus) (h cluster.Health, err error) {
	for range 5 {
		asked, cancel := context.WithTimeout(ctx, healthTime)
		h, err = bus.Health(asked)
		cancel()
		if err != nil || !h.CatchingUp() {
			break
		}
		select {
		case <-ctx.Done():
			return h, err
		case <-time.After(lagTime):
		}
	}
	return h, err
}

// judgeStreams names what is wrong with streams and with the servers that keep them.
func (d *doctor) judgeStreams(h cluster.Health) {
	want := d.Config.Cluster.Replicas
	offline, behind := map[string][]string{}, map[string][]string{}
	for _, s := range h.Streams {
		switch {
		case s.Missing:
			d.note("cluster", Failed, d.text("doctor.cluster.missing", s.Name), d.text("doctor.todo.cluster.missing"))
		case s.Error != "":
			d.note("cluster", Failed, d.text("doctor.cluster.stream", s.Name, s.Error), d.text("doctor.todo.cluster.majority"))
		case !s.Leads():
			d.note("cluster", Failed, d.text("doctor.cluster.leader", s.Name), d.text("doctor.todo.cluster.majority"))
		case s.Replicas != want:
			d.note("cluster", Failed, d.text("doctor.cluster.replicas", s.Name, s.Replicas, want), d.text("doctor.todo.cluster.replicas", s.Name, want))
		case len(s.Others) != s.Replicas-1:
			d.note("cluster", Warning, d.text("doctor.cluster.copies", s.Name, 1+len(s.Others), s.Replicas), d.text("doctor.todo.cluster.offline"))
		}
		for _, r := range s.Others {
			if r.Offline {
				offline[r.Server] = append(offline[r.Server], s.Name)
			} else if !r.Current {
				behind[r.Server] = append(behind[r.Server], s.Name)
			}
		}
	}
	for _, server := range slices.Sorted(maps.Keys(offline)) {
		d.note("cluster", Warning, d.text("doctor.cluster.offline", server, strings.Join(offline[server], ", ")), d.text("doctor.todo.cluster.offline"))
	}
	for _, server := range slices.Sorted(maps.Keys(behind)) {
		d.note("cluster", Warning, d.text("doctor.cluster.behind", server, strings.Join(behind[server], ", ")), d.text("doctor.todo.cluster.behind"))
	}
	if h.Whole() {
		d.ok("cluster", "doctor.cluster.whole", len(h.Streams), strings.Join(h.Peers(), ", "))
	}
}

// checkNodes looks at releases, and at what only monitoring shows: how servers write.
func (d *doctor) checkNodes(h cluster.Health) {
	known, silent := map[string]bool{}, 0
	releases := map[string]string{h.Server: h.Version}
	for _, s := range h.Servers {
		if s.Error != "" {
			d.note("cluster", Warning, d.text("doctor.cluster.monitor", s.URL, s.Error), d.text("doctor.todo.cluster.monitor"))
			silent++
			continue
		}
		known[s.Name], releases[s.Name] = true, s.Version
		if !s.SyncAlways {
			d.note("cluster", Failed, d.text("doctor.cluster.sync", s.Name, s.Interval), d.text("doctor.todo.cluster.sync"))
		}
	}
	for _, server := range slices.Sorted(maps.Keys(releases)) {
		if cluster.Older(releases[server], h.Tested) {
			d.note("cluster", Warning, d.text("doctor.cluster.old", server, releases[server], h.Tested), d.text("doctor.todo.cluster.old"))
		}
	}
	unknown := slices.DeleteFunc(h.Peers(), func(server string) bool { return known[server] })
	if len(unknown) > silent { // that one is among them was said above
		d.note("cluster", Warning, d.text("doctor.cluster.unknown", strings.Join(unknown, ", ")), d.text("doctor.todo.cluster.monitor"))
	}
}
