package main

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// sweep tries all points.
type sweep struct {
	*lab
	every   int
	both    bool
	workers int
	until   time.Time
	want    end
	made    []string // calls of the undisturbed run, in order

	mu      sync.Mutex
	tallies map[string]*tally
	skipped int
}

// tally is what came of the points at one kind of call.
type tally struct {
	points, killed, failed int
	logs                   map[int]bool // lengths in events of the logs that the kills left
}

// point is a moment in the life of a process: before or after its n-th call.
type point struct {
	n     int
	after bool
}

func (s *sweep) all() error {
	if err := s.reference(); err != nil {
		return fmt.Errorf("the undisturbed run: %w", err)
	}
	points := s.points()
	var workers sync.WaitGroup
	work := make(chan point)
	for range s.workers {
		workers.Go(func() {
			for p := range work {
				s.one(p)
			}
		})
	}
	for i, p := range points {
		if i%20 == 0 {
			fmt.Printf("%d of %d\n", i, len(points))
		}
		work <- p
	}
	close(work)
	workers.Wait()
	return s.report()
}

// points lists what is tried: every call, before it and after it, or one of the
// two by turns. Two runs do not make exactly the same calls, so the last kills may
// find nobody.
func (s *sweep) points() (list []point) {
	for n := 1; n <= len(s.made); n += s.every {
		after := n/s.every%2 == 1
		list = append(list, point{n, after})
		if s.both {
			list = append(list, point{n, !after})
		}
	}
	return list
}

// reference plays the scenario undisturbed, and once more under the tracer.
func (s *sweep) reference() error {
	w, err := s.newScene()
	if err != nil {
		return err
	}
	defer w.close()
	if code, out := w.run(); code != 0 {
		return fmt.Errorf("exit code %d\n%s", code, out)
	}
	if s.want, err = w.look(); err != nil {
		return err
	}
	counted, err := s.newScene()
	if err != nil {
		return err
	}
	defer counted.close()
	code, out, made := counted.traced(0, false)
	if code != 0 {
		return fmt.Errorf("exit code %d under the tracer\n%s", code, out)
	}
	s.made = made
	got, err := counted.look()
	return errors.Join(err, got.compare(s.want))
}

// one tries a point and notes what came of it.
func (s *sweep) one(p point) {
	if time.Now().After(s.until) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.skipped++
		return
	}
	made, left, err := s.try(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	name := "(none)"
	if len(made) == p.n {
		name = made[p.n-1]
	}
	t := s.tallies[name]
	if t == nil {
		t = &tally{logs: map[int]bool{}}
		s.tallies[name] = t
	}
	t.points++
	t.logs[left] = true
	if len(made) == p.n {
		t.killed++
	}
	if err != nil {
		t.failed++
		fmt.Printf("FAILED at call %d (%s), after it %v: %v\n", p.n, name, p.after, err)
	}
}

// try kills one run, lets the next one finish, and compares. It returns the calls
// that were made up to the kill, and how many events that left.
func (s *sweep) try(p point) (made []string, events int, err error) {
	w, err := s.newScene()
	if err != nil {
		return nil, 0, err
	}
	defer w.close()
	code, out, made := w.traced(p.n, p.after)
	if code != 0 && code != killedCode {
		return made, 0, fmt.Errorf("exit code %d under the tracer\n%s", code, out)
	}
	left := w.wholeLines()
	if code, out = w.run(); code != 0 {
		return made, len(left), fmt.Errorf("exit code %d\n%s", code, out)
	}
	got, err := w.look()
	if err == nil {
		err = errors.Join(prefixed(w.wholeLines(), left), got.compare(s.want))
	}
	return made, len(left), errors.Join(err, w.leftovers(got.kept))
}

// report prints the table and returns what failed.
func (s *sweep) report() error {
	const form = "%-10s %7v %7v %7v %7v %7v\n"
	fmt.Printf("\n"+form, "call", "made", "points", "killed", "logs", "failed")
	made := map[string]int{}
	for _, name := range s.made {
		made[name]++
	}
	var names []string
	var sum tally
	for name, t := range s.tallies {
		names = append(names, name)
		sum.failed, sum.killed = sum.failed+t.failed, sum.killed+t.killed
	}
	slices.Sort(names)
	for _, name := range names {
		t := s.tallies[name]
		fmt.Printf(form, name, made[name], t.points, t.killed, len(t.logs), t.failed)
	}
	fmt.Printf("%d calls, %d kills, %d with a wrong outcome, %d points left out for lack of time\n",
		len(s.made), sum.killed, sum.failed, s.skipped)
	switch {
	case sum.failed > 0:
		return fmt.Errorf("%d points failed", sum.failed)
	case sum.killed == 0:
		return errors.New("nothing was killed: the sweep proves nothing")
	}
	return nil
}
