package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/cli"
	"agent/internal/fsx"
	"agent/llm/llmtest"
)

// TestCommandLine plays the sessions that need no forge and no model.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("CONFIG_FILE", filepath.Join(env.WorkDir, "config.yaml"))
			env.Setenv("HOME", env.WorkDir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": wantCode, "process": wantExit, "context": makeContext, "clean": wantClean},
	})
}

// A port that is taken is said with what helps; one that is no port is a matter of usage.
func TestPortOfPages(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer taken.Close()
	dir := t.TempDir()
	env := map[string]string{"HOME": dir, "CONFIG_FILE": filepath.Join(dir, "config.yaml")}
	must(t, os.WriteFile(env["CONFIG_FILE"], []byte("contexts_dir: contexts\n"), 0o600))
	for address, want := range map[string]string{taken.Addr().String(): "74 address already in use\n  → another program listens there", "127.0.0.1:99999": `2 agent: "99999" is not a port`} {
		var out bytes.Buffer
		code := execute(t.Context(), []string{"ui", "--serve", address}, func(name string) string { return env[name] }, &out, &out)
		if n, words, _ := strings.Cut(want, " "); fmt.Sprint(code) != n || !strings.Contains(out.String(), words) {
			t.Errorf("%s: exit code %d\n%s", address, code, &out)
		}
	}
}

// wantCode is `code N agent ...`: the command must exit with N. It runs in this process, since to
// start one takes most of the time. Paths in its arguments must be absolute.
func wantCode(ts *testscript.TestScript, _ bool, args []string) {
	var out, errOut strings.Builder
	got := execute(context.Background(), args[2:], ts.Getenv, &out, &errOut)
	_, _ = ts.Stdout().Write([]byte(out.String()))
	_, _ = ts.Stderr().Write([]byte(errOut.String()))
	if want, err := strconv.Atoi(args[0]); err != nil || got != want {
		ts.Fatalf("%q exits with %d, want %s\n%s%s", args[1:], got, args[0], &out, &errOut)
	}
}

// wantExit is `process N agent ...`: the same, as a process in the directory of the script.
func wantExit(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if want, err := strconv.Atoi(args[0]); err != nil || got != want {
		ts.Fatalf("%q exits with %d, want %s\n%s%s", args[1:], got, args[0], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// makeContext is `context UUID TITLE`: a context that was just begun. The title
// may hold escapes as in Go.
func makeContext(ts *testscript.TestScript, _ bool, args []string) {
	title, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	fsys, err := fsx.OpenOS(ts.MkAbs("contexts"))
	ts.Check(err)
	store, err := contexts.Open(fsys, contexts.Options{})
	ts.Check(err)
	number := args[0][len(args[0])-1:]
	c, err := store.Create(&event.ContextCreated{Format: event.Format, UUID: args[0], TaskKey: "github.com/o/r/issues/" + number,
		Forge: "github.com", Kind: "issue", Title: title, Trigger: "label"}, time.Now())
	ts.Check(err)
	ts.Check(c.Close())
}

// wantClean is `clean`: the latest output holds nothing that acts on a terminal.
func wantClean(ts *testscript.TestScript, _ bool, _ []string) {
	for _, r := range ts.ReadFile("stdout") + ts.ReadFile("stderr") {
		if r != '\n' && !unicode.IsPrint(r) || r == utf8.RuneError {
			ts.Fatalf("the output holds %U", r)
		}
	}
}

// TestExamples wants an example in the help of every command.
func TestExamples(t *testing.T) {
	t.Parallel()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Example == "" && !c.Hidden {
			t.Errorf("%s --help has no example", c.CommandPath())
		}
		if c.Example != "" && !strings.Contains(c.Example, c.CommandPath()) {
			t.Errorf("the example of %s does not show it:\n%s", c.CommandPath(), c.Example)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk((&commands{&cli.Env{Getenv: os.Getenv}}).root())
}

// TestClosedOutput gives the program an output that nobody reads, as `| head` does.
func TestClosedOutput(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	w.agent(0, "run")
	uuid := w.only().UUID
	for _, args := range [][]string{{"inspect", uuid}, {"inspect", "--json", uuid}, {"list"}, {"list", "--json"}, {"replay", uuid}, {"--help"}} {
		r, out, err := os.Pipe()
		must(t, err)
		must(t, r.Close())
		var errOut bytes.Buffer
		cmd := exec.Command(agentPath(t), append(args, "--config", w.configure())...)
		cmd.Stdout, cmd.Stderr = out, &errOut
		var exit *exec.ExitError
		if err := cmd.Run(); !errors.As(err, &exit) {
			t.Errorf("agent %v: %v, want an end by SIGPIPE", args, err)
		}
		must(t, out.Close())
		if errOut.Len() > 0 {
			t.Errorf("agent %v complains:\n%s", args, &errOut)
		}
	}
}

func TestFilesOfARunThatChangedNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(int, llmtest.Request) llmtest.Reply { return llmtest.Text("There is nothing to do.") })
	w.agent(0, "run")
	uuid := w.only().UUID
	if out, _ := w.agent(0, "files", uuid); !strings.Contains(out, "no step had changed one; all are as in commit ") {
		t.Errorf("files:\n%s", out)
	}
	if out, _ := w.agent(0, "files", "--json", uuid); out != "" {
		t.Errorf("files --json:\n%s", out)
	}
}
