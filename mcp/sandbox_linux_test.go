package mcp_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agent/internal/sandbox"
)

func TestServerInASandbox(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	config := boxed("s", "normal", "{workspace}")
	config.Env = map[string]string{"LANG": "C"}
	session, log := start(t, config)
	environment, err := session.Call(t.Context(), "s", "env", nil)
	if err != nil {
		t.Fatal(err, log)
	}
	private := ""
	for _, entry := range strings.Split(environment.Text, "\n") {
		if home, ok := strings.CutPrefix(entry, "HOME="); ok {
			private = filepath.Dir(home)
		}
	}
	if info, err := os.Stat(private); err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("private directory %q: %v %v", private, info, err)
	}
	run := func(argv ...string) bool {
		t.Helper()
		args, _ := json.Marshal(map[string]any{"argv": argv})
		result, err := session.Call(t.Context(), "s", "run", args)
		if err != nil {
			t.Fatal(err)
		}
		return result.Text == "<nil>"
	}
	if run("cat", secret) {
		t.Error("it reads what it should not")
	}
	if !run("sh", "-c", "echo x > $HOME/a && echo x > $TMPDIR/a") {
		t.Error("it cannot write where it should")
	}
	_ = session.Close()
	if _, err := os.Stat(private); err == nil {
		t.Error("its private directory stays")
	}
}

func TestNothingInASandboxOutlivesAKilledAgent(t *testing.T) {
	dir := t.TempDir()
	agent := exec.Command(os.Args[0], "boxed-victim", dir)
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
	all := processesOf(t, "fake", dir)
	if len(all) < len(relatives)+2 { // server, supervisor, leader
		t.Errorf("only %v run", all)
	}
	_ = agent.Process.Kill()
	_ = agent.Wait()
	waitForEnd(t, all)
}

// processesOf finds the running processes with all words in their command line,
// seen from outside: in the namespaces they have other numbers.
func processesOf(t *testing.T, words ...string) []int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var all []int
	for _, name := range files {
		line, _ := os.ReadFile(name)
		has := len(line) > 0
		for _, word := range words {
			has = has && strings.Contains(string(line), word)
		}
		if has {
			all = append(all, pidOf(name))
		}
	}
	return all
}

func TestSandboxThatLacksSomething(t *testing.T) {
	config := boxed("s", "normal")
	config.Sandbox, config.Network = "required", "off"
	_, lack, ok := config.CheckSandbox()
	if !ok {
		t.Fatal("it has no sandbox")
	}
	session, _ := start(t, config)
	if got := session.List(t.Context())[0].Err; (got == "") != (lack == nil) || lack != nil && !strings.Contains(got, lack.Error()) {
		t.Errorf("the machine lacks %v, the server says %q", lack, got)
	}
	if s := sandbox.Available(); s.Landlock == 0 && !s.Namespaces {
		t.Errorf("nothing was proven: %q", s.Lines())
	}
}
