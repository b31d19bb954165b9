package clustertest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"agent/internal/cluster"
)

// Memory is the bus of one member in memory, with faults.
type Memory struct {
	c *Cluster

	mu     sync.Mutex
	turned chan struct{} // closed and replaced when a fault begins or ends
	cut    cut
	lose   int
	slow   time.Duration
	closed bool
}

type cut int

const (
	whole   cut = iota
	refused     // calls fail at once
	silent      // calls wait for an answer until their context ends
)

func (m *Memory) turn(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
	close(m.turned)
	m.turned = make(chan struct{})
}

// Cut separates the member from the cluster until [Memory.Heal]. New calls change nothing
// and fail, at once or when their context ends. What was asked before and is not yet
// answered, as an append that nobody waited for yet or a call of a slow member, is done
// and not acknowledged.
func (m *Memory) Cut(atOnce bool) {
	m.turn(func() {
		m.cut = silent
		if atOnce {
			m.cut = refused
		}
	})
}

// Heal ends a cut.
func (m *Memory) Heal() { m.turn(func() { m.cut = whole }) }

// LoseAnswers makes the next n changes succeed without an answer. Appends, keys, objects
// and jobs are changes; what only reads is not.
func (m *Memory) LoseAnswers(n int) { m.turn(func() { m.lose = n }) }

// Slow delays every answer.
func (m *Memory) Slow(d time.Duration) { m.turn(func() { m.slow = d }) }

// Close implements [cluster.Bus].
func (m *Memory) Close() error {
	m.turn(func() { m.closed = true })
	return nil
}

func (m *Memory) state() (c cut, slow time.Duration, turned <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return refused, 0, m.turned
	}
	return m.cut, m.slow, m.turned
}

// reach waits until the member is not cut off.
func (m *Memory) reach(ctx context.Context) error {
	for {
		cut, _, turned := m.state()
		switch {
		case ctx.Err() != nil:
			return noAnswer(ctx)
		case cut == whole:
			return nil
		case cut == refused:
			return cluster.ErrUnreachable
		}
		select {
		case <-ctx.Done():
		case <-turned:
		}
	}
}

// noAnswer is the error of a call whose context ended.
func noAnswer(ctx context.Context) error {
	return fmt.Errorf("%w: %w", cluster.ErrUnreachable, ctx.Err())
}

// answer waits for the answer to what was done.
func (m *Memory) answer(ctx context.Context) error {
	_, slow, _ := m.state()
	if slow > 0 {
		timer := time.NewTimer(slow)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return m.reach(ctx)
}

// change does something to the cluster, if the member reaches it.
func (m *Memory) change(ctx context.Context, do func() error) error {
	if err := m.reach(ctx); err != nil {
		return err
	}
	m.c.mu.Lock()
	defer m.c.mu.Unlock()
	if err := do(); err != nil {
		return err
	}
	m.c.news()
	return m.loseOne()
}

func (m *Memory) loseOne() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lose == 0 {
		return nil
	}
	m.lose--
	return cluster.ErrUnreachable
}

func (m *Memory) changeAnswered(ctx context.Context, do func() error) error {
	if err := m.change(ctx, do); err != nil {
		return err
	}
	return m.answer(ctx)
}

// ask reads from the cluster.
func (m *Memory) ask(ctx context.Context, read func() error) error {
	if err := m.reach(ctx); err != nil {
		return err
	}
	if err := m.answer(ctx); err != nil {
		return err
	}
	m.c.mu.Lock()
	defer m.c.mu.Unlock()
	return read()
}

// await asks again after every change until the answer is yes or an error.
func (m *Memory) await(ctx context.Context, ask func() (bool, error)) error {
	for {
		if err := m.reach(ctx); err != nil {
			return err
		}
		_, _, turned := m.state()
		m.c.mu.Lock()
		yes, err := ask()
		changed := m.c.changed
		m.c.mu.Unlock()
		if yes || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-turned:
		case <-changed:
		}
	}
}
