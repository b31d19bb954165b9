package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	bus "agent/internal/cluster"
	"agent/internal/cluster/jetstream"
	"agent/internal/tools/cluster/natstest"
)

// Every request may be answered to nobody. What was asked for is then done once, and an
// append and a job are known to be.
func TestLostAnswers(t *testing.T) {
	servers := natstest.Start(t, 1)
	relay, url := servers.Relay(t)
	b := open(t, jetstream.Options{URLs: []string{url}, AckWait: time.Second})
	other := open(t, jetstream.Options{URLs: servers.URLs(), AckWait: time.Second})
	ctx := t.Context()
	cuts := 0
	lose := func(text string) { relay.LoseAnswer(text); cuts++ }

	after := uint64(0)
	for i, size := range []int{10, 10, 1 << 20, 1<<20 + 9000} {
		lose("test.history.x")
		line := bytes.Repeat([]byte{byte('a' + i)}, size)
		pos, err := b.Append(ctx, "x", after, line)()
		if err != nil || pos <= after {
			t.Fatalf("line %d: %d, %v", i, pos, err)
		}
		after = pos
	}
	n := 0
	lose("DIRECT.GET")
	for l, err := range b.Lines(ctx, "x", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if l.Data[0] != byte('a'+n) {
			t.Errorf("line %d is %c", n, l.Data[0])
		}
		n++
	}
	if n != 4 {
		t.Errorf("%d lines, want 4", n)
	}
	for _, question := range []string{"STREAM.MSG.GET", "STREAM.INFO"} {
		lose(question)
		last, err := b.Last(ctx, "x")
		end, endErr := b.End(ctx)
		if err != nil || endErr != nil || last.Pos != after || end != after {
			t.Errorf("last %d, %v; end %d, %v", last.Pos, err, end, endErr)
		}
	}

	lose("test.objects.0")
	object := bytes.Repeat([]byte("x"), 3<<20)
	if err := b.PutObject(ctx, "o/1", object); err != nil {
		t.Error(err)
	}
	if got, err := other.Object(ctx, "o/1"); err != nil || !bytes.Equal(got, object) {
		t.Errorf("%d bytes, %v", len(got), err)
	}

	lose("$KV.test_keys.k")
	revision, err := b.SetKey(ctx, "k", []byte("v"), 0)
	v, keyErr := b.Key(ctx, "k")
	if keyErr != nil || string(v.Data) != "v" || err == nil && revision != v.Revision || err != nil && !errors.Is(err, bus.ErrUnreachable) {
		t.Errorf("%d, %v; then %+v, %v", revision, err, v, keyErr)
	}

	lose("test.queue.0")
	if err := b.Offer(ctx, "job", 0, []byte("data")); err != nil {
		t.Error(err)
	}
	j := takeSoon(t, b)
	lose("+ACK")
	if err := j.Done(); err != nil {
		t.Error(err)
	}
	if j, err := other.Take(ctx, 1500*time.Millisecond); j != nil || err != nil {
		t.Errorf("a job that was done is there: %v", err)
	}

	// The job is lost on its way, and comes again when nobody says that he works on it.
	if err := b.Offer(ctx, "job", 0, []byte("again")); err != nil {
		t.Error(err)
	}
	lose("MSG.NEXT")
	if err := takeSoon(t, b).Done(); err != nil {
		t.Error(err)
	}
	if relay.Lost() != cuts {
		t.Errorf("%d answers were lost, not %d", relay.Lost(), cuts)
	}
}

func takeSoon(t *testing.T, b bus.Bus) bus.Job {
	t.Helper()
	for range 5 { // it may be that an answer is lost
		j, err := b.Take(t.Context(), 20*time.Second)
		if err == nil && j != nil {
			return j
		}
		if err != nil && !errors.Is(err, bus.ErrUnreachable) {
			t.Fatal(err)
		}
	}
	t.Fatal("there is no job")
	return nil
}

// A worker that hears nothing learns so at the end of its time, and reads on when it
// hears again.
func TestSilence(t *testing.T) {
	servers := natstest.Start(t, 1)
	relay, url := servers.Relay(t)
	b := open(t, jetstream.Options{URLs: []string{url}})
	other := open(t, jetstream.Options{URLs: servers.URLs()})
	lines := make(chan string, 100)
	ctx, stop := context.WithCancel(t.Context())
	followed := make(chan error, 1)
	go func() {
		for l, err := range b.Follow(ctx, 1) {
			if err != nil {
				followed <- err
				return
			}
			if l.UUID == "x" { // the append to y may have come late
				lines <- string(l.Data)
			}
		}
	}()
	after := uint64(0)
	add := func(i int) {
		pos, err := other.Append(ctx, "x", after, fmt.Append(nil, i))()
		if err != nil {
			t.Fatal(err)
		}
		after = pos
	}
	want := func(i int) {
		t.Helper()
		select {
		case got := <-lines:
			if got != fmt.Sprint(i) {
				t.Errorf("line %s, want %d", got, i)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("line %d does not come", i)
		}
	}
	add(1)
	want(1)
	relay.Silence(true)
	short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, appendErr := b.Append(short, "y", 0, []byte("y"))()
	_, keyErr := b.Key(short, "k")
	for what, err := range map[string]error{"append": appendErr, "key": keyErr} {
		if !errors.Is(err, bus.ErrUnreachable) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	add(2)
	relay.Silence(false)
	want(2)
	relay.Disconnect()
	add(3)
	want(3)
	stop()
	if err := <-followed; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
