package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	bus "agent/internal/cluster"
	"agent/internal/cluster/jetstream"
	"agent/internal/exhaustive"
	"agent/internal/tools/cluster/natstest"
)

// acknowledged is a line of which a writer was told that it is durable.
type acknowledged struct {
	after, pos uint64
	line       string
}

// writer appends to a context, alone or beside others, until it is told to stop.
type writer struct {
	bus     bus.Bus
	context string
	name    string
	acked   []acknowledged
	outcome map[string]int
	done    atomic.Int64
}

func (w *writer) run(stop <-chan struct{}) error {
	w.outcome = map[string]int{}
	after := uint64(0)
	for n := 0; ; n++ {
		select {
		case <-stop:
			return nil
		default:
		}
		ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
		line := fmt.Sprint(w.name, " ", n)
		pos, err := w.bus.Append(ctx, w.context, after, []byte(line))()
		if err == nil {
			w.acked = append(w.acked, acknowledged{after, pos, line})
			after = pos
			w.outcome["acknowledged"]++
			w.done.Add(1)
			cancel()
			continue
		}
		switch {
		case errors.Is(err, bus.ErrStale):
			w.outcome["stale"]++
		case errors.Is(err, bus.ErrUnreachable):
			w.outcome["unreachable"]++
		default:
			cancel()
			return fmt.Errorf("an append ended with %w", err)
		}
		if last, err := w.bus.Last(ctx, w.context); err == nil {
			after = last.Pos
		}
		cancel()
	}
}

// TestNodesDie kills servers in the middle of appends. Nothing that was acknowledged may be
// lost or out of order, and no append may end in another way than the port says.
func TestNodesDie(t *testing.T) {
	exhaustive.Slow(t)
	servers := natstest.StartProcesses(t, 3)
	buses := make([]bus.Bus, 3)
	for i := range buses {
		buses[i] = open(t, jetstream.Options{URLs: servers.URLs(), Replicas: 3})
	}
	var writers []*writer
	for i := range 6 {
		w := &writer{bus: buses[i%2], context: fmt.Sprint("own-", i), name: fmt.Sprint("w", i)}
		if i >= 4 {
			w.context = "shared"
		}
		writers = append(writers, w)
	}
	ctx, cancel := context.WithCancel(t.Context())
	followed := make(chan []bus.Line, 1)
	go func() {
		var all []bus.Line
		for l, err := range buses[2].Follow(ctx, 1) {
			if err != nil {
				if ctx.Err() == nil {
					t.Error("follow:", err)
				}
				break
			}
			all = append(all, l)
		}
		followed <- all
	}()
	stop := make(chan struct{})
	var group sync.WaitGroup
	for _, w := range writers {
		group.Go(func() {
			if err := w.run(stop); err != nil {
				t.Error(w.name, err)
			}
		})
	}
	inTrouble(t, servers, func(when string) { progress(t, writers, 20, when) })
	close(stop)
	group.Wait()
	servers.Await()
	checkHistory(t, buses[0], writers)
	end, err := buses[0].End(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	checkFollowed(t, buses[0], followed, cancel, end)
}

// inTrouble kills and stops servers, one after the other and all at once. It goes on when
// progress returns.
func inTrouble(t *testing.T, servers *natstest.Servers, progress func(when string)) {
	t.Helper()
	progress("at first")
	follower := (servers.Leader("test_history") + 1) % 3
	servers.Kill(follower)
	progress("without one server")
	servers.Restart(follower)
	progress("with it again")
	leader := servers.Leader("test_history")
	servers.Kill(leader)
	progress("without the leader")
	servers.Restart(leader)
	progress("with it again")
	for i := range 3 {
		servers.Kill(i)
	}
	for i := range 3 {
		servers.Restart(i)
	}
	progress("after all were killed")
	leader = servers.Leader("test_history")
	servers.Pause(leader, true)
	progress("while the leader is stopped")
	servers.Pause(leader, false)
	progress("when it runs on")
}

// progress waits until each writer has had some more lines acknowledged. Of those that
// share a context all together.
func progress(t *testing.T, writers []*writer, n int64, when string) {
	t.Helper()
	count := func() map[string]int64 {
		all := map[string]int64{}
		for _, w := range writers {
			all[w.context] += w.done.Load()
		}
		return all
	}
	before, began := count(), time.Now()
	for time.Since(began) < 2*time.Minute {
		now, enough := count(), true
		for name := range now {
			enough = enough && now[name] >= before[name]+n
		}
		if enough {
			t.Logf("%s: %v", when, time.Since(began).Round(time.Millisecond))
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("%s: from %v to %v only", when, before, count())
}

func checkHistory(t *testing.T, b bus.Bus, writers []*writer) {
	histories := map[string][]bus.Line{}
	for _, w := range writers {
		t.Logf("%s: %v", w.name, w.outcome)
		if histories[w.context] != nil {
			continue
		}
		for l, err := range b.Lines(t.Context(), w.context, 0) {
			if err != nil {
				t.Fatal(err)
			}
			histories[w.context] = append(histories[w.context], l)
		}
	}
	for _, w := range writers {
		lines := histories[w.context]
		for _, a := range w.acked {
			i := slices.IndexFunc(lines, func(l bus.Line) bool { return l.Pos == a.pos })
			if i < 0 || string(lines[i].Data) != a.line {
				t.Errorf("%s: the line %q at %d was acknowledged and is lost", w.context, a.line, a.pos)
				continue
			}
			if before := uint64(0); i > 0 {
				before = lines[i-1].Pos
				if before != a.after {
					t.Errorf("%s: the line %q was to come after %d, not after %d", w.context, a.line, a.after, before)
				}
			}
		}
	}
	for name, lines := range histories {
		last := map[string]int{}
		for _, l := range lines {
			who, number, _ := strings.Cut(string(l.Data), " ")
			n, err := strconv.Atoi(number)
			if before, seen := last[who]; err != nil || seen && n <= before {
				t.Errorf("%s: line %q after number %d", name, l.Data, before)
			}
			last[who] = n
		}
	}
}

// checkFollowed compares what one saw who followed all the time with the history.
func checkFollowed(t *testing.T, b bus.Bus, followed chan []bus.Line, cancel func(), end uint64) {
	var want []string
	for l, err := range b.Follow(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprint(l.Pos, l.UUID, string(l.Data)))
		if l.Pos == end {
			break
		}
	}
	time.Sleep(3 * time.Second)
	cancel()
	var got []string
	for _, l := range <-followed {
		got = append(got, fmt.Sprint(l.Pos, l.UUID, string(l.Data)))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d lines were followed, not %d", len(got), len(want))
	}
}
