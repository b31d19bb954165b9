// Crash kills the real agent at its system calls and looks whether the next run
// makes good.
//
// The scenario: a labelled issue on a forge and a scripted model, both in this
// process; the agent with its tool server, a git clone, a command that appends
// to a file, an edit, a pushed branch, a pull request. It is played once
// undisturbed. Then, for n = 1, 2, 3 …, a tracer kills the agent with SIGKILL at
// its n-th system call that writes, syncs, renames, creates, removes, locks or
// sends, by turns before the call and after it; what the agent has started is
// not traced and dies with it. After each kill the agent is run again and the
// outcome is held against the undisturbed one: comments, labels, the pushed
// branch, the pull request, the log, how often the command ran, and that neither a
// working copy nor a process is left.
//
//	go run ./internal/crash [-every N] [-both] [-limit 10m] [-workers 3]
//
// The tracer is our own: strace counts the calls of each thread by itself, and
// so cannot name most of the calls of a program with many threads.
//
// It needs Linux, git and go, and no network. Exit code 1: something differs.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "trace" {
		os.Exit(traceCommand(os.Args[2:]))
	}
	var s sweep
	flag.IntVar(&s.every, "every", 1, "try every N-th call only")
	flag.BoolVar(&s.both, "both", false, "kill before and after each call, not by turns")
	flag.IntVar(&s.workers, "workers", 3, "points tried at the same time")
	limit := flag.Duration("limit", 15*time.Minute, "begin no more points after this time")
	flag.Parse()
	s.until = time.Now().Add(*limit)
	if err := s.run(); err != nil {
		fmt.Fprintln(os.Stderr, "crash:", err)
		os.Exit(1)
	}
}

func (s *sweep) run() error {
	dir, err := os.MkdirTemp("", "agent-crash-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	s.lab, s.tallies = &lab{dir: dir, agent: filepath.Join(dir, "agent"), self: self}, map[string]*tally{}
	build := exec.Command("go", "build", "-o", s.agent, "./cmd/agent")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	if err := s.makeOrigin(); err != nil {
		return err
	}
	return s.all()
}
