package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"agent/contexts"
	"agent/forge/forgetest"
)

// lives runs processes one after the other until one has nothing to complain
// about, and returns their exit codes.
func (w *world) lives(most int) (codes []int, err error) {
	for range most {
		err = w.born().run()
		codes = append(codes, code(err))
		if err == nil {
			return codes, nil
		}
	}
	return codes, err
}

// trial is a world in which something else than the agent fails.
type trial struct {
	name   string
	damage func(w *world)
	most   int                               // processes until the end
	check  func(w *world, codes []int) error // may be nil
}

func (tr trial) try(t testing.TB, want reference) error {
	w := newWorld(t, want.scenario)
	defer w.close()
	tr.damage(w)
	codes, err := w.lives(tr.most)
	if err != nil {
		return fmt.Errorf("exit codes %v: %w", codes, err)
	}
	got, err := w.verify()
	if err == nil && tr.check != nil {
		err = tr.check(w, codes)
	}
	if err != nil {
		return err
	}
	return got.compare(want.end)
}

func (tr trial) String() string { return tr.name }

// Every comment, edit, label change and pull request whose answer is lost in
// any way: none twice, none missing.
func TestLostAnswers(t *testing.T) {
	want := undisturbed(t, correction)
	var trials []trial
	for _, kind := range []forgetest.FaultKind{forgetest.Store500, forgetest.Store502HTML, forgetest.StoreDrop,
		forgetest.StoreGarbled, forgetest.Drop, forgetest.ListLag, forgetest.Secondary, forgetest.TooMany} {
		for _, n := range want.writeAt {
			fault := forgetest.Fault{Nth: n, Kind: kind, Lists: 1}
			trials = append(trials, trial{name: fmt.Sprintf("%s, request %d", kind, n), most: 1,
				damage: func(w *world) { w.forge.Fault(fault) }})
		}
	}
	sweep(t, want, trials)
}

// A request that does not arrive, and a limit that is too long to wait for: what
// this run cannot do, the next one does.
func TestForgeOutOfReach(t *testing.T) {
	want := undisturbed(t, correction)
	var trials []trial
	for n := 1; n <= want.forgeRequests; n++ {
		for _, fault := range []forgetest.Fault{
			{Nth: n, Kind: forgetest.Drop}, {Nth: n, Kind: forgetest.TooMany, RetryAfter: 5 * time.Minute},
		} {
			trials = append(trials, trial{name: fmt.Sprintf("%s, request %d", fault.Kind, n), most: 2,
				damage: func(w *world) { w.forge.Fault(fault) },
				check: func(w *world, codes []int) error {
					if len(codes) == 2 && codes[0] != contexts.ExitTemporary {
						return fmt.Errorf("exit codes %v", codes)
					}
					return nil
				}})
		}
	}
	sweep(t, want, trials)
}

// A limit or an outage outlasts many runs, which follow each other in seconds in a loop. The
// request is opened all the same: after five runs the work had ended without one.
func TestChangeOutlastsRuns(t *testing.T) {
	want := undisturbed(t, correction)
	for _, kind := range []forgetest.FaultKind{forgetest.TooMany, forgetest.Secondary, forgetest.Drop, forgetest.Store502HTML} {
		tr := trial{name: string(kind), most: 60, damage: func(w *world) {
			w.forge.Fault(forgetest.Fault{Method: "POST", Path: ".*/pulls", Times: 50, Kind: kind, RetryAfter: 5 * time.Minute})
		}, check: func(_ *world, codes []int) error {
			if kind == forgetest.TooMany && len(codes) < 20 {
				return fmt.Errorf("only %d runs", len(codes))
			}
			return nil
		}}
		if err := tr.try(t, want); err != nil {
			t.Errorf("%s: %v", tr, err)
		}
	}
}

// The answer is lost, the lists lag, and the process dies: the next one looks twice.
func TestLaggingListAfterAKill(t *testing.T) {
	want := undisturbed(t, correction)
	var trials []trial
	for n := int64(1); n <= want.contacts; n++ {
		trials = append(trials, trial{name: fmt.Sprintf("contact %d", n), most: 1, damage: func(w *world) {
			w.forge.Fault(forgetest.Fault{Method: "POST", Path: ".*/comments", Times: -1, Kind: forgetest.ListLag, Lists: 1})
			l := w.born()
			l.last, l.after = n, true
			_ = l.run()
			w.disk = w.disk.Kill()
		}, check: func(w *world, _ []int) error {
			if slices.ContainsFunc(w.slept, func(d time.Duration) bool { return d != 10*time.Second }) {
				return fmt.Errorf("slept %v", w.slept)
			}
			return nil
		}})
	}
	sweep(t, want, trials)
}

// The token is refused from the n-th request on: state is kept, a person is
// called for, and with a good token everything ends as if nothing had been.
func TestRefusedToken(t *testing.T) {
	want := undisturbed(t, correction)
	var trials []trial
	for n := 1; n <= want.forgeRequests; n++ {
		trials = append(trials, trial{name: fmt.Sprintf("request %d", n), most: 1, damage: func(w *world) {
			w.forge.Fault(forgetest.Fault{Nth: n, Times: -1, Kind: forgetest.Unauthorized})
			if got := code(w.born().run()); got != contexts.ExitConfig {
				w.t.Errorf("request %d: exit code %d", n, got)
			}
			w.forge.ClearFaults()
		}})
	}
	sweep(t, want, trials)
}

// The disk fails at every operation, once: nothing is done after the error, the
// exit code says what it was, and the next process finishes.
func TestDiskFails(t *testing.T) {
	want := undisturbed(t, correction)
	var points []diskFailure
	for n := 1; n <= want.operations; n++ {
		for _, err := range []error{syscall.EIO, syscall.ENOSPC} {
			points = append(points, diskFailure{n, err})
		}
	}
	sweep(t, want, points)
}

type diskFailure struct {
	operation int
	err       error
}

func (d diskFailure) String() string { return fmt.Sprintf("operation %d: %v", d.operation, d.err) }

func (d diskFailure) try(t testing.TB, want reference) error {
	w := newWorld(t, want.scenario)
	defer w.close()
	l := w.born()
	l.failAt = d.operation
	w.disk.FailAt(d.operation, d.err)
	wantCode := contexts.ExitIO
	if errors.Is(d.err, syscall.ENOSPC) {
		wantCode = contexts.ExitTemporary
	}
	// Without an error it was a projection file, which is made again.
	if err := l.run(); err != nil && (l.late > 0 || code(err) != wantCode) {
		return fmt.Errorf("%d effects after the failure, exit code %d: %w", l.late, code(err), err)
	}
	if codes, err := w.lives(1); err != nil {
		return fmt.Errorf("exit codes %v: %w", codes, err)
	}
	got, err := w.verify()
	if err != nil {
		return err
	}
	return got.compare(want.end)
}
