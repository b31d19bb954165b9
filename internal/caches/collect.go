package caches

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Usage is what one repository's caches take.
type Usage struct {
	Repository string
	Bytes      int64
	Used       time.Time // last
	dir        string
}

// Usage lists the caches of all repositories.
func (c Caches) Usage() (all []Usage, err error) {
	names, err := readNames(c.Root)
	for _, name := range names {
		dir := filepath.Join(c.Root, name)
		text, readErr := os.ReadFile(filepath.Join(dir, nameFile))
		info, statErr := os.Lstat(filepath.Join(dir, nameFile))
		if name == lockDir || readErr != nil || statErr != nil || !isDir(dir) {
			continue // not one of ours
		}
		all = append(all, Usage{strings.TrimSpace(string(text)), size(dir), info.ModTime(), name})
	}
	return all, err
}

// Rules say what [Caches.Collect] removes.
type Rules struct {
	Over    func(uuid string, made time.Time) bool // nobody uses the copy that was made for the context then
	Old     func(time.Time) bool                   // what was used last at that time is removed as a whole
	DryRun  bool
	Removed func(Removed) // called with each thing that is removed, or would be
}

// Removed is the copy of a context, or all of a repository's caches.
type Removed struct {
	Repository string
	UUID       string // "": all
	Bytes      int64
}

// Collect removes copies that contexts left behind, and caches that nobody used for long. Where
// another process is at work nothing is done.
func (c Caches) Collect(ctx context.Context, rules Rules) error {
	all, err := c.Usage()
	for _, u := range all {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err = errors.Join(err, c.collectOne(u, rules))
	}
	return err
}

// Forget removes the copy of a context that never began.
func (c Caches) Forget(ctx context.Context, uuid string) error {
	return c.Collect(ctx, Rules{Over: func(of string, _ time.Time) bool { return of == uuid },
		Old: func(time.Time) bool { return false }, Removed: func(Removed) {}})
}

func (c Caches) collectOne(u Usage, rules Rules) error {
	p := &place{dir: filepath.Join(c.Root, u.dir)}
	if !rules.DryRun {
		lock, err := c.lockFile(u.dir)
		if err != nil {
			return err
		}
		p.lock = lock
		defer p.leave()
		if err := tryLock(lock); errors.Is(err, syscall.EWOULDBLOCK) {
			return nil
		} else if err != nil {
			return err
		}
		if err := p.clear(); err != nil {
			return err
		}
	}
	owners, err := p.owners()
	if err != nil {
		return err
	}
	left := 0
	for n, o := range owners {
		if info, err := os.Lstat(p.ownerFile(n)); err != nil || !rules.Over(o.UUID, info.ModTime()) {
			left++
			continue
		}
		dir := p.path(ownDir, strconv.Itoa(n))
		rules.Removed(Removed{u.Repository, o.UUID, size(dir)})
		if !rules.DryRun {
			err = errors.Join(err, p.drop(dir), remove(p.ownerFile(n)))
		}
	}
	if left > 0 || !rules.Old(u.Used) {
		return err
	}
	rules.Removed(Removed{u.Repository, "", size(p.dir)})
	if rules.DryRun {
		return err
	}
	layer, _, layerErr := p.layer()
	if err = errors.Join(err, layerErr); err == nil && layer != "" {
		err = p.drop(layer) // a part of a layer is never one
	}
	if err != nil {
		return err
	}
	return remove(p.dir)
}

// size is what the files of a tree take, for people: what cannot be read does not count.
func size(dir string) (total int64) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0
	}
	defer root.Close()
	_ = walk{root: root, visit: func(f file) error { total += f.size; return nil }}.list(context.Background(), ".")
	return total
}
