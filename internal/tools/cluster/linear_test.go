package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	bus "agent/internal/cluster"
	"agent/internal/cluster/jetstream"
	"agent/internal/exhaustive"
	"agent/internal/tools/cluster/natstest"
)

// Who owns a task is decided by two things that are compared and set: the key that names the
// context of a task, and the last line of a context. Each is a register here: claim or append
// states the value that it follows, and all values differ.

// request is what a worker asks of a register.
type request struct {
	register string
	write    bool
	after    string // the value that must be there, "" for none
	value    string // that is written
}

// answer is what it was told.
type answer struct {
	kind  outcome
	value string // that was read
}

type outcome int

const (
	done outcome = iota
	refused
	unknown // it may have been done, or be done later
)

// registers is what a linearizable bus does. Each register is looked at by itself.
var registers = porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) (parts [][]porcupine.Operation) {
		of := map[string]int{}
		for _, op := range history {
			name := op.Input.(request).register
			if _, ok := of[name]; !ok {
				of[name] = len(parts)
				parts = append(parts, nil)
			}
			parts[of[name]] = append(parts[of[name]], op)
		}
		return parts
	},
	Init: func() []any { return []any{""} },
	Step: func(state, input, output any) []any {
		now, in, out := state.(string), input.(request), output.(answer)
		switch {
		case !in.write && out.value == now, in.write && out.kind != done && now != in.after:
			return []any{now}
		case !in.write:
			return nil
		case now != in.after:
			return nil
		case out.kind == done:
			return []any{in.value}
		case out.kind == refused: // it was stored, its answer was lost, and somebody followed: who asked stops in both cases
			return []any{in.value}
		default:
			return []any{now, in.value}
		}
	},
	Equal:             func(a, b any) bool { return a == b },
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v → %+v", input, output) },
}

// recorder keeps the history of what workers ask.
type recorder struct {
	mu      sync.Mutex
	history []porcupine.Operation
	begun   time.Time
	done    atomic.Int64
}

func (r *recorder) record(client int, in request, ask func() answer) answer {
	call := time.Since(r.begun).Nanoseconds()
	out := ask()
	returned := time.Since(r.begun).Nanoseconds()
	if out.kind == unknown {
		returned = math.MaxInt64 // it may be done at any time from now on
	} else {
		r.done.Add(1)
	}
	if out.kind == unknown && !in.write {
		return out // a read that was not answered tells nothing
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history = append(r.history, porcupine.Operation{ClientId: client, Input: in, Call: call, Output: out, Return: returned})
	return out
}

// kindOf turns an error of the bus into what it says.
func kindOf(err error) outcome {
	switch {
	case err == nil, errors.Is(err, bus.ErrMissing):
		return done
	case errors.Is(err, bus.ErrStale):
		return refused
	default:
		return unknown
	}
}

// register is one thing that is compared and set.
type register interface {
	read(ctx context.Context) (value string, at uint64, err error)
	write(ctx context.Context, at uint64, value string) error
}

type lineOf struct {
	bus.Bus
	context string
}

func (l lineOf) read(ctx context.Context) (string, uint64, error) {
	last, err := l.Last(ctx, l.context)
	return string(last.Data), last.Pos, err
}

func (l lineOf) write(ctx context.Context, at uint64, value string) error {
	_, err := l.Append(ctx, l.context, at, []byte(value))()
	return err
}

type keyOf struct {
	bus.Bus
	key string
}

func (k keyOf) read(ctx context.Context) (string, uint64, error) {
	v, err := k.Key(ctx, k.key)
	return string(v.Data), v.Revision, err
}

func (k keyOf) write(ctx context.Context, at uint64, value string) error {
	_, err := k.SetKey(ctx, k.key, []byte(value), at)
	return err
}

// client reads registers and writes what follows, until it is told to stop.
func (r *recorder) client(n int, of map[string]register, stop <-chan struct{}) {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	var names []string
	for name := range of {
		names = append(names, name)
	}
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(rng.IntN(int(20 * time.Millisecond)))):
		}
		name := names[rng.IntN(len(names))]
		ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
		var at uint64
		read := r.record(n, request{register: name}, func() answer {
			value, pos, err := of[name].read(ctx)
			at = pos
			return answer{kindOf(err), value}
		})
		if read.kind == done {
			in := request{register: name, write: true, after: read.value, value: fmt.Sprint(n, " ", i)}
			r.record(n, in, func() answer { return answer{kind: kindOf(of[name].write(ctx, at, in.value))} })
		}
		cancel()
	}
}

// TestLinearizable kills and stops servers while workers claim and append. What they were
// told must be what one register would have told them.
func TestLinearizable(t *testing.T) {
	exhaustive.Slow(t)
	servers := natstest.StartProcesses(t, 3)
	r := &recorder{begun: time.Now()}
	stop := make(chan struct{})
	var group sync.WaitGroup
	for n := range 5 {
		b := open(t, jetstream.Options{URLs: servers.URLs(), Replicas: 3})
		of := map[string]register{}
		for i := range 2 {
			of[fmt.Sprint("context ", i)] = lineOf{b, fmt.Sprint("context-", i)}
			of[fmt.Sprint("claim ", i)] = keyOf{b, fmt.Sprint("tasks/", i)}
		}
		group.Go(func() { r.client(n, of, stop) })
	}
	inTrouble(t, servers, func(when string) {
		t.Helper()
		for end, want := time.Now().Add(time.Minute), r.done.Load()+200; r.done.Load() < want; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("nothing goes on %s", when)
			}
		}
	})
	close(stop)
	group.Wait()
	if got := check(r.history); got != porcupine.Ok {
		r.explain(t)
		t.Fatalf("%d operations: %s", len(r.history), got)
	}
	t.Logf("%d operations, %d without an answer: linearizable", len(r.history), r.silent())
	r.forge(t)
}

func check(history []porcupine.Operation) porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(registers.ToModel(), history, time.Minute)
}

// explain prints the end of the shortest history of each register that is wrong, and whether it
// is its reads that are.
func (r *recorder) explain(t *testing.T) {
	for _, part := range registers.Partition(r.history) {
		if check(part) == porcupine.Ok {
			continue
		}
		slices.SortFunc(part, func(a, b porcupine.Operation) int { return cmp.Compare(a.Return, b.Return) })
		bad := sort.Search(len(part), func(n int) bool { return check(upTo(part, n)) == porcupine.Illegal })
		shown := upTo(part, bad)
		writes := slices.DeleteFunc(slices.Clone(shown), func(op porcupine.Operation) bool { return !op.Input.(request).write })
		t.Logf("%s: of its writes alone: %s", part[0].Input.(request).register, check(writes))
		for _, op := range shown[max(0, len(shown)-20):] {
			t.Logf("%d %.3f–%.3f s %+v → %+v", op.ClientId, float64(op.Call)/1e9, float64(op.Return)/1e9, op.Input, op.Output)
		}
	}
}

// upTo is a history at the moment when n of its operations had returned, which are sorted by that.
func upTo(part []porcupine.Operation, n int) (history []porcupine.Operation) {
	history = slices.Clone(part[:n])
	for _, op := range part[n:] {
		if op.Input.(request).write && n > 0 && op.Call <= part[n-1].Return {
			op.Output, op.Return = answer{kind: unknown}, math.MaxInt64
			history = append(history, op)
		}
	}
	return history
}

func (r *recorder) silent() (n int) {
	for _, op := range r.history {
		if op.Output.(answer).kind == unknown {
			n++
		}
	}
	return n
}

// forge changes the history to one that must not be, which the check has to notice: writes
// that were refused are told as done.
func (r *recorder) forge(t *testing.T) {
	t.Helper()
	forged, n := slices.Clone(r.history), 0
	for i, op := range forged {
		if op.Output.(answer).kind == refused {
			forged[i].Output = answer{kind: done}
			n++
		}
	}
	if got := check(forged); n == 0 || got != porcupine.Illegal {
		t.Errorf("%d writes by two owners at once are %s for the check", n, got)
	}
}
