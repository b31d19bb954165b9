package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"agent/mcp"

	"go.uber.org/goleak"
)

// TestMain lets the test binary stand for the agent's executable:
// misbehaving servers, and a whole agent that gets killed.
func TestMain(m *testing.M) {
	args := os.Args[1:]
	switch {
	case len(args) > 1 && args[0] == "fake":
		runFake(args[1], args[2:])
	case len(args) > 1 && args[0] == "victim":
		runVictim(args[1], fake("family", "stubborn", args[1]))
	case len(args) > 1 && args[0] == "boxed-victim":
		config := boxed("family", "stubborn", args[1])
		config.Write = []string{args[1]}
		runVictim(args[1], config)
	default:
		goleak.VerifyTestMain(m)
	}
}

// runVictim is an agent with a server that has descendants; it waits to be killed.
func runVictim(dir string, server mcp.ServerConfig) {
	pool := mcp.NewPool([]mcp.ServerConfig{server}, mcp.Options{})
	result, err := pool.Session("").Call(context.Background(), "family", "family", json.RawMessage(`{"dir":"`+dir+`"}`))
	fmt.Println(result.Text, err)
	forever()
}

func fake(name string, mode ...string) mcp.ServerConfig {
	return mcp.ServerConfig{Name: name, Command: append([]string{"agent", "fake"}, mode...)}
}

func boxed(name string, mode ...string) mcp.ServerConfig {
	c := fake(name, mode...)
	c.Sandbox = "auto"
	return c
}

// start makes a session with servers that are gone when the test ends.
func start(t *testing.T, configs ...mcp.ServerConfig) (*mcp.Session, *stderrLog) {
	t.Helper()
	return startWith(t, mcp.Options{}, configs...)
}

func startWith(t *testing.T, o mcp.Options, configs ...mcp.ServerConfig) (*mcp.Session, *stderrLog) {
	t.Helper()
	log := &stderrLog{}
	o.Stderr = log.add
	pool := mcp.NewPool(configs, o)
	t.Cleanup(func() { _ = pool.Close() })
	return pool.Session(t.TempDir()), log
}

type stderrLog struct {
	mu    sync.Mutex
	lines []string
}

func (l *stderrLog) add(server, line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, server+": "+line)
}

func (l *stderrLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

// family starts a child in the same process group, one in its own session,
// and a grandchild whose parent has gone. All write their pid to dir.
func family(dir string) {
	for name, leave := range map[string]bool{"same": false, "own": true} {
		cmd := exec.Command(os.Args[0], "fake", "sleeper", dir, name)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: leave}
		if err := cmd.Start(); err != nil {
			panic(err)
		}
	}
	orphan := exec.Command(os.Args[0], "fake", "forker", dir, "orphan")
	if err := orphan.Run(); err != nil {
		panic(err)
	}
}

func sleeper(dir, name string) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	_ = os.WriteFile(dir+"/"+name+".tmp", fmt.Append(nil, os.Getpid()), 0o600)
	_ = os.Rename(dir+"/"+name+".tmp", dir+"/"+name)
	forever()
}

func forker(dir, name string) {
	cmd := exec.Command(os.Args[0], "fake", "sleeper", dir, name)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}

// forever waits to be killed. Go calls a program a deadlock in which nothing can go on.
func forever() {
	for {
		time.Sleep(time.Hour)
	}
}
