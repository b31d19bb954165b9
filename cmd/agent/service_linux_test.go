package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"agent/forge/forgetest"
)

// TestService is the loop as systemd sees it: it is ready, gives signs of life while it
// has nothing to do, says that it ends, and ends with 0, also if its forge is down.
func TestService(t *testing.T) {
	t.Parallel()
	t.Run("idle", func(t *testing.T) { t.Parallel(); asService(t, false) })
	t.Run("the forge is down", func(t *testing.T) { t.Parallel(); asService(t, true) })
}

func asService(t *testing.T, down bool) {
	w := newWorld(t, greet())
	if down {
		w.forge.Fault(forgetest.Fault{Kind: forgetest.Answer, Status: 503, Times: -1})
	}
	w.forge.CloseIssue(testRepo, 1)
	name := w.path("notify")
	at, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	must(t, err)
	defer at.Close()
	must(t, at.SetReadDeadline(time.Now().Add(patience)))
	next := func() string {
		buf := make([]byte, 100)
		n, err := at.Read(buf)
		must(t, err)
		return string(buf[:n])
	}
	w.env = []string{"NOTIFY_SOCKET=" + name, "WATCHDOG_USEC=300000"}
	loop := w.start("loop", "--interval", "1")
	seen := map[string]bool{}
	for !seen["READY=1"] || !seen["WATCHDOG=1"] {
		seen[next()] = true
	}
	for range 2 {
		if next() != "WATCHDOG=1" {
			t.Error("the signs of life do not go on")
		}
	}
	loop.signal(syscall.SIGTERM)
	for next() != "STOPPING=1" {
	}
	if code := loop.wait(); code != 0 {
		t.Errorf("the loop ends with %d", code)
	}
}

// TestUnits: systemd reads the units of deploy/ and of the Debian package without a complaint, and what it
// says of their exposure stays low.
func TestUnits(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("needs systemd-analyze")
	}
	users, err := filepath.Glob("../../deploy/agent*.*")
	must(t, err)
	checkUnits(t, "--user", users)
	checkUnits(t, "--system", []string{"../../deploy/debian/agent.service"})
}

func checkUnits(t *testing.T, manager string, units []string) {
	t.Helper()
	dir := t.TempDir()
	for _, unit := range units {
		text, err := os.ReadFile(unit)
		must(t, err)
		here := strings.NewReplacer("%h/bin/agent", agentPath(t), "/usr/bin/agent", agentPath(t)).Replace(string(text)) // what it starts must be there
		must(t, os.WriteFile(filepath.Join(dir, filepath.Base(unit)), []byte(here), 0o600))
	}
	for _, unit := range units {
		unit = filepath.Join(dir, filepath.Base(unit))
		cmd := exec.Command("systemd-analyze", "verify", manager, "--man=no", unit)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "HOME="+dir)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("verify %s: %v\n%s", filepath.Base(unit), err, out)
		}
		if !strings.HasSuffix(unit, ".service") {
			continue
		}
		cmd = exec.Command("systemd-analyze", "security", manager, "--offline=true", "--no-pager", unit) // a manager of users has other defaults
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "HOME="+dir)
		out, err := cmd.CombinedOutput()
		level := regexp.MustCompile(`Overall exposure level for \S+: ([0-9.]+)`).FindSubmatch(out)
		if level == nil {
			t.Errorf("security %s: %v\n%s", filepath.Base(unit), err, out)
			continue
		}
		if n, _ := strconv.ParseFloat(string(level[1]), 64); n > 3 {
			t.Errorf("%s has an exposure of %s, want at most 3", filepath.Base(unit), level[1])
		}
	}
}
