package cluster_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"agent/internal/cluster"
	"agent/internal/cluster/clustertest"
)

const lease = 10 * time.Second

// join makes a member whose clock is that of the bubble.
func join(t *testing.T, bus cluster.Bus) *cluster.Member {
	t.Helper()
	began := time.Now()
	m, err := cluster.Join(t.Context(), bus, cluster.Options{Info: cluster.Info{Worker: "w", Capacity: 1}, Lease: lease,
		Clock: func() time.Duration { return time.Since(began) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Leave(context.Background()) })
	return m
}

func TestLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.New()
		a, b := join(t, c.Join()), join(t, c.Join())
		lock, err := a.Lock(t.Context(), "task")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*cluster.Member{a, b} {
			if _, err := m.Lock(t.Context(), "task"); !errors.Is(err, cluster.ErrHeld) {
				t.Errorf("a lock that is held is taken: %v", err)
			}
		}
		time.Sleep(10 * lease)
		if _, err := b.Lock(t.Context(), "task"); !errors.Is(err, cluster.ErrHeld) {
			t.Errorf("a lock whose holder lives is taken: %v", err)
		}
		if err := lock.Close(); err != nil {
			t.Fatal(err)
		}
		taken, err := b.Lock(t.Context(), "task")
		if err != nil {
			t.Fatal(err)
		}
		_ = taken.Close()
	})
}

// A worker that is cut off stops to rely on its lease before another one may take over,
// and what was guarded by it has ended by then. It begins anew when it is back.
func TestCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.New()
		own := c.Join()
		a, b := join(t, own), join(t, c.Join())
		lock, err := a.Lock(t.Context(), "task")
		if err != nil {
			t.Fatal(err)
		}
		effect, release, err := lock.Guard(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		own.Cut(true)
		cut := time.Now()
		var taken *cluster.Lock
		for {
			synctest.Wait()
			if taken, err = b.Lock(t.Context(), "task"); err == nil {
				break
			}
			if !errors.Is(err, cluster.ErrHeld) || time.Since(cut) > time.Minute {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond)
		}
		if took := time.Since(cut); took > lease+3*time.Second || took < lease/2 {
			t.Errorf("taken over after %s", took)
		}
		if !errors.Is(context.Cause(effect), cluster.ErrLost) || lock.Left() > 0 {
			t.Errorf("the old owner goes on: %v, %s left", context.Cause(effect), lock.Left())
		}
		while, done := context.WithTimeout(t.Context(), lease)
		defer done()
		if _, _, err := lock.Guard(while); err == nil {
			t.Error("it begins another effect")
		}
		own.Heal()
		time.Sleep(2 * lease)
		if _, _, err := lock.Guard(t.Context()); !errors.Is(err, cluster.ErrLost) {
			t.Errorf("the old lock is good again: %v", err)
		}
		if _, err := a.Lock(t.Context(), "task"); !errors.Is(err, cluster.ErrHeld) {
			t.Errorf("it has the lock, too: %v", err)
		}
		other, err := a.Lock(t.Context(), "another task")
		if err != nil {
			t.Fatalf("it does not begin anew: %v", err)
		}
		_ = errors.Join(other.Close(), taken.Close(), lock.Close())
	})
}

// Answers that are lost are no reason to lose a lease: of three renewals in its time one is enough.
func TestLostRenewals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.New()
		own := c.Join()
		a, b := join(t, own), join(t, c.Join())
		lock, err := a.Lock(t.Context(), "task")
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Close()
		for range 30 {
			own.LoseAnswers(1)
			time.Sleep(lease / 2)
			if lock.Left() == 0 {
				t.Fatal("the lease is lost")
			}
			if _, err := b.Lock(t.Context(), "task"); !errors.Is(err, cluster.ErrHeld) {
				t.Fatalf("taken over: %v", err)
			}
		}
	})
}

// A lock whose release or taking was not answered does not stay with a worker that lives.
func TestLeftBehind(t *testing.T) {
	for name, leave := range map[string]func(*testing.T, *cluster.Member, *clustertest.Memory){
		"released while cut off": func(t *testing.T, a *cluster.Member, bus *clustertest.Memory) {
			lock, err := a.Lock(t.Context(), "task")
			if err != nil {
				t.Fatal(err)
			}
			bus.Cut(true)
			if err := lock.Close(); err == nil {
				t.Error("it was released without the servers")
			}
			bus.Heal()
		},
		"taken without an answer": func(t *testing.T, a *cluster.Member, bus *clustertest.Memory) {
			bus.Slow(400 * time.Millisecond)
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond) // enough to ask, too short for the answer
			defer cancel()
			if _, err := a.Lock(ctx, "task"); err == nil {
				t.Error("it was taken without an answer")
			}
			bus.Slow(0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := clustertest.New()
				own := c.Join()
				a, b := join(t, own), join(t, c.Join())
				other, err := a.Lock(t.Context(), "other")
				if err != nil {
					t.Fatal(err)
				}
				leave(t, a, own)
				if time.Sleep(lease); other.Left() == 0 {
					t.Fatal("the session has ended, which frees everything")
				}
				taken, err := b.Lock(t.Context(), "task")
				if err != nil {
					t.Fatalf("it stays: %v", err)
				}
				_ = taken.Close()
				_ = other.Close()
			})
		})
	}
}

// A worker that leaves gives all up at once, and the others hear of it.
func TestLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.New()
		a, b := join(t, c.Join()), join(t, c.Join())
		if _, err := a.Lock(t.Context(), "task"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := a.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		select {
		case <-b.News():
		default:
			t.Error("the other did not hear of it")
		}
		lock, err := b.Lock(t.Context(), "task")
		if err != nil {
			t.Fatal(err)
		}
		_ = lock.Close()
	})
}

// A process that lives shortly waits until it knows who lives: a worker that was killed ends
// then, and one that renews its lease does not.
func TestAwaitRenewals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.New()
		killed := c.Join()
		a := join(t, killed)
		if _, err := a.Lock(t.Context(), "task"); err != nil {
			t.Fatal(err)
		}
		live := join(t, c.Join())
		killed.Cut(true)
		began := time.Now()
		short := join(t, c.Join())
		short.AwaitRenewals(t.Context())
		if took := time.Since(began); took < lease || took > lease+lease/2 {
			t.Errorf("it took %v", took)
		}
		if lock, err := short.Lock(t.Context(), "task"); err != nil {
			t.Errorf("what the killed one held is held: %v", err)
		} else {
			_ = lock.Close()
		}
		if len(live.Workers()) != 2 || len(short.Workers()) != 2 {
			t.Errorf("workers: %v", short.Workers())
		}
		began = time.Now()
		short.AwaitRenewals(t.Context())
		if took := time.Since(began); took > lease/2 {
			t.Errorf("with all alive it took %v", took)
		}
	})
}
