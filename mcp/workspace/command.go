package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"agent/internal/sandbox"
)

const (
	defaultTimeout = 100  // seconds; less than a client waits, so that it gets the output
	maxTimeout     = 1800 // seconds
	drainTime      = time.Second
	killTime       = 5 * time.Second // for the processes that a command leaves
)

type commandArgs struct {
	Argv    []string `json:"argv"`
	Timeout *int     `json:"timeout_seconds"`
}

func (w *workspace) runCommand(ctx context.Context, args commandArgs) (string, error) {
	seconds := defaultTimeout
	if args.Timeout != nil {
		seconds = *args.Timeout
	}
	switch {
	case len(args.Argv) == 0 || args.Argv[0] == "":
		return "", errors.New(`argv must name a program, for example ["go", "test", "./..."]`)
	case seconds < 1 || seconds > maxTimeout:
		return "", fmt.Errorf("timeout_seconds must be 1 to %d", maxTimeout)
	}
	limited, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	ran, err := w.run(limited, args.Argv, nil)
	switch {
	case err != nil:
		return "", err
	case ctx.Err() != nil:
		return "", errors.New("the command was cancelled and killed")
	case ran.exceeded != "":
		return "", fmt.Errorf("the command used %s and was killed, with its children; its output:\n%s", ran.exceeded, &ran.output)
	case ran.killed:
		return "", fmt.Errorf("the command did not end within %d s and was killed, with its children; its output:\n%s", seconds, &ran.output)
	}
	if why, known := ends[ran.code]; known {
		return "", fmt.Errorf("the command %s (exit code %d); its output:\n%s", why, ran.code, &ran.output)
	}
	text := fmt.Sprintf("exit code: %d\n%s", ran.code, &ran.output)
	if ran.leftovers {
		text += "\n[processes that the command left running were killed]"
	}
	return text, nil
}

// ends says in words why the kernel ended a command: the bare numbers tell a model nothing.
var ends = map[int]string{
	128 + int(syscall.SIGXFSZ): "wrote a file that is larger than the limit of 4 GiB and was killed",
	128 + int(syscall.SIGXCPU): "used more processor time than it may and was killed",
	128 + int(syscall.SIGKILL): "was killed from outside, as the system does when memory runs out",
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
// nobody changes.
func (w *workspace) run(ctx context.Context, argv, env []string) (*ran, error) {
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
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = w.dir
	cmd.Env = slices.Concat(environment(), []string{"GIT_TERMINAL_PROMPT=0"}, env)
	cmd.Stdout, cmd.Stderr = theirs, theirs // one pipe keeps the order
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = w.start(cmd)
	_ = theirs.Close()
	if err != nil {
		return nil, fmt.Errorf("cannot run %q: %w", argv[0], unwrapped(err))
	}
	r := new(ran)
	drained := make(chan struct{})
	go func() { _, _ = io.Copy(&r.output, out); close(drained) }()
	w.wait(ctx, cmd, r)
	r.leftovers, err = w.endProcesses()
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-drained:
	case <-timer.C: // something outside of our reach holds the pipe
		_ = out.Close()
		<-drained
	}
	return r, err
}

// keepProcesses lets processes live on after their call. Tests set it, to show
// what would happen then.
var keepProcesses = false

// endProcesses kills what a program has left running, and reports whether there was anything.
func (w *workspace) endProcesses() (any bool, err error) {
	if keepProcesses {
		return false, nil
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
	for running := true; running; {
		select {
		case <-exited:
			running = false
		case <-ctx.Done():
			r.killed, running = true, false
		case <-tick.C:
			r.exceeded = w.policy.Exceeded(w.dir, os.TempDir())
			running = r.exceeded == ""
		}
	}
	_ = syscall.Kill(group, syscall.SIGKILL)
	<-exited
	r.code = cmd.ProcessState.ExitCode()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		r.code = 128 + int(status.Signal())
	}
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
