// Package supervise runs a command for us, and ends all that it started when we end.
//
// A supervisor is this executable again: `agent mcp supervise [--sandbox] -- COMMAND...`.
// Package init takes it over, see there.
package supervise

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
	"time"

	"agent/internal/sandbox"
)

// lifeline is the descriptor on which a supervisor notices the death of the
// process that started it: the other end is held by that process only.
const lifeline = 3

// The descriptors on which a supervisor with a sandbox, and the process that
// arranges it, read the policy.
const (
	policyOfSupervisor = 4
	policyOfInside     = 3
)

// NotStarted is what a supervisor exits with when it cannot start its command.
const NotStarted = 127

// removal is how long a supervisor removes the private directory of its sandbox,
// and orphanedRemoval if it has to end within a second of the agent.
const (
	removal         = 2 * time.Second
	orphanedRemoval = 300 * time.Millisecond
)

// init begins a supervisor at once. It has nothing to do with most of the program, and Go
// initializes packages in the order of their paths as soon as what they import is ready: what
// comes later, most of all the schema library, takes longer than all that a supervisor does.
func init() {
	if a := os.Args; len(a) > 2 && a[1] == words[0] && a[2] == words[1] {
		os.Exit(run(a[3:]))
	}
}

var words = []string{"mcp", "supervise"}

// Args are the arguments of this executable for a supervisor of argv.
func Args(boxed bool, argv []string) []string {
	if boxed {
		return arguments(sandboxFlag, argv)
	}
	return slices.Concat(words, []string{"--"}, argv)
}

func arguments(mode string, argv []string) []string {
	return slices.Concat(words, []string{mode, "--"}, argv)
}

// run runs a command as a child, with its own standard streams, until the
// child exits or descriptor 3 reaches its end, and then kills every process
// that the child has left: all descendants on Linux, the process group
// elsewhere. It returns the child's exit status, 128 plus the signal's number
// if a signal ended it, or 127 if it did not start.
//
// With --sandbox a policy is read from descriptor 4,
// and the child is again this executable (`--inside`, policy on descriptor 3), which arranges the sandbox and then runs the
// command; it leads the namespaces and takes all that is in them with it.
//
// A parent-death signal alone would reach only the child itself, and a process
// that is killed with SIGKILL cannot clean up, so somebody else has to outlive it.
func run(args []string) (exitCode int) {
	sandbox.Undumpable()
	runtime.LockOSThread() // the parent-death signal follows the thread, and this one ends with the process
	mode, policy, argv, err := parse(args)
	switch {
	case err != nil:
		return notStarted(err)
	case mode == insideFlag:
		return inside(policy, argv)
	}
	sandbox.BecomeReaper()
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP) // the child decides what they mean
	syscall.CloseOnExec(lifeline)
	orphaned, started := make(chan struct{}), make(chan struct{})
	go func() { awaitEnd(os.NewFile(lifeline, "lifeline")); close(orphaned) }()
	go endWhileStarting(orphaned, started)
	child, private, err := startEither(mode, policy, argv)
	close(started)
	if err != nil {
		return notStarted(err)
	}
	release := func() {}
	if private != nil {
		release = sandbox.Bound(child, sandbox.MostTasks, sandbox.MostMemory())
	}
	closeStreams()
	exited := make(chan int, 1)
	go func() { exited <- reapUntil(child) }()
	limit := removal
	select {
	case exitCode = <-exited:
		killDescendants()
	case <-orphaned:
		killDescendants()
		exitCode = 128 + int(syscall.SIGKILL)
		limit = orphanedRemoval
	}
	if private != nil {
		private.Remove(limit)
	}
	release()
	return exitCode
}

// endWhileStarting ends all if the agent dies before the child runs: on a busy
// machine a sandbox takes long to set up. What is half made the next one removes.
func endWhileStarting(orphaned, started <-chan struct{}) {
	select {
	case <-started:
	case <-orphaned:
		killDescendants()
		os.Exit(128 + int(syscall.SIGKILL))
	}
}

const (
	sandboxFlag = "--sandbox"
	insideFlag  = "--inside"
)

func parse(args []string) (mode string, policy sandbox.Policy, argv []string, err error) {
	if len(args) == 0 {
		return "", policy, nil, fmt.Errorf("supervise: no command")
	}
	if fd := map[string]uintptr{sandboxFlag: policyOfSupervisor, insideFlag: policyOfInside}[args[0]]; fd != 0 {
		mode, args = args[0], args[1:]
		if policy, err = readPolicy(fd); err != nil {
			return mode, policy, nil, err
		}
	}
	if len(args) < 2 || args[0] != "--" {
		return mode, policy, nil, fmt.Errorf("supervise: no command")
	}
	return mode, policy, args[1:], nil
}

func readPolicy(fd uintptr) (sandbox.Policy, error) {
	f := os.NewFile(fd, "policy")
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return sandbox.Policy{}, fmt.Errorf("supervise: the policy: %w", err)
	}
	return sandbox.Parse(string(text))
}

func notStarted(err error) int {
	fmt.Fprintln(os.Stderr, "agent:", err)
	return NotStarted
}

func startEither(mode string, policy sandbox.Policy, argv []string) (pid int, private *sandbox.Private, err error) {
	if mode == sandboxFlag {
		return startBoxed(policy, argv)
	}
	pid, err = start(argv, os.Environ(), sandbox.DieWithParent())
	return pid, nil, err
}

func start(argv, env []string, attr *syscall.SysProcAttr, more ...*os.File) (pid int, err error) {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return 0, fmt.Errorf("supervise: %w", err)
	}
	p, err := os.StartProcess(path, argv, &os.ProcAttr{
		Env:   env,
		Files: append([]*os.File{os.Stdin, os.Stdout, os.Stderr}, more...),
		Sys:   attr,
	})
	if err != nil {
		return 0, fmt.Errorf("supervise: %w", err)
	}
	return p.Pid, nil
}

// closeStreams leaves the pipes to the child alone: their other end must see
// them break when the child closes them or dies.
func closeStreams() {
	for _, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		_ = f.Close()
	}
}

// reapUntil collects dead children, adopted ones too, until pid is among them.
func reapUntil(pid int) int {
	for {
		var status syscall.WaitStatus
		got, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return NotStarted
		case got == pid && status.Signaled():
			return 128 + int(status.Signal())
		case got == pid:
			return status.ExitStatus()
		}
	}
}

func awaitEnd(f *os.File) {
	_, _ = io.Copy(io.Discard, f)
}

// HandOver gives a pipe from which text is read. The arguments of a process and
// its environment are seen by others.
func HandOver(text string) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	go func() {
		_, _ = io.WriteString(w, text) // who does not read it reports that
		_ = w.Close()
	}()
	return r, nil
}
