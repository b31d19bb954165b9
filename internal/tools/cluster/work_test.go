package cluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	bus "agent/internal/cluster"
	"agent/internal/cluster/jetstream"
	"agent/internal/exhaustive"
	"agent/internal/tools/cluster/natstest"
)

// TestWorkAndNodesDie has jobs offered and done, and a key counted up, while servers are
// killed. Every job is done, none is given to anybody after it was done, and no count is lost.
func TestWorkAndNodesDie(t *testing.T) {
	exhaustive.Slow(t)
	servers := natstest.StartProcesses(t, 3)
	buses := make([]bus.Bus, 3)
	for i := range buses {
		buses[i] = open(t, jetstream.Options{URLs: servers.URLs(), Replicas: 3, AckWait: 3 * time.Second})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	work := &work{done: map[string]bool{}, unsure: map[string]bool{}}
	offering, counting, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var offers, takers, counters sync.WaitGroup
	offers.Go(func() { work.offer(ctx, t, buses[0], offering) })
	for i := range 3 {
		takers.Go(func() { work.take(ctx, t, buses[i]) })
		counters.Go(func() { work.count(ctx, t, buses[i], counting) })
	}
	watched := make(chan int, 1)
	go func() { watched <- watchCount(ctx, t, buses[2], over) }()

	work.more(t, "at first")
	for _, stream := range []string{"test_queue", "KV_test_keys"} {
		leader := servers.Leader(stream)
		servers.Kill(leader)
		work.more(t, "without the leader of "+stream)
		servers.Restart(leader)
		work.more(t, "with it again")
	}
	for i := range 3 {
		servers.Kill(i)
	}
	for i := range 3 {
		servers.Restart(i)
	}
	work.more(t, "after all were killed")
	close(offering)
	offers.Wait()
	close(counting)
	counters.Wait()
	close(over)
	takers.Wait()
	v, err := buses[0].Key(ctx, "count")
	if err != nil {
		t.Fatal(err)
	}
	n, _ := strconv.Atoi(string(v.Data))
	if _, err := buses[0].SetKey(ctx, "count", v.Data, v.Revision); err != nil { // the watch sees that it is over
		t.Fatal(err)
	}
	if n < work.counted || n > work.counted+work.unknown {
		t.Errorf("the key counts %d; %d were acknowledged and %d unknown", n, work.counted, work.unknown)
	}
	if last := <-watched; last != n {
		t.Errorf("the watch ended with %d, the key has %d", last, n)
	}
	t.Logf("%d jobs, %d of them taken again; counted %d, of which unknown at most %d", work.offered, work.again, n, work.unknown)
}

type work struct {
	mu      sync.Mutex
	offered int
	over    bool // no more are offered
	done    map[string]bool
	unsure  map[string]bool // offered or ended while servers died: they may come once more
	again   int
	counted int
	unknown int
}

// offer offers jobs, each until that is acknowledged.
func (w *work) offer(ctx context.Context, t *testing.T, b bus.Bus, stop <-chan struct{}) {
	for n := 0; ; n++ {
		began, calls := time.Now(), 0
		for {
			calls++
			err := b.Offer(ctx, fmt.Sprint("job/", n), n%10, fmt.Append(nil, n))
			if err == nil || ctx.Err() != nil {
				break
			}
			if !errors.Is(err, bus.ErrUnreachable) {
				t.Error("offer:", err)
				return
			}
		}
		w.mu.Lock()
		if w.offered = n + 1; calls > 1 || time.Since(began) > time.Second {
			w.unsure[fmt.Sprint(n)] = true
		}
		select {
		case <-stop:
			w.over = true
		default:
			w.over = ctx.Err() != nil
		}
		over := w.over
		w.mu.Unlock()
		if over {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// take does jobs until all are done.
func (w *work) take(ctx context.Context, t *testing.T, b bus.Bus) {
	for {
		w.mu.Lock()
		all := w.over && len(w.done) == w.offered
		w.mu.Unlock()
		if all {
			return
		}
		j, err := b.Take(ctx, time.Second)
		switch {
		case ctx.Err() != nil:
			t.Errorf("%d of %d jobs are done", len(w.done), w.offered)
			return
		case err != nil && !errors.Is(err, bus.ErrUnreachable):
			t.Error("take:", err)
			return
		case j == nil:
			continue
		}
		err = j.Done()
		w.mu.Lock()
		if id := string(j.Data()); w.done[id] {
			if w.again++; !w.unsure[id] {
				t.Errorf("job %s was taken after it was done", id)
			}
		} else if w.done[id] = true; err != nil {
			w.unsure[id] = true // it may be given to somebody once more, or not
		}
		w.mu.Unlock()
	}
}

// count adds one to a key again and again.
func (w *work) count(ctx context.Context, t *testing.T, b bus.Bus, stop <-chan struct{}) {
	for ctx.Err() == nil {
		select {
		case <-stop:
			return
		default:
		}
		v, err := b.Key(ctx, "count")
		if err != nil && !errors.Is(err, bus.ErrMissing) {
			continue
		}
		n, _ := strconv.Atoi(string(v.Data))
		_, err = b.SetKey(ctx, "count", fmt.Append(nil, n+1), v.Revision)
		w.mu.Lock()
		switch {
		case err == nil:
			w.counted++
		case errors.Is(err, bus.ErrUnreachable):
			w.unknown++
		case !errors.Is(err, bus.ErrStale):
			t.Error("count:", err)
		}
		w.mu.Unlock()
		time.Sleep(10 * time.Millisecond)
	}
}

// watchCount watches the key until it has the last value, and begins anew after errors.
func watchCount(ctx context.Context, t *testing.T, b bus.Bus, stop <-chan struct{}) int {
	last := 0
	for ctx.Err() == nil {
		for v, err := range b.WatchKeys(ctx, "count") {
			if err != nil {
				if !errors.Is(err, bus.ErrUnreachable) && ctx.Err() == nil {
					t.Error("watch:", err)
					return last
				}
				break
			}
			if v.Key == "" {
				continue
			}
			n, _ := strconv.Atoi(string(v.Data))
			if n < last {
				t.Errorf("the watch saw %d after %d", n, last)
			}
			last = n
			select {
			case <-stop:
				if now, err := b.Key(ctx, "count"); err == nil && now.Revision == v.Revision {
					return last
				}
			default:
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	return last
}

// more waits until some more jobs are done and counts made.
func (w *work) more(t *testing.T, when string) {
	t.Helper()
	state := func() (int, int) {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.done), w.counted
	}
	done, counted := state()
	began := time.Now()
	for time.Since(began) < time.Minute {
		if d, c := state(); d >= done+10 && c >= counted+10 {
			t.Logf("%s: %v", when, time.Since(began).Round(time.Millisecond))
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	d, c := state()
	t.Fatalf("%s: %d jobs and %d counts, then %d and %d", when, done, counted, d, c)
}
