package workspace_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"agent/mcp"
	"agent/mcp/workspace"

	"go.uber.org/goleak"
)

// intrude is what this binary does when it is called as a command in a sandbox.
var intrude func(what, target string) error

// exchange gives two paths each other's content, until it is killed.
var exchange func(a, b string)

// TestMain lets the test binary stand for the agent's executable and for commands.
func TestMain(m *testing.M) {
	args := os.Args[1:]
	switch {
	case len(args) == 4 && args[0] == "mcp" && args[1] == "workspace" && args[2] == "--root":
		if err := workspace.Serve(context.Background(), args[3], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case len(args) == 3 && args[0] == "intrude":
		if err := intrude(args[1], args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case len(args) == 3 && args[0] == "exchange":
		exchange(args[1], args[2])
	case len(args) == 2 && args[0] == "sleeper":
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
		_ = os.WriteFile(args[1]+".tmp", fmt.Append(nil, os.Getpid()), 0o600)
		_ = os.Rename(args[1]+".tmp", args[1])
		forever()
	default:
		goleak.VerifyTestMain(m)
	}
}

// bench is a workspace with the real server on it.
type bench struct {
	*testing.T
	dir     string
	session *mcp.Session
}

func open(t *testing.T) bench {
	t.Helper()
	outer := t.TempDir()
	dir := filepath.Join(outer, "work")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outer, "secret"), []byte("outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	return openAt(t, dir)
}

// openAt starts the server on a directory.
func openAt(t *testing.T, dir string) bench {
	t.Helper()
	pool := mcp.NewPool([]mcp.ServerConfig{{
		Name:    "workspace",
		Command: []string{"agent", "mcp", "workspace", "--root", "{workspace}"},
		Env:     map[string]string{"GIVEN": "yes"},
	}}, mcp.Options{Stderr: func(_, line string) { t.Log(line) }})
	t.Cleanup(func() { _ = pool.Close() })
	return bench{t, dir, pool.Session(dir)}
}

// call returns the text, and whether it is an error.
func (b bench) call(tool string, args map[string]any) (string, bool) {
	b.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		b.Fatal(err)
	}
	result, err := b.session.Call(b.Context(), "workspace", tool, raw)
	if err != nil {
		b.Fatal(tool, err)
	}
	return result.Text, result.IsError
}

func (b bench) want(tool string, args map[string]any, want string) {
	b.Helper()
	if got, isError := b.call(tool, args); isError || got != want {
		b.Errorf("%s %v: got %.300q (error %v), want %.300q", tool, args, got, isError, want)
	}
}

// refused expects a one-line error that contains want.
func (b bench) refused(tool string, args map[string]any, want string) {
	b.Helper()
	got, isError := b.call(tool, args)
	if !isError || !strings.Contains(got, want) || strings.Contains(got, "\n") {
		b.Errorf("%s %v: got %.300q (error %v), want an error with %q", tool, args, got, isError, want)
	}
}

// took is the second line of a command's answer.
var took = regexp.MustCompile(`(?m)\A(exit code: \w+\n)\[[0-9.]+ s(; )?([^\n]*)\]\n`)

// ran is the answer of a command without the time that it took.
func (b bench) ran(args map[string]any) (string, bool) {
	b.Helper()
	got, isError := b.call("run_command", args)
	return took.ReplaceAllString(got, "$1[$3]\n"), isError
}

func (b bench) wantRun(args map[string]any, want string) {
	b.Helper()
	if got, isError := b.ran(args); isError || got != want {
		b.Errorf("%v: got %.300q (error %v), want %.300q", args, got, isError, want)
	}
}

// wantMatch expects an answer that a pattern matches.
func (b bench) wantMatch(tool string, args map[string]any, pattern string) {
	b.Helper()
	if got, isError := b.call(tool, args); isError || !regexp.MustCompile(pattern).MatchString(got) {
		b.Errorf("%s %v: got %.600q (error %v), want %q", tool, args, got, isError, pattern)
	}
}

// refusedAtLength expects an error that begins with want and explains it.
func (b bench) refusedAtLength(tool string, args map[string]any, want string) {
	b.Helper()
	if got, isError := b.call(tool, args); !isError || !strings.HasPrefix(got, want) {
		b.Errorf("%s %v: got %.300q (error %v), want an error that begins with %q", tool, args, got, isError, want)
	}
}

func (b bench) write(name, content string) {
	b.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.Fatal(err)
	}
}

func (b bench) link(target, name string) {
	b.Helper()
	if err := os.Symlink(target, filepath.Join(b.dir, name)); err != nil {
		b.Fatal(err)
	}
}

type args = map[string]any

// forever waits to be killed. Go calls a program a deadlock in which nothing can go on.
func forever() {
	for {
		time.Sleep(time.Hour)
	}
}
