package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"agent/internal/sandbox"
)

const (
	drainTime = time.Second
	killTime  = 5 * time.Second // for the processes that a command leaves
)

// program is what is run.
type program struct {
	argv []string
	env  []string  // stands before ours, but for what must be as it is
	dir  string    // "" for the root
	most int       // bytes of output that are kept, without out
	out  io.Writer // gets the output
}

// ran is a program that has ended, by itself or not.
type ran struct {
	output    output
	code      int  // 128 plus the number of the signal that ended it
	killed    bool // by the end of the context
	leftovers bool // it left processes behind

	exceeded string // what it used too much of, and was killed for
}

// run runs a program in the root until it ends or ctx does, one at a time. All
// that it has started ends with it: who reads the files afterwards reads what
// nobody changes, unless a command was started in the background.
func (w *workspace) run(ctx context.Context, p program) (*ran, error) {
	select {
	case w.running <- struct{}{}:
		defer func() { <-w.running }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	out, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := w.command(p, theirs)
	err = w.start(cmd)
	_ = theirs.Close()
	if err != nil {
		return nil, fmt.Errorf("cannot run %q: %w", p.argv[0], unwrapped(err))
	}
	r := &ran{output: output{most: p.most}}
	to := p.out
	if to == nil {
		to = &r.output
	}
	drained := make(chan struct{})
	go func() { _, _ = io.Copy(to, out); close(drained) }()
	w.wait(ctx, cmd, r)
	r.leftovers, err = w.endProcesses()
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-drained:
	case <-timer.C: // a command in the background, or something outside of our reach, holds the pipe
		_ = out.Close()
		<-drained
	}
	return r, err
}

// command is a program without input and without a terminal that it could ask on.
func (w *workspace) command(p program, out *os.File) *exec.Cmd {
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	if cmd.Dir = p.dir; p.dir == "" {
		cmd.Dir = w.dir
	}
	cmd.Env = slices.Concat(p.env, environment(), []string{"GIT_TERMINAL_PROMPT=0"})
	cmd.Stdout, cmd.Stderr = out, out // one pipe keeps the order
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// keepProcesses lets processes live on after their call. Tests set it, to show
// what would happen then.
var keepProcesses = false

// endProcesses kills what a program has left running, and reports whether there was
// anything. Commands in the background go on, unless only their end ends the rest.
func (w *workspace) endProcesses() (any bool, err error) {
	if keepProcesses {
		return false, nil
	}
	if jobs := w.jobs.pids(); len(jobs) > 0 {
		if any, err = sandbox.KillChildrenBut(jobs, killTime); err == nil {
			return any, nil
		}
	}
	if any, err = w.policy.KillDescendants(killTime); err != nil {
		err = errors.New("the command left processes that cannot be ended")
	}
	return any, err
}

func (w *workspace) start(cmd *exec.Cmd) error {
	if w.box == nil {
		return cmd.Start()
	}
	return w.box.Start(cmd.Start)
}

// environment is ours, without what is meant for us alone.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, sandbox.Variable+"=") })
}

// watchEvery is the time between two looks at what a program uses.
const watchEvery = 100 * time.Millisecond

// wait waits for the program, and kills its group when ctx ends or it uses too much.
func (w *workspace) wait(ctx context.Context, cmd *exec.Cmd, r *ran) {
	exited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(exited) }()
	group := -cmd.Process.Pid
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	ended := false
	for running := true; running; {
		select {
		case <-exited:
			ended, running = true, false
		case <-ctx.Done():
			r.killed, running = true, false
		case <-tick.C:
			sandbox.ReapChildrenBut(append(w.jobs.pids(), cmd.Process.Pid)...)
			r.exceeded = w.policy.Exceeded(w.dir, os.TempDir())
			running = r.exceeded == ""
		}
	}
	if !ended || runtime.GOOS != "linux" { // else endProcesses kills what is left, and tells whether it lived
		_ = syscall.Kill(group, syscall.SIGKILL)
	}
	<-exited
	r.code = exitCode(cmd)
}

// exitCode is that of a program that has ended, as a shell counts it.
func exitCode(cmd *exec.Cmd) int {
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return cmd.ProcessState.ExitCode()
}

// unwrapped drops the words that repeat the program's name.
func unwrapped(err error) error {
	for _, inner := range []error{exec.ErrNotFound, os.ErrNotExist, os.ErrPermission} {
		if errors.Is(err, inner) {
			return inner
		}
	}
	return err
}
