// Crash kills the real agent at its system calls and looks whether the next run
// makes good.
//
// The scenario: a labelled issue on a forge, a scripted model, both in this
// process; the agent with its tool server, a git clone, a command that appends
// to a file, an edit, a pushed branch, a pull request. It is played once
// undisturbed. Then, for every system call that writes, syncs, renames, creates,
// removes or sends, and for n = 1, 2, 3 …, strace kills the agent with SIGKILL as
// a thread makes its n-th such call, until a run survives; what the agent has
// started is not traced. After each kill the agent is run again and the outcome
// is held against the undisturbed one: comments, labels, the pushed branch, the
// pull request, the log, and how often the command ran.
//
//	go run ./internal/crash [-every N] [-calls write,fsync]
//
// It needs strace, git and go, and no network. Exit code 1: something differs.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// calls are the system calls at which the agent is killed.
var calls = []string{"write", "pwrite64", "writev", "fsync", "fdatasync", "rename", "renameat", "renameat2",
	"sendto", "sendmsg", "unlinkat", "mkdirat", "openat", "ftruncate", "linkat", "flock"}

func main() {
	every := flag.Int("every", 1, "try every N-th point only")
	only := flag.String("calls", strings.Join(calls, ","), "system calls to kill at")
	limit := flag.Duration("limit", 20*time.Minute, "begin no more points after this time")
	flag.Parse()
	if err := run(*every, strings.Split(*only, ","), *limit); err != nil {
		fmt.Fprintln(os.Stderr, "crash:", err)
		os.Exit(1)
	}
}

func run(every int, names []string, limit time.Duration) error {
	dir, err := os.MkdirTemp("", "agent-crash-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	l := &lab{dir: dir, agent: filepath.Join(dir, "agent")}
	build := exec.Command("go", "build", "-o", l.agent, "./cmd/agent")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	if err := l.makeOrigin(); err != nil {
		return err
	}
	s := sweep{lab: l, every: every, names: names, until: time.Now().Add(limit)}
	return s.all()
}
