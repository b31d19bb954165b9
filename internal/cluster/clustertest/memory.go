// Package clustertest holds a bus in memory, for tests of what is built on one, and the
// suite that every bus passes. Only tests import it.
package clustertest

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"agent/internal/cluster"
)

// Cluster is what the members in memory share. It has no clock but time's, so that tests
// may use it in a bubble of testing/synctest.
type Cluster struct {
	// AckWait is the time after which a job is given to another member, if the one that
	// has it says nothing.
	AckWait time.Duration

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at every change
	lines   []stored
	end     uint64
	drops   []uint64 // the end after each loss of lines
	objects map[string][]byte
	keys    map[string]cluster.Value
	deleted []cluster.Value
	rev     uint64
	jobs    []*job
	offers  int
}

type stored struct {
	cluster.Line
	after uint64
}

// New makes an empty cluster.
func New() *Cluster {
	return &Cluster{AckWait: time.Minute, changed: make(chan struct{}),
		objects: map[string][]byte{}, keys: map[string]cluster.Value{}}
}

// Join gives the bus of one more member.
func (c *Cluster) Join() *Memory { return &Memory{c: c, turned: make(chan struct{})} }

// DropLines removes the last n lines, as a history does that lost what it acknowledged.
// Their positions are used again.
func (c *Cluster) DropLines(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = c.lines[:max(len(c.lines)-n, 0)]
	c.end = 0
	if len(c.lines) > 0 {
		c.end = c.lines[len(c.lines)-1].Pos
	}
	c.drops = append(c.drops, c.end)
	c.news()
}

// news wakes all who wait for a change. c.mu is held.
func (c *Cluster) news() {
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *Cluster) last(uuid string) (stored, bool) {
	for _, l := range slices.Backward(c.lines) {
		if l.UUID == uuid {
			return l, true
		}
	}
	return stored{}, false
}

// Append implements [cluster.History]. The line is there at once, the answer may be lost.
func (m *Memory) Append(ctx context.Context, uuid string, after uint64, line []byte) (wait func() (uint64, error)) {
	var pos uint64
	err := m.change(ctx, func() error {
		last, _ := m.c.last(uuid)
		switch {
		case last.Pos == after:
			m.c.end++
			pos = m.c.end
			m.c.lines = append(m.c.lines, stored{cluster.Line{UUID: uuid, Pos: pos, Data: bytes.Clone(line)}, after})
		case last.Pos != 0 && last.after == after && bytes.Equal(last.Data, line):
			pos = last.Pos
		default:
			return fmt.Errorf("append to %s: the last line is at %d, not at %d: %w", uuid, last.Pos, after, cluster.ErrStale)
		}
		return nil
	})
	return func() (uint64, error) {
		if err == nil {
			err = m.answer(ctx)
		}
		if err != nil {
			return 0, err
		}
		return pos, nil
	}
}

// Last implements [cluster.History].
func (m *Memory) Last(ctx context.Context, uuid string) (line cluster.Line, err error) {
	err = m.ask(ctx, func() error {
		last, _ := m.c.last(uuid)
		line = last.Line
		return nil
	})
	return line, err
}

// Lines implements [cluster.History].
func (m *Memory) Lines(ctx context.Context, uuid string, from uint64) iter.Seq2[cluster.Line, error] {
	return func(yield func(cluster.Line, error) bool) {
		var lines []cluster.Line
		if err := m.ask(ctx, func() error {
			for _, l := range m.c.lines {
				if l.UUID == uuid && l.Pos >= from {
					lines = append(lines, l.Line)
				}
			}
			return nil
		}); err != nil {
			yield(cluster.Line{}, err)
			return
		}
		for _, l := range lines {
			if !yield(l, nil) {
				return
			}
		}
	}
}

// Follow implements [cluster.History].
func (m *Memory) Follow(ctx context.Context, from uint64) iter.Seq2[cluster.Line, error] {
	return func(yield func(cluster.Line, error) bool) {
		from = max(from, 1)
		m.c.mu.Lock()
		drops := len(m.c.drops)
		m.c.mu.Unlock()
		for {
			var lines []cluster.Line
			err := m.await(ctx, func() (bool, error) {
				for _, end := range append(m.c.drops[drops:len(m.c.drops):len(m.c.drops)], m.c.end) {
					if from > end+1 {
						return false, fmt.Errorf("follow the history from %d, its end is %d: %w", from, end, cluster.ErrMissing)
					}
				}
				drops = len(m.c.drops)
				for _, l := range m.c.lines {
					if l.Pos >= from {
						lines = append(lines, l.Line)
					}
				}
				return len(lines) > 0, nil
			})
			if err != nil {
				yield(cluster.Line{}, err)
				return
			}
			for _, l := range lines {
				if !yield(l, nil) {
					return
				}
				from = l.Pos + 1
			}
		}
	}
}

// End implements [cluster.History].
func (m *Memory) End(ctx context.Context) (end uint64, err error) {
	err = m.ask(ctx, func() error { end = m.c.end; return nil })
	return end, err
}

// Forget implements [cluster.History].
func (m *Memory) Forget(ctx context.Context, uuid string) error {
	return m.changeAnswered(ctx, func() error {
		m.c.lines = slices.DeleteFunc(m.c.lines, func(l stored) bool { return l.UUID == uuid })
		return nil
	})
}

// PutObject implements [cluster.Objects].
func (m *Memory) PutObject(ctx context.Context, name string, data []byte) error {
	return m.changeAnswered(ctx, func() error { m.c.objects[name] = bytes.Clone(data); return nil })
}

// Object implements [cluster.Objects].
func (m *Memory) Object(ctx context.Context, name string) (data []byte, err error) {
	err = m.ask(ctx, func() error {
		found, there := m.c.objects[name]
		if !there {
			return fmt.Errorf("object %s: %w", name, cluster.ErrMissing)
		}
		data = bytes.Clone(found)
		return nil
	})
	return data, err
}

func below(prefix, name string) bool {
	return name == prefix || strings.HasSuffix(prefix, "/") && strings.HasPrefix(name, prefix)
}

// ObjectNames implements [cluster.Objects].
func (m *Memory) ObjectNames(ctx context.Context, prefix string) (names []string, err error) {
	err = m.ask(ctx, func() error {
		for name := range m.c.objects {
			if below(prefix, name) {
				names = append(names, name)
			}
		}
		return nil
	})
	return names, err
}

// RemoveObjects implements [cluster.Objects].
func (m *Memory) RemoveObjects(ctx context.Context, prefix string) error {
	return m.changeAnswered(ctx, func() error {
		maps.DeleteFunc(m.c.objects, func(name string, _ []byte) bool { return below(prefix, name) })
		return nil
	})
}
