package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sys/unix"

	bus "agent/internal/cluster/jetstream"
	"agent/internal/tools/cluster/natstest"
)

// BenchmarkAppend compares an append with three replicas, beside which the line is written
// and synced here, with the same two things done bare. The machine's noise strikes all
// alike: they take turns.
func BenchmarkAppend(b *testing.B) {
	servers := natstest.StartProcesses(b, 3)
	w := open(b, bus.Options{URLs: servers.URLs(), Replicas: 3})
	nc, err := nats.Connect(servers.URLs()[servers.Leader("test_history")])
	if err != nil {
		b.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := js.CreateStream(b.Context(), jetstream.StreamConfig{Name: "bare", Subjects: []string{"bare.>"}, Replicas: 3}); err != nil {
		b.Fatal(err)
	}
	f, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	line := make([]byte, 600)
	after := uint64(0)
	local := func() {
		if _, err := f.Write(line); err != nil {
			b.Fatal(err)
		}
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			b.Fatal(err)
		}
	}
	appended := func() func() {
		wait := w.Append(b.Context(), "bench", after, line)
		return func() {
			pos, err := wait()
			if err != nil {
				b.Fatal(err)
			}
			after = pos
		}
	}
	published := func() func() {
		ack, err := js.PublishAsync("bare.x", line)
		if err != nil {
			b.Fatal(err)
		}
		return func() {
			select {
			case <-ack.Ok():
			case err := <-ack.Err():
				b.Fatal(err)
			}
		}
	}
	beside := func(start func() func()) func() { return func() { wait := start(); local(); wait() } }
	kinds := []struct {
		name string
		do   func()
	}{
		{"local", local},
		{"publish", func() { published()() }},
		{"publish+local", beside(published)},
		{"append", func() { appended()() }},
		{"append+local", beside(appended)},
	}
	spent := make([]time.Duration, len(kinds))
	for b.Loop() {
		for i, kind := range kinds {
			began := time.Now()
			kind.do()
			spent[i] += time.Since(began)
		}
	}
	for i, kind := range kinds {
		b.ReportMetric(float64(spent[i].Microseconds())/float64(b.N), "µs/"+kind.name)
	}
	b.ReportMetric(float64(spent[4])/float64(spent[2]), "append/publish")
}

// BenchmarkLines reads a context of 10,000 lines.
func BenchmarkLines(b *testing.B) {
	servers := natstest.Start(b, 3)
	w := open(b, bus.Options{URLs: servers.URLs(), Replicas: 3})
	line := make([]byte, 600)
	const contexts, lines = 20, 10_000
	after := [contexts]uint64{}
	for i := range lines { // among those of others
		waits := []func() (uint64, error){w.Append(b.Context(), "context-0", after[0], line)}
		if i%10 == 0 {
			for c := 1; c < contexts; c++ {
				waits = append(waits, w.Append(b.Context(), fmt.Sprint("context-", c), after[c], line))
			}
		}
		for c, wait := range waits {
			pos, err := wait()
			if err != nil {
				b.Fatal(err)
			}
			after[c] = pos
		}
	}
	for b.Loop() {
		n := 0
		for _, err := range w.Lines(b.Context(), "context-0", 0) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != lines {
			b.Fatalf("%d lines", n)
		}
	}
}

// BenchmarkFollow reads all lines of a history.
func BenchmarkFollow(b *testing.B) {
	servers := natstest.Start(b, 3)
	w := open(b, bus.Options{URLs: servers.URLs(), Replicas: 3})
	const contexts, lines = 100, 100
	after := [contexts]uint64{}
	for range lines {
		var waits [contexts]func() (uint64, error)
		for c := range contexts {
			waits[c] = w.Append(b.Context(), fmt.Sprint("context-", c), after[c], make([]byte, 600))
		}
		for c, wait := range waits {
			pos, err := wait()
			if err != nil {
				b.Fatal(err)
			}
			after[c] = pos
		}
	}
	for b.Loop() {
		n := 0
		for _, err := range w.Follow(b.Context(), 1) {
			if err != nil {
				b.Fatal(err)
			}
			if n++; n == contexts*lines {
				break
			}
		}
	}
}
