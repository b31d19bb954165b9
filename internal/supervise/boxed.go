package supervise

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"agent/internal/sandbox"
)

// startBoxed starts the process that arranges the sandbox and runs argv in it.
func startBoxed(p sandbox.Policy, argv []string) (pid int, private *sandbox.Private, err error) {
	sandbox.Undumpable()
	self, err := os.Executable()
	if err != nil {
		return 0, nil, fmt.Errorf("supervise: %w", err)
	}
	if private, err = sandbox.NewPrivate(); err != nil {
		return 0, nil, fmt.Errorf("supervise: %w", err)
	}
	p.Private = private.Dir
	env := p.Environ(os.Environ())
	command := slices.Concat([]string{self}, arguments(insideFlag, argv))
	if pid, err = startInNamespaces(p, command, env); err == nil {
		return pid, private, nil
	}
	without := sandbox.Status{Landlock: sandbox.Available().Landlock, Reason: err.Error()}
	if _, lack := p.CheckOn(without); lack != nil && (p.Required || p.Root != "") {
		private.Remove(removal)
		return 0, nil, lack
	}
	fmt.Fprintln(os.Stderr, "agent: sandbox: no namespaces:", err)
	if pid, err = startInside(p, command, env, sandbox.DieWithParent()); err != nil {
		private.Remove(removal)
	}
	return pid, private, err
}

// startInNamespaces does not ask whether there are any first: the start itself tells.
func startInNamespaces(p sandbox.Policy, command, env []string) (int, error) {
	if reason := sandbox.Restricted(); reason != "" {
		return 0, errors.New(reason)
	}
	attr := sandbox.DieWithParent()
	p.Namespaces(attr)
	sandbox.Dumpable()
	defer sandbox.Undumpable()
	return startInside(p, command, env, attr)
}

func startInside(p sandbox.Policy, command, env []string, attr *syscall.SysProcAttr) (int, error) {
	policy, err := HandOver(p.Text())
	if err != nil {
		return 0, fmt.Errorf("supervise: %w", err)
	}
	defer policy.Close()
	return start(command, env, attr, policy)
}

// inside arranges the sandbox and runs argv in it. It runs on a locked thread,
// which is restricted if argv takes its place.
func inside(p sandbox.Policy, argv []string) (exitCode int) {
	sandbox.Undumpable()
	var lacks, notes []string
	leader := os.Getpid() == 1 // of namespaces: its parent would have this number otherwise
	demanded := p.Required || p.Root != ""
	if leader {
		p, lacks, notes = p.Enter()
	}
	path := os.Getenv("PATH")
	granted := p.Granting(path)
	granted.Leader = leader
	box, err := granted.Box(path)
	if err != nil {
		return notStarted(err)
	}
	if demanded && lacks != nil {
		return notStarted(errors.New("sandbox: it is required, but " + strings.Join(lacks, "; ")))
	}
	for _, note := range slices.Concat(lacks, notes) {
		fmt.Fprintln(os.Stderr, "agent: sandbox:", note)
	}
	env := append(os.Environ(), sandbox.Variable+"="+granted.Text())
	if leader {
		return lead(box, argv, env)
	}
	if err := box.Restrict(); err != nil {
		return notStarted(err)
	}
	return notStarted(syscall.Exec(argv[0], argv, env))
}

// lead runs argv in the box while it stays outside: the first process of
// namespaces has to reap. Its end is the end of all.
func lead(box *sandbox.Box, argv, env []string) (exitCode int) {
	child := 0
	err := box.Start(func() (err error) {
		child, err = start(argv, env, &syscall.SysProcAttr{})
		return err
	})
	if err != nil {
		return notStarted(err)
	}
	closeStreams()
	return reapUntil(child)
}
