package clustertest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"agent/internal/cluster"
)

func TestMemory(t *testing.T) {
	c := New()
	c.AckWait = 200 * time.Millisecond
	Suite(t, [2]cluster.Bus{c.Join(), c.Join()}, c.AckWait)
}

// The layers above rely on these faults: an outcome may be unknown in both ways.
func TestMemoryFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		a, b := c.Join(), c.Join()
		one := add(t, a, "x", 0, "1")

		a.Cut(true)
		_, err := a.Append(limited(t), "x", one, []byte("2"))()
		wantErr(t, "cut off", err, cluster.ErrUnreachable)
		a.Heal()
		equal(t, "not done", texts(t, b, "x", 0), []string{"1"})

		a.LoseAnswers(1)
		_, err = a.Append(limited(t), "x", one, []byte("2"))()
		wantErr(t, "a lost answer", err, cluster.ErrUnreachable)
		equal(t, "done", texts(t, b, "x", 0), []string{"1", "2"})
		two := add(t, a, "x", one, "2")

		wait := a.Append(limited(t), "x", two, []byte("3"))
		a.Cut(true)
		_, err = wait()
		wantErr(t, "cut off in flight", err, cluster.ErrUnreachable)
		a.Heal()
		equal(t, "done", texts(t, b, "x", 0), []string{"1", "2", "3"})

		a.Cut(false)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		began := time.Now()
		_, err = a.Key(ctx, "k")
		cancel()
		if time.Since(began) != time.Minute || !errors.Is(err, cluster.ErrUnreachable) || errors.Is(err, cluster.ErrMissing) {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		time.AfterFunc(time.Second, a.Heal)
		if _, err := a.SetKey(limited(t), "k", nil, 0); err != nil {
			t.Errorf("healed in time: %v", err)
		}

		a.Slow(time.Second)
		began = time.Now()
		if _, err := a.Key(limited(t), "k"); err != nil || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		a.Slow(0)
	})
}

func TestMemoryDropsLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		a := c.Join()
		pos := uint64(0)
		for _, line := range []string{"1", "2", "3"} {
			pos = add(t, a, "x", pos, line)
		}
		followed := make(chan error)
		go func() {
			for _, err := range a.Follow(t.Context(), 1) {
				if err != nil {
					followed <- err
				}
			}
		}()
		synctest.Wait()
		c.DropLines(2)
		wantErr(t, "one who saw more", <-followed, cluster.ErrMissing)
		equal(t, "lines", texts(t, a, "x", 0), []string{"1"})
		_, err := a.Append(t.Context(), "x", pos, []byte("4"))()
		wantErr(t, "after a lost line", err, cluster.ErrStale)
	})
}
