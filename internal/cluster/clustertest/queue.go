package clustertest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"agent/internal/cluster"
)

type job struct {
	id    string
	lane  int
	data  []byte
	order int
	next  time.Time // when it may be given to somebody; zero: at once
	given int       // how often it was given
}

// Offer implements [cluster.Queue].
func (m *Memory) Offer(ctx context.Context, id string, lane int, data []byte) error {
	if lane < 0 || lane > 9 {
		return fmt.Errorf("offer %s: there is no lane %d", id, lane)
	}
	return m.changeAnswered(ctx, func() error {
		if slices.ContainsFunc(m.c.jobs, func(j *job) bool { return j.id == id && j.lane == lane }) {
			return nil
		}
		m.c.offers++
		m.c.jobs = append(m.c.jobs, &job{id: id, lane: lane, data: bytes.Clone(data), order: m.c.offers})
		return nil
	})
}

// Take implements [cluster.Queue].
func (m *Memory) Take(ctx context.Context, wait time.Duration) (cluster.Job, error) {
	until := time.Now().Add(wait)
	for {
		cut, _, turned := m.state()
		m.c.mu.Lock()
		var got *taken
		again := until
		if cut == whole {
			got, again = m.c.take(m, time.Now(), until)
		}
		changed := m.c.changed
		m.c.mu.Unlock()
		switch {
		case got != nil:
			return got, nil
		case ctx.Err() != nil:
			return nil, noAnswer(ctx)
		case cut == refused || cut == silent && !time.Now().Before(until):
			return nil, cluster.ErrUnreachable
		case !time.Now().Before(until):
			return nil, nil
		}
		timer := time.NewTimer(time.Until(again))
		select {
		case <-timer.C:
		case <-changed:
		case <-turned:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// take gives the first job of the lowest lane, or says when it is worth to ask again.
func (c *Cluster) take(m *Memory, now, until time.Time) (got *taken, again time.Time) {
	var best *job
	for _, j := range c.jobs {
		if j.next.After(now) {
			if j.next.Before(until) {
				until = j.next
			}
			continue
		}
		if best == nil || j.lane < best.lane || j.lane == best.lane && j.order < best.order {
			best = j
		}
	}
	if best == nil {
		return nil, until
	}
	best.given++
	best.next = now.Add(c.AckWait)
	return &taken{m: m, j: best, given: best.given}, until
}

// taken is a job that was given to a member.
type taken struct {
	m     *Memory
	j     *job
	given int
}

func (t *taken) Data() []byte { return bytes.Clone(t.j.data) }

// say tells the cluster about the job.
func (t *taken) say(do func()) error {
	if cut, _, _ := t.m.state(); cut != whole {
		return cluster.ErrUnreachable
	}
	return t.m.changeAnswered(context.Background(), func() error { do(); return nil })
}

// again sets when the job is given to the next, unless it was given to somebody already.
func (t *taken) again(after time.Duration) error {
	return t.say(func() {
		if t.given == t.j.given {
			t.j.next = time.Now().Add(after)
		}
	})
}

func (t *taken) Working() error { return t.again(t.m.c.AckWait) }

func (t *taken) Later(after time.Duration) error { return t.again(after) }

func (t *taken) Done() error { // also if it was given to somebody else
	return t.say(func() {
		t.m.c.jobs = slices.DeleteFunc(t.m.c.jobs, func(j *job) bool { return j == t.j })
	})
}
