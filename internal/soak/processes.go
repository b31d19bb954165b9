package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// process is the agent, running.
type process struct {
	cmd   *exec.Cmd
	out   bytes.Buffer
	done  chan struct{}
	code  int // -1 after a signal
	ended time.Time
}

// start starts the agent. What it lacks to start is a problem of its exit code.
func (s *soak) start(args ...string) *process { return s.startOn(0, args...) }

// startOn is start on another machine of the cluster.
func (s *soak) startOn(worker int, args ...string) *process {
	argv := append([]string{s.agent}, append(args, "--config", s.configOf(worker))...)
	if s.nodes != nil {
		argv = s.machines[worker].run(s.world.Path("workspaces"), argv)
	}
	p := &process{cmd: exec.Command(argv[0], argv[1:]...), done: make(chan struct{})}
	p.cmd.Dir = s.world.Dir
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.world.Dir, "TMPDIR=" + s.world.Path("tmp"), "LANG=C.UTF-8", "AGENT_CLOCK=" + s.clockOf(worker)}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	p.cmd.WaitDelay = 5 * time.Second
	if err := p.cmd.Start(); err != nil {
		p.code = -2
		close(p.done)
		return p
	}
	go func() {
		err := p.cmd.Wait()
		var exit *exec.ExitError
		if p.code = p.cmd.ProcessState.ExitCode(); err != nil && !errors.As(err, &exit) {
			p.out.WriteString(err.Error())
		}
		p.ended = time.Now()
		close(p.done)
	}()
	return p
}

// wait gives the exit code and the output, and kills what takes too long.
func (p *process) wait(most time.Duration) (code int, out string) {
	select {
	case <-p.done:
	case <-time.After(most):
		_ = p.cmd.Process.Signal(syscall.SIGQUIT) // its goroutines are in the output
		<-p.done
	}
	return p.code, tail(p.out.String())
}

func tail(text string) string {
	const most = 1500
	return text[max(len(text)-most, 0):]
}

// kill ends it with SIGKILL; false: it had ended.
func (p *process) kill() bool {
	select {
	case <-p.done:
		return false
	default:
	}
	_ = p.cmd.Process.Kill()
	<-p.done
	return true
}

// end asks the loop to end, which it does with 0.
func (p *process) end(s *soak) {
	select {
	case <-p.done:
		s.problem("the loop ended by itself with %d: %s", p.code, tail(p.out.String()))
		return
	default:
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	if code, out := p.wait(time.Minute); code != 0 {
		s.problem("the loop ends at SIGTERM with %d: %s", code, out)
	}
}

// cron runs the agent as cron does, and kills half of the runs. What is collected once a
// day is collected more often.
func (s *soak) cron() {
	for n := 1; s.between(2*time.Second, 8*time.Second); n++ {
		args := []string{"run", "--quiet"}
		if n%10 == 0 {
			args = []string{"gc"}
		}
		p := s.start(args...)
		if s.random(2) == 0 {
			time.Sleep(time.Duration(s.random(int(4 * time.Second)))) // the fault, not a wait for something
			if p.kill() {
				s.count(func(c *counts) { c.kills++ })
				continue
			}
		}
		code, out := p.wait(5 * time.Minute)
		s.count(func(c *counts) { c.runs++ })
		if code != 0 && code != 75 {
			s.problem("a run ends with %d: %s", code, out)
		}
	}
}

// victim is a second loop that is killed again and again.
func (s *soak) victim() {
	for more := true; more; {
		p := s.start("loop", "--interval", "1")
		more = s.between(2*time.Second, 20*time.Second)
		if p.kill() {
			s.count(func(c *counts) { c.kills++ })
		} else {
			s.problem("a loop ended by itself with %d: %s", p.code, tail(p.out.String()))
		}
	}
}
