package fsx

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"math/rand"
	"slices"
	"syscall"
)

// ErrKilled is the error of everything done after [Mem.KillAt] struck, or after
// Kill or Crash.
var ErrKilled = errors.New("process was killed")

// faults decides what becomes of the counted operations: creating or truncating
// an open, write, truncate, sync, mkdir, rename, remove, sync of a directory.
type faults struct {
	ops    int
	killAt int
	inside bool
	failAt int
	fail   error
	dead   bool
}

type extent int

const (
	nothing extent = iota
	half           // of a write; other operations are done whole
	all
)

// FailAt makes the n-th counted operation from the start (1 is the first) fail
// with err and nothing else. It has no effect then, but a write that fails with
// io.ErrShortWrite or ENOSPC has written its first half. 0 takes it back.
func (m *Mem) FailAt(n int, err error) {
	m.mu.Lock()
	m.failAt, m.fail = n, err
	m.mu.Unlock()
}

// KillAt stops everything at the n-th counted operation: it and all that
// follows, reading too, returns ErrKilled. With inside the operation has taken
// place without the caller learning of it, or, if it is a write, half of it.
func (m *Mem) KillAt(n int, inside bool) {
	m.mu.Lock()
	m.killAt, m.inside = n, inside
	m.mu.Unlock()
}

// Ops is the number of counted operations so far.
func (m *Mem) Ops() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ops
}

// alive is nil until the process is killed.
func (f *faults) alive() error {
	if f.dead {
		return ErrKilled
	}
	return nil
}

// step counts one operation and says how much of it to do and what to return.
func (f *faults) step() (extent, error) {
	if f.dead {
		return nothing, ErrKilled
	}
	f.ops++
	switch {
	case f.killAt > 0 && f.ops >= f.killAt:
		f.dead = true
		if f.inside {
			return half, ErrKilled
		}
		return nothing, ErrKilled
	case f.ops == f.failAt && (errors.Is(f.fail, io.ErrShortWrite) || errors.Is(f.fail, syscall.ENOSPC)):
		return half, f.fail
	case f.ops == f.failAt:
		return nothing, f.fail
	}
	return all, nil
}

// Kill ends the process: the file system it returns has the same content, no
// open files and no locks; what was not synced still is not. Everything done
// with m afterwards returns ErrKilled.
func (m *Mem) Kill() *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead = true
	c := copier{seen: map[*node]*node{}}
	out := &Mem{clock: m.clock, free: m.free, root: c.node(m.root)}
	for _, p := range m.pending {
		p = slices.Clone(p)
		for i, s := range p {
			p[i].key.dir, p[i].to = c.node(s.key.dir), c.node(s.to)
		}
		out.pending = append(out.pending, p)
	}
	return out
}

// copier copies nodes that may be reached on several ways.
type copier struct{ seen map[*node]*node }

func (c copier) node(n *node) *node {
	if n == nil {
		return nil
	}
	if done, ok := c.seen[n]; ok {
		return done
	}
	out := &node{mode: n.mode, modified: n.modified, data: slices.Clone(n.data), disk: slices.Clone(n.disk), dirty: maps.Clone(n.dirty)}
	c.seen[n] = out
	out.names, out.durable = c.names(n.names), c.names(n.durable)
	return out
}

func (c copier) names(names map[string]*node) map[string]*node {
	if names == nil {
		return nil
	}
	out := make(map[string]*node, len(names))
	for name, n := range names {
		out[name] = c.node(n)
	}
	return out
}

// Crash cuts the power: the file system it returns has everything that was
// synced, and of the rest each block of 512 bytes and each change of a name
// with probability p (a change is lost with the earlier one of the same name;
// blocks that are missing before a kept one read as zeros; the last block may
// be cut anywhere; the file may have grown to its new length without the
// blocks). The same seed gives the same result. Everything done with m
// afterwards returns ErrKilled, but it may be crashed again with other seeds.
func (m *Mem) Crash(seed int64, p float64) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead = true
	c := crash{rng: rand.New(rand.NewSource(seed)), p: p, names: map[*node]map[string]*node{}}
	c.changes(m.pending)
	return &Mem{clock: m.clock, free: m.free, root: c.node(m.root)}
}

type crash struct {
	rng   *rand.Rand
	p     float64
	names map[*node]map[string]*node // of directories that keep unsynced changes
}

func (c *crash) keep() bool { return c.rng.Float64() < c.p }

// changes decides which unsynced changes of names are kept.
func (c *crash) changes(pending []change) {
	lost := map[key]bool{}
	for _, ch := range pending {
		keep := c.keep()
		for _, s := range ch {
			keep = keep && !lost[s.key]
		}
		for _, s := range ch {
			if !keep {
				lost[s.key] = true
				continue
			}
			if c.names[s.key.dir] == nil {
				c.names[s.key.dir] = maps.Clone(s.key.dir.durable)
			}
			set(c.names[s.key.dir], s.key.name, s.to)
		}
	}
}

// node copies what the disk holds of a tree.
func (c *crash) node(n *node) *node {
	out := &node{mode: n.mode, modified: n.modified}
	if !n.mode.IsDir() {
		out.data, out.dirty = c.content(n), map[int]bool{}
		out.disk = slices.Clone(out.data)
		return out
	}
	names, ok := c.names[n]
	if !ok {
		names = n.durable
	}
	out.names = make(map[string]*node, len(names))
	for _, name := range slices.Sorted(maps.Keys(names)) { // sorted: chance must not depend on map order
		out.names[name] = c.node(names[name])
	}
	out.durable = maps.Clone(out.names)
	return out
}

// content is what the disk holds of a file.
func (c *crash) content(n *node) []byte {
	out := slices.Clone(n.disk)
	if len(n.data) < len(out) && c.keep() {
		out = out[:len(n.data)]
	}
	for from := 0; from < len(n.data); from += block {
		to := min(from+block, len(n.data))
		if to <= len(n.disk) && bytes.Equal(n.disk[from:to], n.data[from:to]) || !c.keep() {
			continue
		}
		if to == len(n.data) && !c.keep() {
			to = from + c.rng.Intn(to-from)
		}
		if to > len(out) {
			out = append(out, make([]byte, to-len(out))...)
		}
		copy(out[from:to], n.data[from:to])
	}
	if len(out) < len(n.data) && c.keep() && c.keep() {
		out = append(out, make([]byte, len(n.data)-len(out))...)
	}
	return out
}
