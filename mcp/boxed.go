package mcp

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"agent/internal/sandbox"
)

// policy is what the sandbox of a server lets through, and whether it has one.
// argv is its command line with the program's path.
func (c ServerConfig) policy(argv []string, o Options) (p sandbox.Policy, boxed bool) {
	if c.URL != "" || c.Sandbox != "auto" && c.Sandbox != "required" {
		return p, false
	}
	if home := o.Getenv("HOME"); filepath.IsAbs(home) && home != "/" {
		p.Home = filepath.Clean(home)
	}
	p.Write = slices.Clone(c.Write)
	if c.workspace != "" {
		p.Write = append(p.Write, c.workspace)
	}
	p.Read = slices.Concat(c.Read, sandbox.ForCommand(argv, p.Home))
	if own, err := filepath.EvalSymlinks(o.Executable); err == nil {
		p.Read = append(p.Read, own) // it arranges the sandbox from within
	}
	p.Deny, p.Unnamed = o.Deny, o.Unnamed
	for _, name := range toolchainVariables {
		if path := cmp.Or(c.Env[name], o.Getenv(name)); filepath.IsAbs(path) && path != "/" && (p.Home == "" || !within(p.Home, path)) {
			p.Read = append(p.Read, filepath.Clean(path))
		}
	}
	p.NoNetwork = c.Network == "off"
	p.Required = c.Sandbox == "required"
	p.Keep = slices.Sorted(maps.Keys(c.Env))
	return p, true
}

// toolchainVariables name directories of toolchains.
var toolchainVariables = []string{"GOROOT", "JAVA_HOME", "RUSTUP_HOME", "M2_HOME", "GRADLE_HOME", "DOTNET_ROOT"}

// within tells whether path is dir or below it. Arguments are (path, dir).
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// CheckSandbox says which mechanisms keep a server in here, and as an error what
// is missing; ok is false for a server without a sandbox.
func (c ServerConfig) CheckSandbox() (kind string, lack error, ok bool) {
	p, boxed := c.policy(nil, Options{}.withDefaults())
	if !boxed {
		return "", nil, false
	}
	kind, lack = p.Check()
	return kind, lack, true
}

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
	command := slices.Concat([]string{self, "mcp", "supervise", insideFlag, "--"}, argv)
	if pid, err = startInNamespaces(p, command, env); err == nil {
		return pid, private, nil
	}
	without := sandbox.Status{Landlock: sandbox.Available().Landlock, Reason: err.Error()}
	if _, lack := p.CheckOn(without); lack != nil && p.Required {
		private.Remove(removal)
		return 0, nil, lack
	}
	fmt.Fprintln(os.Stderr, "agent: sandbox: no namespaces:", err)
	if pid, err = startInside(p, command, env, sandbox.DieWithParent()); err != nil {
		private.Remove(removal)
	}
	return pid, private, err
}

func startInNamespaces(p sandbox.Policy, command, env []string) (int, error) {
	if s := sandbox.Available(); !s.Namespaces {
		return 0, errors.New(s.Reason)
	}
	attr := sandbox.DieWithParent()
	p.Namespaces(attr)
	sandbox.Dumpable()
	defer sandbox.Undumpable()
	return startInside(p, command, env, attr)
}

func startInside(p sandbox.Policy, command, env []string, attr *syscall.SysProcAttr) (int, error) {
	policy, err := handOver(p.Text())
	if err != nil {
		return 0, fmt.Errorf("supervise: %w", err)
	}
	defer policy.Close()
	return startSupervised(command, env, attr, policy)
}

// inside arranges the sandbox and runs argv in it. It runs on a locked thread,
// which is restricted if argv takes its place.
func inside(p sandbox.Policy, argv []string) (exitCode int) {
	sandbox.Undumpable()
	var lacks, notes []string
	leader := os.Getpid() == 1 // of namespaces: its parent would have this number otherwise
	if leader {
		p, lacks, notes = p.Enter()
	}
	box, err := p.Box(os.Getenv("PATH"))
	if err != nil {
		return notStarted(err)
	}
	if p.Required && lacks != nil {
		return notStarted(errors.New("sandbox: it is required, but " + strings.Join(lacks, "; ")))
	}
	for _, note := range slices.Concat(lacks, notes) {
		fmt.Fprintln(os.Stderr, "agent: sandbox:", note)
	}
	p.Leader = leader
	env := append(os.Environ(), sandbox.Variable+"="+p.Granting(os.Getenv("PATH")).Text())
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
		child, err = startSupervised(argv, env, &syscall.SysProcAttr{})
		return err
	})
	if err != nil {
		return notStarted(err)
	}
	closeStreams()
	return reapUntil(child)
}
