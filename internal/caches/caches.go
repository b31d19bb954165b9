// Package caches keeps what the tools of a repository downloaded and compiled, so that
// its next context does not do it again. Repositories never share a cache.
//
// Below the root:
//
//	NAME/repository    the repository, for people; touched at each use
//	NAME/layer-N       what contexts begin with: the highest N counts, and it never changes
//	NAME/own/N         a copy of the layer, the only part that a tool ever sees
//	NAME/own/N.context the context that it belongs to
//	NAME/new-* old-*   a tree that is being made or removed
//	.locks/NAME        held while anything of that changes
//
// A context gets a copy ([Caches.Open]) and writes what it likes into it. When its
// attempt is over, [Caches.Close] makes a new layer of what may be kept, and removes the copy.
// What is in a copy was written by programs that nobody trusts: only regular files with one
// name are taken, only from the directories that tools use as caches, and at most so many
// bytes. A new tree gets its name when it is whole, so a crash leaves the old layer or the new one.
//
// Copies are numbered, not named after contexts, because compilers make the paths of
// dependencies part of their keys.
package caches

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"agent/internal/fsx"
)

// Caches is the directory of all caches.
type Caches struct {
	Root string
	Most int64 // bytes of a layer; 0: nothing is kept
}

// Repository says whose caches are meant.
type Repository struct {
	Host    string
	Project string // path on the host
	ID      string // on the host; "": the path has to do
}

// name is that of the repository's directory. It stays when the project is renamed, and a new
// project at an old address gets another one.
func (r Repository) name() string {
	what := r.Host + "\x00" + r.ID
	if r.ID == "" {
		what = r.Host + "\x00\x00" + r.Project
	}
	sum := sha256.Sum256([]byte(what))
	return plain(r.Host) + "-" + hex.EncodeToString(sum[:8])
}

// plain keeps what is safe in the name of a directory.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.' && s != "" {
			return r
		}
		return '_'
	}, strings.ToLower(s))
	return strings.TrimLeft(s[:min(len(s), 60)], ".")
}

// Variables tell tools to use the caches in a directory.
func Variables(dir string) map[string]string {
	all := make(map[string]string)
	for _, k := range kinds {
		all[k.variable] = filepath.Join(dir, k.name)
	}
	return all
}

const (
	layerPrefix = "layer-"
	newPrefix   = "new-"
	oldPrefix   = "old-"
	ownDir      = "own"
	ownerSuffix = ".context"
	nameFile    = "repository"
	lockDir     = ".locks"
)

// place is the directory of one repository while its lock is held.
type place struct {
	dir  string
	lock *os.File
}

// enter takes the lock of a repository's directory, and clears what a crash left there.
func (c Caches) enter(ctx context.Context, name string) (*place, error) {
	lock, err := c.lockFile(name)
	if err != nil {
		return nil, err
	}
	for err = tryLock(lock); err != nil && ctx.Err() == nil; err = tryLock(lock) {
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		wait(ctx, 20*time.Millisecond)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("caches: lock: %w", err), lock.Close())
	}
	p := &place{filepath.Join(c.Root, name), lock}
	if err := p.clear(); err != nil {
		p.leave()
		return nil, err
	}
	return p, nil
}

func (c Caches) lockFile(name string) (*os.File, error) {
	dir := filepath.Join(c.Root, lockDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("caches: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("caches: %w", err)
	}
	return lock, nil
}

func tryLock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (p *place) leave() { _ = p.lock.Close() }

func (p *place) path(names ...string) string {
	return filepath.Join(append([]string{p.dir}, names...)...)
}

// clear removes trees that were being made or removed when a process was killed, and
// layers that a newer one has replaced.
func (p *place) clear() error {
	names, err := readNames(p.dir)
	if err != nil {
		return err
	}
	newest := p.newest(names)
	for _, name := range names {
		stale := strings.HasPrefix(name, newPrefix) || strings.HasPrefix(name, oldPrefix)
		if n, ok := layerNumber(name); ok && n < newest {
			stale = true
		}
		if stale {
			err = errors.Join(err, remove(p.path(name)))
		}
	}
	return err
}

// layer is the path of the newest layer, "" if there is none, and its number.
func (p *place) layer() (path string, number int, err error) {
	names, err := readNames(p.dir)
	if number = p.newest(names); number == 0 {
		return "", 0, err
	}
	return p.path(layerPrefix + strconv.Itoa(number)), number, err
}

func (p *place) newest(names []string) (newest int) {
	for _, name := range names {
		if n, ok := layerNumber(name); ok {
			newest = max(newest, n)
		}
	}
	return newest
}

func layerNumber(name string) (n int, ok bool) {
	text, ok := strings.CutPrefix(name, layerPrefix)
	n, err := strconv.Atoi(text)
	return n, ok && err == nil && n > 0 && strconv.Itoa(n) == text
}

// make makes a directory for a tree that gets its name later.
func (p *place) make() (string, error) {
	dir, err := os.MkdirTemp(p.dir, newPrefix)
	if err != nil {
		return "", fmt.Errorf("caches: %w", err)
	}
	return dir, nil
}

// drop removes a tree; before that it loses its name.
func (p *place) drop(path string) error {
	old, err := os.MkdirTemp(p.dir, oldPrefix)
	if err == nil {
		err = os.Rename(path, filepath.Join(old, "x"))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("caches: %w", err)
	}
	return remove(old)
}

// readNames lists a directory; one that is not there is empty.
func readNames(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("caches: %w", err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

func remove(dir string) error {
	if err := fsx.RemoveTree(dir); err != nil {
		return fmt.Errorf("caches: %w", err)
	}
	return nil
}
