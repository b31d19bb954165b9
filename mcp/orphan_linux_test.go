package mcp_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"agent/mcp"
)

// relatives are the processes that family starts.
var relatives = []string{"same", "own", "orphan"}

// pids waits until the named processes have written their ids to dir.
func pids(t *testing.T, dir string, names ...string) []int {
	t.Helper()
	var all []int
	for _, name := range names {
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil && len(b) > 0 {
				pid, _ := strconv.Atoi(string(b))
				all = append(all, pid)
				break
			}
			if time.Now().After(deadline) {
				t.Fatal(name, "did not start")
			}
		}
	}
	return all
}

// living says which processes still run; dead ones that nobody has reaped do not.
func living(pids []int) []int {
	var alive []int
	for _, pid := range pids {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err == nil && !strings.Contains(string(stat), ") Z ") {
			alive = append(alive, pid)
		}
	}
	return alive
}

func waitForEnd(t *testing.T, all []int) {
	t.Helper()
	deadline := time.Now().Add(time.Second) // the goal is 0 after one second
	for len(living(all)) > 0 {
		if time.Now().After(deadline) {
			for _, pid := range living(all) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			t.Fatalf("of %v still alive: %v", all, living(all))
		}
		time.Sleep(time.Millisecond)
	}
}

func TestNothingOutlivesAKilledAgent(t *testing.T) {
	dir := t.TempDir()
	agent := exec.Command(os.Args[0], "victim", dir)
	out, err := agent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "started <nil>\n" {
		t.Errorf("the agent said %q", line)
	}
	all := pids(t, dir, append(relatives, "stubborn")...) // a server that does not end with its input
	if got := living(all); len(got) != len(all) {
		t.Errorf("of %v only %v run", all, got)
	}
	_ = agent.Process.Kill()
	_ = agent.Wait()
	waitForEnd(t, all)
}

func TestNothingOutlivesAServer(t *testing.T) {
	for name, end := range map[string]func(*mcp.Pool, *mcp.Session){
		"closed": func(p *mcp.Pool, _ *mcp.Session) { _ = p.Close(); _ = p.Close() },
		"died":   func(_ *mcp.Pool, s *mcp.Session) { _, _ = s.Call(t.Context(), "s", "die", nil) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			pool := mcp.NewPool([]mcp.ServerConfig{fake("s", "normal")}, mcp.Options{})
			defer pool.Close()
			session := pool.Session("")
			if _, err := session.Call(t.Context(), "s", "family", json.RawMessage(`{"dir":"`+dir+`"}`)); err != nil {
				t.Fatal(err)
			}
			all := pids(t, dir, relatives...)
			end(pool, session)
			waitForEnd(t, all)
		})
	}
}

func TestStubbornServerIsKilledAtClose(t *testing.T) {
	dir := t.TempDir()
	pool := mcp.NewPool([]mcp.ServerConfig{fake("a", "stubborn", dir)}, mcp.Options{})
	defer pool.Close()
	if got := pool.Session("").List(t.Context())[0]; got.Err != "" {
		t.Fatal(got.Err)
	}
	all := pids(t, dir, "stubborn")
	_ = pool.Close()
	waitForEnd(t, all)
}

func TestServerDoesNotOutliveItsSupervisor(t *testing.T) {
	dir := t.TempDir()
	session, _ := start(t, fake("s", "normal"))
	if _, err := session.Call(t.Context(), "s", "family", json.RawMessage(`{"dir":"`+dir+`"}`)); err != nil {
		t.Fatal(err)
	}
	same := pids(t, dir, "same")
	server := parent(t, same[0])
	if err := syscall.Kill(parent(t, server), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitForEnd(t, append(same, server))
	for _, pid := range pids(t, dir, "own", "orphan") {
		_ = syscall.Kill(pid, syscall.SIGKILL) // they have left the group, and nobody was left to look for them
	}
}

// pidOf is the number in a path of /proc.
func pidOf(path string) int {
	pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
	return pid
}

func parent(t *testing.T, pid int) int {
	t.Helper()
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	ppid, err := strconv.Atoi(strings.Fields(rest)[1])
	if err != nil {
		t.Fatal(err)
	}
	return ppid
}
