package main

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// sweep tries all points.
type sweep struct {
	*lab
	every int
	names []string
	until time.Time
	want  end
	count map[string]threads
}

// threads holds how often each thread made a call, in the undisturbed run.
type threads map[string]int

func (t threads) total() (n int) {
	for _, calls := range t {
		n += calls
	}
	return n
}

func (t threads) most() (n int) {
	for _, calls := range t {
		n = max(n, calls)
	}
	return n
}

// tally is what came of the points of one system call.
type tally struct {
	name             string
	points, survived int
	skipped          int // because time was up
	failed           []string
	logs             map[int]bool // lengths in events of the logs that the kills left
	took             time.Duration
}

func (s *sweep) all() error {
	if err := s.reference(); err != nil {
		return fmt.Errorf("the undisturbed run: %w", err)
	}
	tallies := make([]*tally, len(s.names))
	var workers sync.WaitGroup
	work := make(chan int)
	for range 2 {
		workers.Go(func() {
			for i := range work {
				tallies[i] = s.one(s.names[i])
			}
		})
	}
	for i := range s.names {
		work <- i
	}
	close(work)
	workers.Wait()
	return s.report(tallies)
}

// reference plays the scenario undisturbed, and once more to count.
func (s *sweep) reference() error {
	w, err := s.newWorld()
	if err != nil {
		return err
	}
	defer w.close()
	if code, out := w.run(nil); code != 0 {
		return fmt.Errorf("exit code %d\n%s", code, out)
	}
	if s.want, err = w.look(); err != nil {
		return err
	}
	counted, err := s.newWorld()
	if err != nil {
		return err
	}
	defer counted.close()
	s.count, err = counted.countCalls(s.names)
	return err
}

// one kills at the n-th call, for all n. A thread is killed at its own n-th call,
// and which thread does what differs from run to run: the end is reached when
// two runs in a row survive beyond what was counted.
func (s *sweep) one(name string) *tally {
	t := &tally{name: name, logs: map[int]bool{}}
	start := time.Now()
	for n, calm := 1, 0; calm < 2; n += s.every {
		if time.Now().After(s.until) {
			t.skipped = max(s.count[name].most()-n, 1)
			break
		}
		killed, err := s.point(t, name, n)
		t.points++
		if err != nil {
			t.failed = append(t.failed, fmt.Sprintf("%s %d: %v", name, n, err))
			fmt.Printf("FAILED %s\n", t.failed[len(t.failed)-1])
		}
		if !killed {
			t.survived++
		}
		if calm++; killed || n < s.count[name].most() {
			calm = 0
		}
		if t.points%10 == 0 {
			fmt.Printf("%s: %d of about %d\n", name, n, s.count[name].most())
		}
	}
	t.took = time.Since(start)
	return t
}

// point kills one run, lets the next ones finish, and compares.
func (s *sweep) point(t *tally, name string, n int) (killed bool, err error) {
	w, err := s.newWorld()
	if err != nil {
		return false, err
	}
	defer w.close()
	if killed, err = w.killed(name, n); err != nil {
		return killed, err
	}
	left := w.wholeLines()
	t.logs[len(left)] = true
	for try := 0; ; try++ {
		code, out := w.run(nil)
		if code == 0 {
			break
		}
		if try == 3 {
			return killed, fmt.Errorf("exit code %d\n%s", code, out)
		}
	}
	got, err := w.look()
	if err == nil {
		err = errors.Join(prefixed(w.wholeLines(), left), got.compare(s.want))
	}
	if !killed && err == nil && n <= 1 {
		err = nil // the agent never makes this call
	}
	return killed, err
}

// report prints the table and returns what failed.
func (s *sweep) report(tallies []*tally) error {
	fmt.Printf("\n%-10s %8s %8s %8s %8s %8s %8s %8s\n", "call", "made", "threads", "points", "killed", "logs", "failed", "seconds")
	var failed, killed, skipped int
	for _, t := range tallies {
		k := t.points - t.survived
		fmt.Printf("%-10s %8d %8d %8d %8d %8d %8d %8.1f\n", t.name, s.count[t.name].total(), len(s.count[t.name]),
			t.points, k, len(t.logs), len(t.failed), t.took.Seconds())
		failed, killed, skipped = failed+len(t.failed), killed+k, skipped+t.skipped
	}
	fmt.Printf("%d kills, %d with a wrong outcome, %d left out for lack of time\n", killed, failed, skipped)
	if failed > 0 {
		return fmt.Errorf("%d points failed", failed)
	}
	if killed == 0 {
		return errors.New("nothing was killed: the sweep proves nothing")
	}
	return nil
}
