package doctor

import (
	"time"

	"agent/internal/app"
	"agent/internal/cluster"
)

// checkCluster asks the servers of the cluster how they are.
func (d *doctor) checkCluster() {
	if !d.Config.Cluster.Shared() {
		return
	}
	ctx, cancel := d.within(15 * time.Second)
	defer cancel()
	bus, err := app.OpenBus(ctx, d.Config.Cluster)
	if err != nil {
		d.note("cluster", Failed, d.text("doctor.cluster.silent", err), d.text("doctor.todo.cluster"))
		return
	}
	defer func() { _ = bus.Close() }()
	workers, err := cluster.Workers(ctx, bus)
	if err != nil {
		d.note("cluster", Failed, d.text("doctor.cluster.silent", err), d.text("doctor.todo.cluster"))
		return
	}
	for _, w := range workers {
		if w.Workspaces != d.Config.WorkspacesDir {
			d.note("cluster", Failed, d.text("doctor.cluster.workspaces", w.Worker), d.text("doctor.todo.workspaces"))
		}
	}
	d.ok("cluster", "doctor.cluster.ok", d.Config.Cluster.Name, len(workers))
}
