package natstest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// inProcess is a server in this process.
type inProcess struct{ s *server.Server }

func here(t testing.TB, n *node) running {
	opts, err := server.ProcessConfigFile(n.config)
	if err != nil {
		t.Fatal(err)
	}
	opts.NoSigs = true
	s, err := server.NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	s.ConfigureLogger()
	s.Start()
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatalf("server %s does not start", n.name)
	}
	return inProcess{s}
}

func (p inProcess) kill() {
	p.s.Shutdown()
	p.s.WaitForShutdown()
}

func (p inProcess) stop() { p.kill() }

func (inProcess) pause(bool) { panic("a server in this process cannot be stopped alone") }

// build makes the program of a server.
func build(t testing.TB) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "node")
	if text, err := exec.Command("go", "build", "-o", out, "agent/internal/tools/cluster/node").CombinedOutput(); err != nil {
		t.Fatalf("build the server: %v\n%s", err, text)
	}
	return out
}

// child is a server that is a process.
type child struct{ cmd *exec.Cmd }

func process(t testing.TB, program string, n *node) running {
	cmd := exec.Command(program, n.config)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return child{cmd}
}

// CPU is the time of processors that a server has taken, if it is a process.
func (s *Servers) CPU(i int) time.Duration {
	s.t.Helper()
	pid := s.nodes[i].server.(child).cmd.Process.Pid
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		s.t.Fatal(err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')'):])) // the first is the third of the line
	user, err := strconv.Atoi(fields[11])
	system, more := strconv.Atoi(fields[12])
	if err = errors.Join(err, more); err != nil {
		s.t.Fatal(err)
	}
	return time.Duration(user+system) * time.Second / 100
}

func (p child) signal(s syscall.Signal) {
	p.cmd.Process.Signal(s) // one that has ended is no error
}

func (p child) kill() {
	p.signal(syscall.SIGKILL)
	p.cmd.Wait() // tells that it was killed
}

func (p child) stop() {
	p.signal(syscall.SIGTERM)
	p.cmd.Wait()
}

func (p child) pause(stopped bool) {
	if stopped {
		p.signal(syscall.SIGSTOP)
	} else {
		p.signal(syscall.SIGCONT)
	}
}
