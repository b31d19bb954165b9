package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// history are the arguments of a clone about how much history it gets.
func (o Options) history() (args []string) {
	if o.Depth >= 0 {
		args = append(args, "--depth="+strconv.Itoa(max(o.Depth, 1)))
	}
	if !o.Tags {
		args = append(args, "--no-tags")
	}
	return args
}

// Shallow reports whether the history of the working copy is cut.
func (r *Repo) Shallow() bool {
	_, err := os.Lstat(filepath.Join(r.Dir, ".git", "shallow"))
	return err == nil
}

// Deepen fetches so many more commits of the history behind a commit, with the tags on
// them, until the working copy takes more than most bytes; 0 is no bound. File contents come
// along: who looks at history later may have no way to the remote.
func (r *Repo) Deepen(ctx context.Context, commit string, by int, most int64) error {
	if !hexName(commit) {
		return errors.New("git fetch: the commit must be the name of an object")
	}
	if err := r.unlock("fetch", "shallow"); err != nil {
		return err
	}
	bounded, stop := within(ctx, r.Dir, most)
	defer stop()
	_, err := r.seated(bounded, command{
		name: "fetch", args: []string{"--quiet", "--deepen=" + strconv.Itoa(by), "--no-recurse-submodules", "--no-auto-maintenance", "--update-head-ok",
			"--no-write-fetch-head", "--", r.auth.url, "+" + commit + ":refs/agent/history"},
		auth: r.auth, limit: cloneLimit,
	}, r.unshallowed)
	if errors.Is(context.Cause(bounded), errTooLarge) {
		return &Error{"fetch", TooLarge, fmt.Sprintf("the history takes more than %d MiB", most>>20)}
	}
	return err
}

// unshallowed takes over that a fetch found the beginning of all history: git then removes
// the name in the seat that stands for the working copy's list of cuts.
func (r *Repo) unshallowed(seat string) error {
	if _, err := os.Lstat(filepath.Join(seat, "shallow")); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	root, err := OpenDir(r.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Remove(".git/shallow"); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
