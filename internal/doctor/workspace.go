package doctor

import (
	"os"
	"time"

	"agent/internal/git"
)

// checkWorkspaces looks at the repositories that are worked on in place.
func (d *doctor) checkWorkspaces() {
	for _, f := range d.Config.Forges() {
		if f.Workspace != "" {
			d.checkWorkspace(f.Workspace)
		}
	}
}

func (d *doctor) checkWorkspace(dir string) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		d.note("workspace", Failed, d.text("doctor.workspace.none", dir), d.text("doctor.todo.workspace"))
		return
	}
	repo, err := git.Open(dir)
	if err != nil { // it can be worked on all the same
		d.note("workspace", Warning, d.text("doctor.workspace.plain", dir), d.text("doctor.todo.workspace.init"))
		return
	}
	ctx, cancel := d.within(time.Minute)
	defer cancel()
	changed, err := repo.Status(ctx)
	switch {
	case err != nil:
		d.note("workspace", Warning, d.text("doctor.workspace.unknown", dir, err), "")
	case len(changed) > 0:
		d.note("workspace", Warning, d.text("doctor.workspace.changed", dir, len(changed)), d.text("doctor.todo.workspace.commit"))
	default:
		d.ok("workspace", "doctor.workspace", dir)
	}
}
