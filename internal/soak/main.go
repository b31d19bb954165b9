// Soak lets the real program work for a long time, on both forges at once, while what
// goes wrong in months goes wrong in minutes. An operator would learn from it whether
// anything is lost, done twice, or grows.
//
// One store serves a GitHub and a GitLab. People open issues, ask for more, thank, take
// labels away, pause and resume. One loop runs undisturbed; a second one and runs like
// those of cron are killed with SIGKILL. The forges fail before and after they store, and
// their limits are used up; so does the model. Every minute it prints a line.
//
//	go run ./internal/soak [-for 1h] [-pace 2s] [-seed 1] [-nats PROGRAM [-workers 4]]
//
// With -nats several machines work together, each with a store of its own and, where the
// soak runs as root, working copies of its own: three servers of NATS are processes that
// are killed, one or all, and the machines are killed and stopped for longer than a lease.
//
// At the end each task must have ended as its person meant it, each comment must stand
// once, each branch must hold its file, each log must be whole and replay. Memory, open
// files, threads and directories of the last third must be those of the first.
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
	flag.Parse()
	dir, err := os.MkdirTemp("", "agent-soak-")
	if err == nil {
		err = s.run(dir, os.Stdout)
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

	node    string
	nodes   *nodes // nil: one machine
	workers int
	loop    *process // the one that is left alone

	mu       sync.Mutex
	rng      *rand.Rand
	tasks    []*task
	problems []error
	counts   counts
	samples  []sample
}

// counts are what happened.
type counts struct{ kills, runs, outages, limits, pauses, stops, nodes int }

// run soaks in a directory, and gives what is wrong.
func (s *soak) run(dir string, out io.Writer) error {
	s.out, s.rng, s.over = out, rand.New(rand.NewPCG(s.seed, 1)), make(chan struct{})
	err := s.begin(dir)
	defer s.nodes.stop()
	if err != nil {
		return err
	}
	defer s.world.Close()
	var work sync.WaitGroup
	faults := []func(){s.open, s.people, s.cron, s.outages, s.watch}
	if s.nodes == nil {
		faults = append(faults, s.victim)
	} else {
		faults = append(faults, s.nodeFaults)
		for n := 1; n < s.workers; n++ {
			faults = append(faults, func() { s.worker(n) })
		}
	}
	for _, f := range faults {
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

func (s *soak) begin(dir string) error {
	if s.agent == "" {
		s.agent = filepath.Join(dir, "agent")
		build := exec.Command("go", "build", "-o", s.agent, "agent/cmd/agent")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build: %w\n%s", err, out)
		}
	}
	section := ""
	if s.node != "" {
		var err error
		if s.nodes, err = startNodes(s.node, dir); err != nil {
			return err
		}
		section = s.nodes.section()
	}
	var err error
	s.world, err = world.New(world.Options{Dir: dir, Forge: "github", Beside: "gitlab", Model: llmtest.New(s.reply),
		Files: map[string]string{"README.md": "# A project\n"},
		Config: `workers: 3
comment_handling: {enabled: true}
task_stop: {min_check_interval_seconds: 0}
` + section})
	if err == nil {
		err = errors.Join(os.Mkdir(s.world.Path("tmp"), 0o700), os.MkdirAll(s.world.Path("workspaces"), 0o700))
	}
	if err == nil && s.nodes != nil {
		err = s.writeConfigs()
	}
	if err != nil {
		return err
	}
	s.began, s.loop = time.Now(), s.start("loop", "--interval", "2")
	return nil
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
