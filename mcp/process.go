package mcp

import (
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"agent/internal/supervise"
)

// closeStep is how long a server has after each of: the end of its input,
// SIGTERM, and the end of its lifeline.
const closeStep = time.Second

// process is a server under its supervisor, which is the leader of their process group.
type process struct {
	cmd      *exec.Cmd
	stdin    *os.File
	stdout   *os.File
	stderr   *os.File
	lifeline *os.File // the supervisor kills everything when this is closed, by us or by our death
	exited   chan struct{}
	closing  sync.Once
}

// startProcess starts argv with exactly env, supervised by executable, in a
// sandbox if there is a policy.
func startProcess(executable, policy string, argv, env []string) (*process, error) {
	p := &process{exited: make(chan struct{})}
	cmd := exec.Command(executable, supervise.Args(policy != "", argv)...)
	cmd.Env = env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	theirs, err := p.pipes(cmd)
	defer func() { closeAll(theirs) }()
	if err == nil && policy != "" {
		var r *os.File
		r, err = supervise.HandOver(policy)
		theirs, cmd.ExtraFiles = append(theirs, r), append(cmd.ExtraFiles, r)
	}
	if err != nil {
		p.closePipes()
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		p.closePipes()
		return nil, err
	}
	p.cmd = cmd
	go func() { _ = cmd.Wait(); close(p.exited) }()
	return p, nil
}

// pipes connects cmd and returns the child's ends, to be closed by us.
func (p *process) pipes(cmd *exec.Cmd) (theirs []*os.File, err error) {
	pipe := func() (r, w *os.File) {
		if err != nil {
			return nil, nil
		}
		r, w, err = os.Pipe()
		return r, w
	}
	in, stdin := pipe()
	stdout, out := pipe()
	stderr, errs := pipe()
	life, lifeline := pipe()
	p.stdin, p.stdout, p.stderr, p.lifeline = stdin, stdout, stderr, lifeline
	theirs = []*os.File{in, out, errs, life}
	if err == nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = in, out, errs, []*os.File{life}
	}
	return theirs, err
}

func (p *process) closePipes() { closeAll([]*os.File{p.stdin, p.stdout, p.stderr, p.lifeline}) }

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // nil is an error, not a panic
	}
}

// kill ends the server and all it started, at once.
func (p *process) kill() { p.end(0) }

// shutdown asks the server to end, then tells it to, then kills it. It returns when it is gone.
func (p *process) shutdown() { p.end(closeStep) }

func (p *process) end(grace time.Duration) {
	p.closing.Do(func() {
		_ = p.stdin.Close()
		if grace > 0 && !p.gone(grace) {
			p.signal(syscall.SIGTERM)
			p.gone(grace)
		}
		_ = p.lifeline.Close()
		if !p.gone(closeStep) {
			p.signal(syscall.SIGKILL)
		}
		<-p.exited
		if p.state().Signaled() {
			p.signal(syscall.SIGKILL) // the supervisor could not clean up
		}
	})
	<-p.exited
}

func (p *process) gone(within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

func (p *process) signal(sig syscall.Signal) {
	_ = syscall.Kill(-p.cmd.Process.Pid, sig)
}

// state is how the supervisor ended; only after exited is closed.
func (p *process) state() syscall.WaitStatus {
	status, _ := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return status
}

var errNoCommand = errors.New("no command")
