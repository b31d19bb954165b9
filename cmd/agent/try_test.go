package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"agent/internal/exhaustive"
	"agent/internal/try"
	"agent/llm/llmtest"
)

// user is somebody with a project and no configuration.
type user struct {
	*world
	project string
	host    string // of a scripted Ollama
}

// newUser gives somebody a project with a failing test: one change of it is not
// committed, one file is not tracked, one is ignored.
func newUser(t *testing.T, script llmtest.Script) *user {
	t.Helper()
	slow(t)
	u := &user{world: &world{t: t, dir: t.TempDir(), model: llmtest.New(summarising(script), llmtest.Ollama)}}
	t.Cleanup(u.model.Close)
	u.project, u.host = u.path("sum"), strings.TrimPrefix(u.model.URL(), "http://")
	must(t, os.MkdirAll(u.path("tmp"), 0o700))
	for name, text := range map[string]string{"sum.go": "package sum\n\nfunc Of(a, b int) int { return a - b }\n", "go.mod": "module example.com/sum\n\ngo 1.21\n", ".gitignore": "secret.env\n"} {
		u.put(name, text)
	}
	u.run("git", "init", "-q", "-b", "main")
	u.run("git", "add", "-A")
	u.run("git", "-c", "user.name=u", "-c", "user.email=u@example.com", "commit", "-q", "-m", "Begin")
	u.put("check.sh", "grep -q 'a + b' sum.go && echo ok || { echo FAIL; exit 1; }\n") // go test would compile for minutes
	u.put("secret.env", "KEY=canary-secret\n")
	u.put("go.mod", "module example.com/sum\n\ngo 1.22\n")
	return u
}

func (u *user) put(name, text string) {
	u.t.Helper()
	must(u.t, os.MkdirAll(u.project, 0o700))
	must(u.t, os.WriteFile(filepath.Join(u.project, name), []byte(text), 0o644))
}

func (u *user) get(name string) string {
	data, _ := os.ReadFile(filepath.Join(u.project, name)) // "": there is none
	return string(data)
}

func (u *user) run(argv ...string) string {
	u.t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = u.project
	out, err := cmd.CombinedOutput()
	if err != nil {
		u.t.Fatalf("%v: %v\n%s", argv, err, out)
	}
	return string(out)
}

// begin starts agent try in the project; stdin is what is piped in.
func (u *user) begin(stdin string, args ...string) *process {
	u.t.Helper()
	p := &process{t: u.t, cmd: exec.Command(agentPath(u.t), args...)}
	p.cmd.Dir, p.cmd.Stdin = u.project, strings.NewReader(stdin)
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + u.dir, "TMPDIR=" + u.path("tmp"), "LANG=C.UTF-8", "OLLAMA_HOST=" + u.host}, u.env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	must(u.t, p.cmd.Start())
	u.t.Cleanup(func() { _ = p.cmd.Process.Kill(); p.wait() })
	return p
}

// try runs agent try to its end.
func (u *user) try(code int, stdin string, args ...string) (out, errOut string) {
	u.t.Helper()
	p := u.begin(stdin, append([]string{"try"}, args...)...)
	if got := p.wait(); got != code {
		u.t.Fatalf("agent try %v: exit %d, want %d\nstdout:\n%s\nstderr:\n%s", args, got, code, tail(p.out.String()), tail(p.err.String()))
	}
	return p.out.String(), p.err.String()
}

func (u *user) result(out string) (r try.Result) {
	u.t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	must(u.t, json.Unmarshal([]byte(lines[len(lines)-1]), &r))
	return r
}

// nothingLeft wants no copy of the project to be left, but for what git has of ended tries.
func (u *user) nothingLeft() {
	u.t.Helper()
	dirs, _ := filepath.Glob(u.path(".local", "state", "agent", "try", "*"))
	for _, dir := range dirs {
		if _, err := os.Lstat(filepath.Join(dir, "ended")); err != nil {
			u.t.Errorf("left over: %s", dir)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "repository", "[^.]*")); len(left) > 0 {
			u.t.Errorf("left over: %q", left)
		}
	}
}

// fix corrects sum.go and shows it by its test.
func fix() llmtest.Script {
	return llmtest.Turns(command("sh", "check.sh"),
		llmtest.ToolCall("workspace__edit_file", map[string]any{"path": "sum.go", "old_text": "a - b", "new_text": "a + b"}),
		command("sh", "check.sh"), llmtest.Done("The sum is right now."))
}

// From nothing to a diff: no configuration, no account, only a model on this machine.
// The copy holds what is not committed and not tracked, and nothing that is ignored.
func TestTry(t *testing.T) {
	t.Parallel()
	u := newUser(t, fix())
	out, errOut := u.try(0, "", "fix the failing test")
	for _, want := range []string{"✅ Done", "-func Of(a, b int) int { return a - b }", "+func Of(a, b int) int { return a + b }", "The sum is right now."} {
		if !strings.Contains(strings.ReplaceAll(out, "*", ""), want) {
			t.Errorf("stdout lacks %q:\n%s", want, out)
		}
	}
	if !strings.Contains(errOut, "Model: Ollama, "+llmtest.Model+":latest at http://"+u.host+" (found on this machine).") || strings.Contains(errOut, "costs money") || strings.Contains(errOut, "[y/N]") {
		t.Errorf("stderr:\n%s", errOut)
	}
	if strings.Contains(u.get("sum.go"), "a + b") {
		t.Error("it was applied, and nobody asked for it")
	}
	first := u.model.Requests()[1].Last().Content
	if !strings.Contains(first, "FAIL") {
		t.Errorf("the test that is not tracked did not run:\n%s", first)
	}
	for _, r := range u.model.Requests() {
		if r.Contains("secret.env") {
			t.Errorf("an ignored file was copied")
		}
	}
	id := strings.Fields(strings.SplitAfter(errOut, "Context ")[1])[0]
	for _, args := range [][]string{{"inspect", id[:8]}, {"replay", id[:8]}, {"list"}} {
		if p := u.begin("", args...); p.wait() != 0 || args[0] == "list" && !strings.Contains(p.out.String(), id[:8]) {
			t.Errorf("agent %v: %s%s", args, &p.out, &p.err)
		}
	}
	u.nothingLeft()
}

// With --json the last line is one object, and everything else is for people.
func TestTryForPrograms(t *testing.T) {
	t.Parallel()
	u := newUser(t, fix())
	out, _ := u.try(0, "# Fix the sum\n\nIt subtracts.\n", "--json", "--apply")
	r := u.result(out)
	for _, name := range []string{`"uuid":"`, `"cost_usd":`, `"llm_calls":4`, `"tool_calls":3`} { // as in every command: docs/json.md
		if !strings.Contains(out, name) {
			t.Errorf("no %s in %s", name, out)
		}
	}
	if strings.Count(out, "\n") != 1 || r.State != "completed" || r.UUID == "" || r.Tokens == 0 || r.Applied != u.project || r.Problem != "" ||
		len(r.Files) != 1 || r.Files[0] != (try.File{Path: "sum.go", Added: 1, Removed: 1}) ||
		len(r.Evidence.Commands) != 2 || r.Evidence.Commands[0].ExitCode != "1" || r.Evidence.Commands[1] != (try.Command{Command: "sh check.sh", ExitCode: "0"}) {
		t.Errorf("%s", out)
	}
	if !strings.HasPrefix(r.Patch, "diff --git a/sum.go b/sum.go\n") || !strings.Contains(u.get("sum.go"), "a + b") {
		t.Errorf("patch %s\napplied: %s", r.Patch, u.get("sum.go"))
	}
	if status := u.run("git", "status", "--porcelain"); status != " M go.mod\n M sum.go\n?? check.sh\n" {
		t.Errorf("git says\n%s", status)
	}
}

// Originals that were changed while the agent worked are not touched, and named.
func TestTryChangedMeanwhile(t *testing.T) {
	t.Parallel()
	var u *user
	script := fix()
	u = newUser(t, func(n int, r llmtest.Request) llmtest.Reply {
		if n == 2 {
			u.put("sum.go", u.get("sum.go")+"// mine\n")
		}
		return script(n, r)
	})
	out, errOut := u.try(1, "", "fix it", "--apply", "--json")
	if r := u.result(out); !strings.Contains(r.Problem, "sum.go") || r.Applied != "" || r.Patch == "" || !strings.Contains(errOut, "Not applied: changed meanwhile") {
		t.Errorf("%s%s", out, errOut)
	}
	if got := u.get("sum.go"); !strings.Contains(got, "a - b") || !strings.Contains(got, "// mine") {
		t.Errorf("sum.go is now\n%s", got)
	}
}

// A branch holds the change and nothing else; the files in the directory stay as they
// are. A file for the patch works beside it.
func TestTryBranchAndPatch(t *testing.T) {
	t.Parallel()
	u := newUser(t, fix())
	must(t, os.WriteFile(u.path("TASK.md"), []byte("---\ntitle: Fix the sum\n---\nIt subtracts.\n"), 0o600))
	u.try(0, "", "--file", u.path("TASK.md"), "--branch", "fix-sum", "--patch", u.path("fix.patch"))
	if got := u.run("git", "diff", "--stat", "main", "fix-sum"); !strings.Contains(got, "sum.go | 2 +-") || strings.Contains(got, "go.mod") {
		t.Errorf("the branch:\n%s", got)
	}
	if got := u.run("git", "log", "-1", "--format=%s", "fix-sum"); got != "Fix the sum\n" {
		t.Errorf("its commit: %s", got)
	}
	if strings.Contains(u.get("sum.go"), "a + b") {
		t.Error("the directory was changed")
	}
	u.run("git", "apply", "--check", u.path("fix.patch"))
}

// A directory without git works. Nothing is applied when the end is not completed.
func TestTryWithoutGit(t *testing.T) {
	t.Parallel()
	u := newUser(t, llmtest.Turns(write("hello.txt", "hello\n"), llmtest.Done("Greeted.")))
	must(t, os.RemoveAll(filepath.Join(u.project, ".git")))
	u.try(0, "", "greet", "--apply")
	if u.get("hello.txt") != "hello\n" {
		t.Error("nothing was applied")
	}
	must(t, os.Remove(filepath.Join(u.project, "hello.txt")))
	u.model.Close()
	u.model = llmtest.New(summarising(llmtest.Turns(write("hello.txt", "hello\n"), llmtest.Text(""), llmtest.Text(""), llmtest.Text(""), llmtest.Text(""), llmtest.Text(""))), llmtest.Ollama)
	t.Cleanup(u.model.Close)
	u.host = strings.TrimPrefix(u.model.URL(), "http://")
	out, errOut := u.try(1, "", "greet", "--apply", "--json")
	if r := u.result(out); r.State != "failed" || r.Patch != "" || r.Applied != "" || u.get("hello.txt") != "" || !strings.Contains(errOut, "so nothing is applied") {
		t.Errorf("%s%s", out, errOut)
	}
}

// Ctrl-C says how to go on, and going on works.
func TestTryInterrupted(t *testing.T) {
	t.Parallel()
	u := newUser(t, hanging(1, llmtest.Turns(write("hello.txt", "hello\n"), llmtest.Done("Greeted."))))
	p := u.begin("", "try", "greet")
	u.awaitCalls(2)
	p.signal(syscall.SIGINT)
	if code := p.wait(); code != 130 || !strings.Contains(p.err.String(), "To go on: agent try --resume ") {
		t.Fatalf("exit %d\n%s%s", code, &p.out, &p.err)
	}
	_, rest, _ := strings.Cut(p.err.String(), "--resume ")
	out, _ := u.try(0, "", "--resume", strings.Fields(rest)[0], "--json", "--apply")
	if r := u.result(out); r.State != "completed" || u.get("hello.txt") != "hello\n" {
		t.Errorf("%s", out)
	}
	u.nothingLeft()
	if _, errOut := u.try(2, "", "--resume", u.result(out).UUID); !strings.Contains(errOut, "this try has ended") {
		t.Errorf("stderr: %s", errOut)
	}
}

// What a command line asks for that cannot be: nothing is copied, no model is asked.
func TestTryRefuses(t *testing.T) {
	t.Parallel()
	u := newUser(t, fix())
	for name, test := range map[string]struct {
		code int
		args []string
		says string
	}{
		"no task":        {2, nil, "the task is empty"},
		"two tasks":      {2, []string{"a", "--file", "b"}, "not both"},
		"no such file":   {2, []string{"--file", "none.md"}, "none.md"},
		"two arguments":  {2, []string{"a", "b"}, "at most 1"},
		"resume and new": {2, []string{"--resume", "abcd", "a"}, "give no other"},
	} {
		if _, errOut := u.try(test.code, "", test.args...); !strings.Contains(errOut, test.says) {
			t.Errorf("%s: %s", name, errOut)
		}
	}
	u.host = "127.0.0.1:1" // nobody is there
	if _, errOut := u.try(78, "", "a"); !strings.Contains(errOut, "no model was found") {
		t.Errorf("no model: %s", errOut)
	}
	if n := len(u.model.Requests()); n > 0 {
		t.Errorf("%d requests", n)
	}
	u.nothingLeft()
}

// A key in the environment is found before a server on this machine, and money is said.
func TestTryInTheEnvironment(t *testing.T) {
	t.Parallel()
	u := newUser(t, fix())
	paid := llmtest.New(summarising(llmtest.Turns(write("hello.txt", "hello\n"), llmtest.Done("Greeted."))))
	t.Cleanup(paid.Close)
	u.env = []string{"OPENAI_API_KEY=key-0123456789", "OPENAI_BASE_URL=" + paid.URL(), "OPENAI_MODEL=scripted"}
	out, errOut := u.try(0, "", "greet", "--json")
	if r := u.result(out); r.State != "completed" || r.Model != "scripted" || !strings.Contains(errOut, "(from the environment: OPENAI_API_KEY)") {
		t.Errorf("%s%s", out, errOut)
	}
}

// The script of the page, on a list of tasks: each object has the patch and the
// evidence. It goes on where it was stopped.
func TestBenchmarkScript(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/try.md")
	must(t, err)
	_, text, _ := strings.Cut(string(page), "```sh\n")
	text, _, _ = strings.Cut(text, "```")
	if n := strings.Count(text, "\n"); n != 11 {
		t.Errorf("the script has %d lines", n)
	}
	script, refused := fix(), false
	u := newUser(t, func(n int, r llmtest.Request) llmtest.Reply {
		if r.Contains("Task 1") && !refused {
			refused = true
			return llmtest.Error(401, "invalid_api_key", "Incorrect API key provided")
		}
		return script(n, r)
	})
	tasks := 3
	if exhaustive.On() {
		tasks = 50
	}
	commit := strings.TrimSpace(u.run("git", "rev-parse", "HEAD"))
	u.run("git", "add", "check.sh")
	u.run("git", "-c", "user.name=u", "-c", "user.email=u@example.com", "commit", "-q", "-m", "A check")
	for i := range tasks {
		dir := u.path("list", "tasks", fmt.Sprintf("task-%02d", i))
		must(t, os.MkdirAll(dir, 0o700))
		at := []string{"main", commit}[i%2]
		for name, text := range map[string]string{"repo": u.project, "commit": at, "problem.md": fmt.Sprintf("# Task %d\n\nThe sum is wrong.\n", i)} {
			must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
	}
	must(t, os.MkdirAll(u.path("list", "results"), 0o700))
	done := u.path("list", "results", "task-00.json")
	must(t, os.WriteFile(done, []byte("{}\n"), 0o600))
	began := time.Now()
	run := func() {
		cmd := exec.Command("sh", "-c", text)
		cmd.Dir, cmd.Env = u.path("list"), []string{"PATH=" + os.Getenv("PATH"), "HOME=" + u.dir, "TMPDIR=" + u.path("tmp"), "LANG=C.UTF-8", "OLLAMA_HOST=" + u.host}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	run()
	if _, err := os.Stat(u.path("list", "results", "task-01.json")); err == nil {
		t.Error("the result of an outage was kept")
	}
	run()
	tokens := 0
	for i := 1; i < tasks; i++ {
		data, err := os.ReadFile(u.path("list", "results", fmt.Sprintf("task-%02d.json", i)))
		must(t, err)
		r := u.result(string(data))
		if tokens += r.Tokens; r.State != "completed" || !strings.Contains(r.Patch, "+func Of(a, b int) int { return a + b }") || len(r.Evidence.Commands) != 2 {
			t.Errorf("task %d: %s", i, data)
		}
	}
	t.Logf("%d tasks, %d tokens, %v", tasks-1, tokens, time.Since(began))
	if data, err := os.ReadFile(done); err != nil || string(data) != "{}\n" {
		t.Errorf("a task that was done was done again: %s, %v", data, err)
	}
}
