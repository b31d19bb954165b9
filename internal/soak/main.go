// Soak lets the real program work for a long time, on both forges at once, while what
// goes wrong in months goes wrong in minutes. An operator would learn from it whether
// anything is lost, done twice, or grows.
//
// One store serves a GitHub and a GitLab. People open issues, ask for more, thank, take
// labels away, pause and resume. One loop runs undisturbed; a second one and runs like
// those of cron are killed with SIGKILL. The forges fail before and after they store, and
// their limits are used up; so does the model. Every minute it prints a line.
//
//	go run ./internal/soak [-for 1h] [-pace 2s] [-seed 1] [-nats PROGRAM [-workers 4] [-wrong TAG | -measure]]
//
// With -nats several machines work together, each with a clock of its own and, where the soak
// runs as root, a disk and a network (a namespace). Three servers of NATS are processes that are
// killed: one, the leader, all. The machines are killed, stopped for longer than a lease
// (most of all between an intent and its outcome), cut off with and without a word, partitioned, their
// disks fill up, and their clocks are set.
//
// At the end each task must have ended as its person meant it, each comment must stand
// once, each label must have been given as often as its log says, each branch must be one
// of a log and hold its file, each log must be whole and replay, and the machines must have
// the same ones. Memory, open files, threads and directories of the last third must be
// those of the first.
//
// -wrong builds the program with a fault, nofence or noleasecheck, which must be found.
// -measure prints how fast a cluster is, and fails if that is slower than its goals.
//
// It needs Linux, git and go, and no network. Exit code 1: something is wrong.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"agent/internal/world"
	"agent/llm/llmtest"
)

func main() {
	var s soak
	flag.DurationVar(&s.length, "for", time.Hour, "how long")
	flag.DurationVar(&s.pace, "pace", 2*time.Second, "a new task so often")
	flag.Uint64Var(&s.seed, "seed", 1, "of what is random")
	flag.StringVar(&s.agent, "agent", "", "the program; built if it is not named")
	flag.StringVar(&s.node, "nats", "", "program of a NATS server: several machines work together")
	flag.IntVar(&s.workers, "workers", 4, "how many")
	flag.StringVar(&s.wrong, "wrong", "", "build tag of a fault that must be found: nofence, noleasecheck")
	measure := flag.Bool("measure", false, "with -nats: measure the cluster instead")
	flag.Parse()
	if s.wrong != "" && (provocations[s.wrong] == nil || s.node == "") {
		fmt.Fprintln(os.Stderr, "soak: -wrong is nofence or noleasecheck, and needs -nats")
		os.Exit(2)
	}
	if !filepath.IsAbs(s.agent) && s.agent != "" {
		s.agent, _ = filepath.Abs(s.agent)
	}
	dir, err := os.MkdirTemp("", "agent-soak-")
	switch {
	case err == nil && *measure:
		err = s.measure(dir)
	case err == nil:
		fmt.Printf("seed %d\n", s.seed)
		err = s.run(dir, os.Stdout)
	}
	if s.wrong != "" && len(s.problems) > 0 {
		fmt.Printf("the fault %s was found\n", s.wrong)
		err = nil
	} else if s.wrong != "" && err == nil {
		err = fmt.Errorf("the fault %s was not found", s.wrong)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "soak: %v\nthe store, the logs and the repositories are kept in %s\n", err, dir)
		os.Exit(1)
	}
	_ = os.RemoveAll(dir) // in the temporary directory anyway
}

// soak is one of them, going on.
type soak struct {
	length, pace time.Duration
	seed         uint64

	out   io.Writer
	agent string
	world *world.World
	model model
	began time.Time
	over  chan struct{} // closed when nothing new is to happen

	node       string
	nodes      *nodes // nil: one machine
	workers    int
	machines   []*machine // of the cluster; the first is left alone
	lease      time.Duration
	wrong      string
	partitions bool     // machines have networks of their own
	loop       *process // the one that is left alone

	mu       sync.Mutex
	rng      *rand.Rand
	tasks    []*task
	problems []error
	counts   counts
	samples  []sample
}

// counts are what happened.
type counts struct {
	kills, runs, outages, limits, pauses          int
	nodes, leaders                                int // of NATS
	stops, effects, cuts, partitions, full, steps int // of machines; effects: stops between an intent and its outcome
}

// run soaks in a directory, and gives what is wrong.
func (s *soak) run(dir string, out io.Writer) error {
	s.out, s.rng, s.over = out, rand.New(rand.NewPCG(s.seed, 1)), make(chan struct{})
	err := s.begin(dir)
	defer s.endMachines()
	if err != nil {
		return err
	}
	defer s.world.Close()
	var work sync.WaitGroup
	for _, f := range s.faults() {
		work.Go(f)
	}
	time.Sleep(s.length)
	close(s.over)
	work.Wait()
	s.settle()
	s.loop.end(s)
	s.checkAll()
	s.printFigures()
	s.line()
	return errors.Join(s.problems...)
}

// faults are what goes on, most of it wrong.
func (s *soak) faults() []func() {
	all := []func(){s.open, s.people, s.watch}
	switch {
	case s.nodes == nil:
		return append(all, s.cron, s.outages, s.victim)
	case s.wrong == "noleasecheck":
		all = append(all, s.slowForges)
	case s.wrong == "":
		all = append(all, s.cron, s.outages, s.nodeFaults)
	}
	for n := 1; n < s.workers; n++ {
		all = append(all, func() { s.disturb(n) })
	}
	return all
}

// disturb lets a machine work, and does what it can against that.
func (s *soak) disturb(n int) {
	if s.wrong != "" {
		s.provoke(n)
	} else {
		s.worker(n)
	}
}

func (s *soak) begin(dir string) error {
	if err := s.build(dir); err != nil {
		return err
	}
	s.lease = 5 * time.Second // short, so that much is taken over
	s.partitions = s.node != "" && os.Geteuid() == 0
	err := s.arrange(world.Options{Dir: dir, Forge: "github", Beside: "gitlab", Model: llmtest.New(s.reply),
		Files: map[string]string{"README.md": "# A project\n"},
		Config: `workers: 3
comment_handling: {enabled: true}
task_stop: {min_check_interval_seconds: 0}
`})
	if err != nil {
		return err
	}
	s.began, s.loop = time.Now(), s.start("loop", "--interval", "2")
	return nil
}

// build makes the program, if none was named.
func (s *soak) build(dir string) error {
	if s.agent != "" {
		return nil
	}
	s.agent = filepath.Join(dir, "agent")
	build := exec.Command("go", "build", "-tags", "clockstep,"+s.wrong, "-o", s.agent, "agent/cmd/agent")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

// arrange makes what the program works with.
func (s *soak) arrange(o world.Options) (err error) {
	if s.node != "" {
		if s.nodes, err = startNodes(s.node, o.Dir); err != nil {
			return err
		}
		o.Config += s.section(s.nodes.addresses())
	}
	if s.world, err = world.New(o); err == nil {
		err = errors.Join(os.Mkdir(s.world.Path("tmp"), 0o700), os.MkdirAll(s.world.Path("workspaces"), 0o700))
	}
	if err == nil && s.nodes != nil {
		err = s.makeMachines()
	}
	return err
}

// problem notes what is wrong.
func (s *soak) problem(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := fmt.Errorf("%s: "+format, append([]any{time.Since(s.began).Round(time.Second)}, args...)...)
	fmt.Fprintln(s.out, "WRONG", err)
	s.problems = append(s.problems, err)
}

// random gives a number below n.
func (s *soak) random(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rng.IntN(n)
}

// count changes the counts.
func (s *soak) count(change func(*counts)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.counts)
}

// pause waits for a span of time; false: the soak is over.
func (s *soak) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-s.over:
		return false
	}
}

// between waits for a random span of time.
func (s *soak) between(least, most time.Duration) bool {
	return s.pause(least + time.Duration(s.random(int(most-least))))
}
