package doctor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"agent/contexts"
	"agent/forge"
	"agent/internal/app"
	"agent/internal/git"

	"golang.org/x/sys/unix"
)

// checkDirectory wants a directory of tasks that can be read and written, on a local
// disk, whose files are tasks, and a repository to work on.
func (d *doctor) checkDirectory(at app.Site) {
	ctx, cancel := d.within(time.Minute)
	defer cancel()
	dir := at.Config.Directory
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		d.note(at.Host, Failed, d.text("doctor.directory.none", dir), d.text("doctor.todo.directory"))
		return
	}
	if medium, err := contexts.Medium(dir); err != nil || medium != "" {
		d.note(at.Host, Failed, d.text("doctor.directory.medium", dir, medium), d.text("doctor.todo.local"))
		return
	}
	if err := writable(dir); err != nil {
		d.note(at.Host, Failed, err.Error(), d.text("doctor.todo.directory"))
		return
	}
	tasks, err := at.Client.ListTasks(ctx, at.Config.BotLabel)
	if err != nil {
		d.note(at.Host, Failed, err.Error(), d.text("doctor.todo.files.broken"))
	} else {
		d.ok(at.Host, "doctor.directory", dir, len(tasks), at.Config.BotLabel)
	}
	if at.Config.Workspace != "" {
		return
	}
	repo, err := at.Client.Repository(ctx, forge.TaskKey{Host: at.Host, Project: at.Config.Name, Kind: at.Config.Driver.Issue, Number: 1})
	if err == nil {
		err = git.Reach(ctx, git.Options{URL: repo.CloneURL, AllowHTTP: d.Config.AllowHTTP})
	}
	if err != nil {
		d.note(at.Host, Failed, err.Error(), d.text("doctor.todo.repository"))
		return
	}
	d.ok(at.Host, "doctor.repository", repo.CloneURL)
}

// writable asks whether files can be made in the directory, where the adapter keeps its own. Nothing is
// made for it: a file would stay behind if the check is killed.
func writable(dir string) error {
	if err := unix.Faccessat(unix.AT_FDCWD, dir, unix.W_OK|unix.X_OK, unix.AT_EACCESS); err != nil {
		return &fs.PathError{Op: "write to", Path: dir, Err: err}
	}
	own := filepath.Join(dir, ".agent")
	if info, err := os.Lstat(own); err == nil && !info.IsDir() {
		return &fs.PathError{Op: "open", Path: own, Err: errors.New("it is not a directory")}
	}
	return nil
}
