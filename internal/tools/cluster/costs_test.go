package cluster

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agent/internal/cluster/jetstream"
	"agent/internal/tools/cluster/natstest"
)

// BenchmarkCosts measures what docs/scale.md reckons with: the processor time of all three servers
// for an append, for a line that a follower gets, and for the renewal of a session.
func BenchmarkCosts(t *testing.B) {
	servers := natstest.StartProcesses(t, 3)
	o := jetstream.Options{URLs: servers.URLs(), Replicas: 3}
	b := open(t, o)
	cpu := func() (sum time.Duration) {
		for i := range 3 {
			sum += servers.CPU(i)
		}
		return sum
	}
	const clients, each = 32, 250
	line := bytes.Repeat([]byte("x"), 858) // of the demo's logs, on average
	for _, followers := range []int{0, 20, 60} {
		ctx, stop := context.WithCancel(t.Context())
		var heard atomic.Int64
		var group sync.WaitGroup
		end, err := b.End(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for range followers {
			f := open(t, o)
			group.Go(func() {
				for _, err := range f.Follow(ctx, end+1) {
					if err != nil {
						return
					}
					heard.Add(1)
				}
			})
		}
		time.Sleep(time.Second)
		used, began := cpu(), time.Now()
		after := make([]uint64, clients)
		atOnceTimed(t, clients, each, func(c, _ int) (err error) {
			after[c], err = b.Append(ctx, fmt.Sprintf("f%d-%d", followers, c), after[c], line)()
			return err
		})
		rate := clients * each / time.Since(began).Seconds()
		for until := time.Now().Add(time.Minute); heard.Load() < int64(followers*clients*each); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(until) {
				t.Fatalf("%d lines were followed", heard.Load())
			}
		}
		used = cpu() - used
		t.Logf("%d followers: %.0f appends/s, %.0f µs of processors for an append and its followers", followers, rate, float64(used.Microseconds())/(clients*each))
		stop()
		group.Wait()
	}
	used := cpu()
	revisions := make([]uint64, clients)
	const renewals = 100
	atOnceTimed(t, clients, renewals, func(c, _ int) (err error) {
		revisions[c], err = b.SetKey(t.Context(), fmt.Sprint("sessions/", c), bytes.Repeat([]byte("x"), 200), revisions[c])
		return err
	})
	t.Logf("%.0f µs of processors for a renewal", float64((cpu()-used).Microseconds())/(clients*renewals))
	load, _ := os.ReadFile("/proc/loadavg")
	t.Logf("load of the machine: %s", load)
}
