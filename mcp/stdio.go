package mcp

import (
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"

	"agent/internal/supervise"
)

// stdio is a process with its streams. When the stream of answers ends the
// process is of no use any more and is killed; when the process has exited the
// stream is read to its end.
type stdio struct {
	*process
	stderr   *stderrReader
	ended    chan struct{} // the stream of answers has ended
	streams  sync.WaitGroup
	finished chan struct{} // process and streams are gone
}

// spawn starts the configured command and connects the client to it.
func (c *connection) spawn(config ServerConfig, o Options) error {
	if len(config.Command) == 0 {
		return errNoCommand
	}
	env := config.environment(o.Getenv, o.Secret)
	argv := slices.Clone(config.Command)
	if argv[0] == ownExecutable {
		argv[0] = o.Executable
		if slices.Contains(argv[1:], "mcp") {
			c.late = lateAnswer
		}
	}
	path, err := findCommand(argv[0], env)
	if err != nil {
		return fmt.Errorf("its command %q cannot be run", config.Command[0])
	}
	argv[0] = path
	policy := ""
	if boxed, ok := config.policy(argv, o); ok {
		policy = boxed.Text()
	}
	p, err := startProcess(o.Executable, policy, argv, env)
	if err != nil {
		return fmt.Errorf("its supervisor cannot be run: %w", err)
	}
	s := &stdio{process: p, ended: make(chan struct{}), finished: make(chan struct{})}
	s.stderr = newStderrReader(func(line string) { o.Stderr(config.Name, config.redact(line)) })
	s.streams.Go(func() { s.stderr.drain(p.stderr) })
	out := newLineFilter(p.stdout, maxLine, func() { close(s.ended) })
	c.process = s
	c.client = client.NewClient(captureTransport{transport.NewIO(out, p.stdin, nil), c.late}, client.WithProtocolVersion(protocolVersion))
	go s.watch()
	return nil
}

func (s *stdio) watch() {
	select {
	case <-s.ended:
		s.gone(closeStep / 4) // its exit status tells more than our signal
	case <-s.exited:
	}
	s.kill()
	s.drained(closeStep)
	_ = s.stdout.Close() // in case something outside still holds the other end
	_ = s.process.stderr.Close()
	s.streams.Wait()
	close(s.finished)
}

// drained waits until the last answers are read.
func (s *stdio) drained(within time.Duration) {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-s.ended:
	case <-timer.C:
	}
}

func (s *stdio) finish() { <-s.finished }

func (s *stdio) alive() bool {
	select {
	case <-s.ended:
		return false
	case <-s.exited:
		return false
	default:
		return true
	}
}

// wasKilled tells whether SIGKILL has ended the server: the kernel sends it where memory is short.
func (s *stdio) wasKilled() bool {
	if !s.gone(closeStep) {
		return false
	}
	status := s.state()
	return status.Signaled() || status.ExitStatus() == 128+int(syscall.SIGKILL)
}

// reason says how a dead process ended.
func (s *stdio) reason() string {
	if !s.gone(closeStep) {
		return "it closed its streams"
	}
	status := s.state()
	switch code := status.ExitStatus(); {
	case status.Signaled():
		return "its supervisor was killed"
	case code == supervise.NotStarted:
		return "it could not be run"
	case code > 128:
		return "signal: " + syscall.Signal(code-128).String()
	default:
		return fmt.Sprintf("exit status %d", code)
	}
}
