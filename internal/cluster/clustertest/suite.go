package clustertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"agent/internal/cluster"
)

// world is an empty cluster that all cases of a suite share: each has contexts, names and
// keys of its own, and leaves the queue empty.
type world struct {
	a, b cluster.Bus
	wait time.Duration // until a job that nobody works on is given to another member
}

// Suite checks the rules of [cluster.Bus]. The two members belong to one cluster, in which
// nothing is yet. A job that nobody works on must be given to another one after wait.
func Suite(t *testing.T, members [2]cluster.Bus, wait time.Duration) {
	w := world{members[0], members[1], wait}
	for _, test := range []struct {
		name string
		run  func(*testing.T, world)
	}{
		{"history/an empty one", emptyHistory},
		{"history/append and read", appendAndRead},
		{"history/the expected position", expected},
		{"history/the same line again", repeated},
		{"history/one of many is first", race},
		{"history/the line is not kept", lineNotKept},
		{"history/lines of all sizes", sizes},
		{"history/lines from a position", linesFrom},
		{"history/follow", follow},
		{"history/follow from a position", followFrom},
		{"history/forget", forget},
		{"history/order of several members", order},
		{"objects/put and get", objects},
		{"objects/prefixes", prefixes},
		{"objects/of all sizes", objectSizes},
		{"keys/set and delete", keys},
		{"keys/one of many is first", keyRace},
		{"keys/watch", watch},
		{"keys/names", keyNames},
		{"queue/offer and take", queue},
		{"queue/a job waits once", offeredTwice},
		{"queue/lanes", lanes},
		{"queue/wait for a job", takeWaits},
		{"queue/a worker that is gone", workerGone},
		{"queue/later", later},
		{"queue/each job is taken once", takenOnce},
		{"a context that has ended", ended},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, w) })
	}
}

func limited(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func must[V any](t *testing.T) func(V, error) V {
	return func(v V, err error) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want: %v", what, err, want)
	}
}

// add appends and waits.
func add(t *testing.T, bus cluster.Bus, uuid string, after uint64, line string) uint64 {
	t.Helper()
	return must[uint64](t)(bus.Append(limited(t), uuid, after, []byte(line))())
}

func texts(t *testing.T, bus cluster.Bus, uuid string, from uint64) []string {
	t.Helper()
	var all []string
	last := uint64(0)
	for l, err := range bus.Lines(limited(t), uuid, from) {
		ok(t, err)
		if l.UUID != uuid || l.Pos <= last {
			t.Errorf("line of %s at %d after %d", l.UUID, l.Pos, last)
		}
		last = l.Pos
		all = append(all, string(l.Data))
	}
	return all
}

func equal[V any](t *testing.T, what string, got, want []V) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func emptyHistory(t *testing.T, w world) {
	if end := must[uint64](t)(w.a.End(limited(t))); end != 0 {
		t.Errorf("it ends at %d", end)
	}
	if l := must[cluster.Line](t)(w.a.Last(limited(t), "nothing")); l.Pos != 0 {
		t.Errorf("last %+v", l)
	}
	equal(t, "lines", texts(t, w.a, "nothing", 0), nil)
	_, err := w.a.Append(limited(t), "nothing", 7, []byte("x"))()
	wantErr(t, "after a line that is not there", err, cluster.ErrStale)
}

func appendAndRead(t *testing.T, w world) {
	one := add(t, w.a, "read", 0, `{"n":1}`)
	two := add(t, w.b, "read", one, `{"n":2}`)
	if one == 0 || two <= one {
		t.Errorf("positions %d, %d", one, two)
	}
	if end := must[uint64](t)(w.a.End(limited(t))); end != two {
		t.Errorf("end %d, want %d", end, two)
	}
	for _, bus := range []cluster.Bus{w.a, w.b} {
		equal(t, "lines", texts(t, bus, "read", 0), []string{`{"n":1}`, `{"n":2}`})
		l := must[cluster.Line](t)(bus.Last(limited(t), "read"))
		if l.UUID != "read" || l.Pos != two || string(l.Data) != `{"n":2}` {
			t.Errorf("last %+v", l)
		}
	}
}

func expected(t *testing.T, w world) {
	one := add(t, w.a, "expected", 0, "1")
	two := add(t, w.a, "expected", one, "2")
	for _, after := range []uint64{0, one, two + 1} {
		_, err := w.b.Append(limited(t), "expected", after, []byte("x"))()
		wantErr(t, fmt.Sprintf("after %d", after), err, cluster.ErrStale)
	}
	equal(t, "lines", texts(t, w.a, "expected", 0), []string{"1", "2"})
}

// A worker whose answer was lost asks again. It must learn that the line is its own, and
// not take another worker's for it.
func repeated(t *testing.T, w world) {
	one := add(t, w.a, "again", 0, "1")
	if pos := add(t, w.a, "again", 0, "1"); pos != one {
		t.Errorf("again: %d, want %d", pos, one)
	}
	two := add(t, w.a, "again", one, "1") // the same text, once more
	if two == one {
		t.Fatal("the second line of the same text is the first")
	}
	if pos := add(t, w.b, "again", one, "1"); pos != two {
		t.Errorf("again from another member: %d, want %d", pos, two)
	}
	_, err := w.a.Append(limited(t), "again", 0, []byte("1"))()
	wantErr(t, "the same text after another position", err, cluster.ErrStale)
	_, err = w.a.Append(limited(t), "again", one, []byte("other"))()
	wantErr(t, "another text", err, cluster.ErrStale)
	equal(t, "lines", texts(t, w.a, "again", 0), []string{"1", "1"})
}

func race(t *testing.T, w world) {
	after := uint64(0)
	for round := range 10 {
		var waits []func() (uint64, error)
		for i := range 6 {
			bus := []cluster.Bus{w.a, w.b}[i%2]
			waits = append(waits, bus.Append(limited(t), "race", after, fmt.Appendf(nil, "%d-%d", round, i)))
		}
		won := 0
		for _, wait := range waits {
			pos, err := wait()
			if err == nil {
				won++
				after = pos
			} else {
				wantErr(t, "one that was late", err, cluster.ErrStale)
			}
		}
		if won != 1 {
			t.Fatalf("%d of 6 were first", won)
		}
	}
	if n := len(texts(t, w.a, "race", 0)); n != 10 {
		t.Errorf("%d lines", n)
	}
}

func lineNotKept(t *testing.T, w world) {
	line := []byte("before")
	wait := w.a.Append(limited(t), "kept", 0, line)
	copy(line, "after!")
	must[uint64](t)(wait())
	equal(t, "lines", texts(t, w.b, "kept", 0), []string{"before"})
}

// A line may have a mebibyte and a header, which is more than NATS takes in one message.
func sizes(t *testing.T, w world) {
	after := uint64(0)
	var want [][]byte
	for i, size := range []int{0, 1, 4096, 1<<20 - 8192, 1<<20 - 4096, 1<<20 - 4095, 1 << 20, 1<<20 + 4096} {
		line := bytes.Repeat([]byte{byte('a' + i)}, size)
		want = append(want, line)
		after = must[uint64](t)(w.a.Append(limited(t), "sizes", after, line)())
		last := must[cluster.Line](t)(w.b.Last(limited(t), "sizes"))
		if last.Pos != after || !bytes.Equal(last.Data, line) {
			t.Errorf("a line of %d bytes: last is one of %d at %d", size, len(last.Data), last.Pos)
		}
	}
	before := want[len(want)-1]
	lines := texts(t, w.b, "sizes", 0)
	for i, line := range lines {
		if i >= len(want) || line != string(want[i]) {
			t.Errorf("line %d has %d bytes", i, len(line))
		}
	}
	if len(lines) != len(want) {
		t.Errorf("%d lines, want %d", len(lines), len(want))
	}
	last := after
	if pos := must[uint64](t)(w.a.Append(limited(t), "sizes", posBefore(t, w.a, "sizes"), before)()); pos != last {
		t.Errorf("the same large line again: %d, want %d", pos, last)
	}
}

// posBefore is the position of the last line but one.
func posBefore(t *testing.T, bus cluster.Bus, uuid string) (before uint64) {
	var last uint64
	for l, err := range bus.Lines(limited(t), uuid, 0) {
		ok(t, err)
		before, last = last, l.Pos
	}
	return before
}

func linesFrom(t *testing.T, w world) {
	var at []uint64
	after := uint64(0)
	for i := range 5 {
		after = add(t, w.a, "from", after, fmt.Sprint(i))
		add(t, w.b, fmt.Sprint("from-other-", i), 0, "x")
		at = append(at, after)
	}
	for i, pos := range at {
		if got := texts(t, w.b, "from", pos); len(got) != 5-i || got[0] != fmt.Sprint(i) {
			t.Errorf("from %d: %v", pos, got)
		}
	}
	equal(t, "after the last", texts(t, w.a, "from", after+1), nil)
	for range w.a.Lines(limited(t), "from", 0) {
		break // a reader may stop
	}
}

func follow(t *testing.T, w world) {
	ctx, stop := context.WithCancel(limited(t))
	defer stop()
	from := must[uint64](t)(w.a.End(ctx)) + 1
	var want, got []string
	first := add(t, w.b, "follow-1", 0, "0")
	want = append(want, "0")
	last := uint64(0)
	for l, err := range w.a.Follow(ctx, from) {
		if err != nil {
			wantErr(t, "the end", err, context.Canceled)
			break
		}
		if l.Pos <= last {
			t.Errorf("position %d after %d", l.Pos, last)
		}
		last = l.Pos
		got = append(got, string(l.Data))
		switch n := len(got); {
		case n == 1:
			first = add(t, w.a, "follow-1", first, "1")
		case n < 20:
			add(t, w.b, fmt.Sprint("follow-2-", n), 0, fmt.Sprint(n))
		default:
			stop()
			continue
		}
		want = append(want, fmt.Sprint(len(got)))
	}
	equal(t, "followed", got, want)
}

func followFrom(t *testing.T, w world) {
	add(t, w.a, "follow-from", 0, "1")
	end := must[uint64](t)(w.a.End(limited(t)))
	for l, err := range w.b.Follow(limited(t), end) {
		ok(t, err)
		if l.Pos != end || l.UUID != "follow-from" || string(l.Data) != "1" {
			t.Errorf("%+v, want the line at %d", l, end)
		}
		break
	}
	for l, err := range w.b.Follow(limited(t), end+5) { // a history that lost its last lines
		if err == nil {
			t.Fatalf("there is a line at %d", l.Pos)
		}
		wantErr(t, "after the end", err, cluster.ErrMissing)
	}
}

func forget(t *testing.T, w world) {
	one := add(t, w.a, "forget", 0, "1")
	add(t, w.a, "forget", one, "2")
	kept := add(t, w.a, "forget-not", 0, "kept")
	ok(t, w.b.Forget(limited(t), "forget"))
	equal(t, "lines", texts(t, w.a, "forget", 0), nil)
	equal(t, "lines of another context", texts(t, w.a, "forget-not", 0), []string{"kept"})
	if l := must[cluster.Line](t)(w.a.Last(limited(t), "forget")); l.Pos != 0 {
		t.Errorf("last %+v", l)
	}
	for l, err := range w.a.Follow(limited(t), one) { // passes over the gap
		ok(t, err)
		if l.Pos != kept {
			t.Errorf("the first line is %+v", l)
		}
		break
	}
	if pos := add(t, w.a, "forget", 0, "new"); pos <= kept {
		t.Errorf("a new line is at %d, not after %d", pos, kept)
	}
	ok(t, w.a.Forget(limited(t), "never-there"))
}

// All see one order, in which each context has its own.
func order(t *testing.T, w world) {
	const contexts, lines = 4, 25
	from := must[uint64](t)(w.a.End(limited(t))) + 1
	errs := make(chan error, contexts)
	for i := range contexts {
		bus := []cluster.Bus{w.a, w.b}[i%2]
		ctx := limited(t)
		go func() {
			after, err := uint64(0), error(nil)
			for n := 0; n < lines && err == nil; n++ {
				after, err = bus.Append(ctx, fmt.Sprint("order-", i), after, fmt.Append(nil, n))()
			}
			errs <- err
		}()
	}
	for range contexts {
		ok(t, <-errs)
	}
	var seen [2][]string
	for i, bus := range []cluster.Bus{w.a, w.b} {
		next := map[string]int{}
		for l, err := range bus.Follow(limited(t), from) {
			ok(t, err)
			if string(l.Data) != fmt.Sprint(next[l.UUID]) {
				t.Fatalf("%s: %s instead of %d", l.UUID, l.Data, next[l.UUID])
			}
			next[l.UUID]++
			if seen[i] = append(seen[i], fmt.Sprint(l.Pos, l.UUID)); len(seen[i]) == contexts*lines {
				break
			}
		}
	}
	if !slices.Equal(seen[0], seen[1]) {
		t.Error("two members see two orders")
	}
}

func ended(t *testing.T, w world) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.a.Append(ctx, "ended", 0, []byte("x"))()
	_, keyErr := w.a.Key(ctx, "ended")
	_, endErr := w.a.End(ctx)
	_, objectErr := w.a.Object(ctx, "ended")
	_, takeErr := w.a.Take(ctx, time.Hour)
	for what, err := range map[string]error{"append": err, "key": keyErr, "end": endErr, "object": objectErr, "take": takeErr} {
		if !errors.Is(err, context.Canceled) && !errors.Is(err, cluster.ErrUnreachable) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
