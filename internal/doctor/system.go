package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"agent/contexts"
	"agent/internal/app"
	"agent/internal/fsx"
	"agent/internal/git"
)

// checkStore opens the contexts of this machine as a run does, and takes a lock twice.
func (d *doctor) checkStore() {
	dir, here := d.Config.ContextsDir, *d.Config
	here.Cluster.NATS.URLs = nil // see checkCluster
	store, err := app.OpenStore(&here, func(err error) { d.note("contexts", Warning, err.Error(), "") })
	if err != nil {
		d.note("contexts", Failed, err.Error(), d.text("doctor.todo.contexts", dir))
		return
	}
	lock, err := store.LockKey("doctor")
	if errors.Is(err, contexts.ErrBusy) { // held by another doctor: so locks work
		d.ok("contexts", "doctor.contexts", dir)
		return
	}
	if err != nil {
		d.note("contexts", Failed, err.Error(), d.text("doctor.todo.contexts", dir))
		return
	}
	defer lock.Close()
	if _, err := store.LockKey("doctor"); !errors.Is(err, contexts.ErrBusy) {
		d.note("contexts", Failed, d.text("doctor.nolock", dir), d.text("doctor.todo.local"))
		return
	}
	d.ok("contexts", "doctor.contexts", dir)
	d.checkFiles(store)
}

const (
	mostChecked = 20_000 // contexts whose files are looked at; agent verify looks at all
	mostNamed   = 20
)

// checkFiles wants files that are this user's and closed to everybody else.
func (d *doctor) checkFiles(store *contexts.Store) {
	problems := []error{store.CheckOwn()}
	checked := 0
	for entry, err := range store.List() {
		if checked == mostChecked {
			break
		}
		if err == nil {
			checked++
			err = store.CheckFiles(entry.UUID)
		}
		var ignored *contexts.Warning
		if !errors.As(err, &ignored) && !errors.Is(err, contexts.ErrUnknown) { // else it was removed meanwhile
			problems = append(problems, err)
		}
	}
	problems = slices.DeleteFunc(problems, func(err error) bool { return err == nil })
	for _, err := range problems[:min(len(problems), mostNamed)] {
		d.note("files", Failed, err.Error(), d.text("doctor.todo.files"))
	}
	if len(problems) == 0 {
		d.ok("files", "doctor.files", checked)
	}
}

// checkDisk wants the free space that a run wants.
func (d *doctor) checkDisk() {
	for _, dir := range []string{d.Config.ContextsDir, d.Config.WorkspacesDir} {
		fsys, err := fsx.OpenOS(existing(dir))
		if err != nil {
			d.note("disk", Failed, err.Error(), d.text("doctor.todo.contexts", dir))
			continue
		}
		bytes, inodes, err := fsys.Free()
		_ = fsys.Close() // nothing was written
		switch {
		case err != nil:
			d.note("disk", Failed, err.Error(), "")
		case bytes < contexts.MinBytes || inodes < contexts.MinInodes:
			d.note("disk", Failed, d.room(dir, bytes, inodes), d.text("doctor.todo.room", contexts.MinBytes>>20, contexts.MinInodes))
		default:
			d.note("disk", OK, d.room(dir, bytes, inodes), "")
		}
	}
	d.sayCaches()
}

// manyInodes are so many that nobody asks for the number. Some file systems have no
// bound, and say 0 or something impossible.
const manyInodes = 1_000_000

// room says how much is free.
func (d *doctor) room(dir string, bytes, inodes uint64) string {
	size := fmt.Sprintf("%d MiB", bytes>>20)
	if bytes >= 10<<30 {
		size = fmt.Sprintf("%d GiB", bytes>>30)
	}
	if inodes >= manyInodes {
		return d.text("doctor.room", dir, size)
	}
	return d.text("doctor.room.inodes", dir, size, inodes)
}

// sayCaches says how much the caches of tools take.
func (d *doctor) sayCaches() {
	c := app.Caches(d.Config)
	if c.Most == 0 {
		d.ok("disk", "doctor.caches.off", c.Root)
		return
	}
	all, err := c.Usage()
	if err != nil {
		d.note("disk", Failed, err.Error(), "")
		return
	}
	total := int64(0)
	for _, one := range all {
		total += one.Bytes
	}
	d.ok("disk", "doctor.caches", c.Root, len(all), total>>20, c.Most>>20)
}

// existing is the nearest existing directory at or above a path.
func existing(dir string) string {
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return dir
		}
		dir = parent
	}
}

func (d *doctor) checkGit() {
	ctx, cancel := d.within(30 * time.Second)
	defer cancel()
	line, err := git.Version(ctx)
	if err != nil {
		d.note("git", Failed, d.text("doctor.nogit", err), d.text("doctor.todo.git", git.Oldest[0], git.Oldest[1]))
		return
	}
	d.note("git", OK, line, "")
}
