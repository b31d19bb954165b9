package doctor

import (
	"maps"
	"slices"
	"strings"
	"time"

	"agent/internal/app"
	"agent/internal/container"
)

// checkContainer looks whether the images are there that commands are to run in.
func (d *doctor) checkContainer() {
	const check = "container"
	c := d.Config.Sandbox.Container
	if !c.Used() {
		return
	}
	images := app.Images(d.Config)
	tool, err := images.FindTool()
	if err != nil {
		d.note(check, Failed, err.Error(), d.text("doctor.todo.container", "IMAGE"))
		return
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(append(slices.Collect(maps.Values(c.Projects)), c.Image)))) {
		if name != "" {
			d.checkImage(images, tool, name)
		}
	}
	if len(c.Allow) > 0 {
		d.ok(check, "doctor.container.allow", strings.Join(c.Allow, ", "))
	}
	if n, size, err := images.Usage(); err == nil {
		d.ok(check, "doctor.container.dir", c.Dir, n, size>>20)
	}
}

func (d *doctor) checkImage(images *container.Images, tool, name string) {
	const check = "container"
	ctx, cancel := d.within(30 * time.Second)
	defer cancel()
	switch err := images.Has(ctx, name); {
	case err == nil:
		d.ok(check, "doctor.container", name)
	case images.Pull:
		d.note(check, Warning, d.text("doctor.container.pull", name), tool+" pull "+name)
	default:
		d.note(check, Failed, d.text("doctor.container.none", name, err), d.text("doctor.todo.container", name))
	}
}
