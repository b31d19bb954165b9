package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/forge/forgetest"
	"agent/internal/fsx"
	"agent/llm/llmtest"
	"agent/projections"
)

const (
	testRepo  = "acme/widgets"
	testToken = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
	testKey   = "key-7f3c9a1e5b2d4860"
	testBot   = "widget-bot"
	canary    = "canary-51c08e7d9a3b"

	botLabel        = "coding agent"
	processingLabel = "coding agent processing"
	doneLabel       = "coding agent done"
	pausedLabel     = "coding agent paused"
	stoppedLabel    = "coding agent stopped"
	failedLabel     = "coding agent failed"
)

// patience bounds everything that a test waits for; nothing is expected to take that long.
const patience = 2 * time.Minute

// world is a forge, a model, a repository and a configuration on which the real
// program runs as a process of its own.
type world struct {
	t     *testing.T
	dir   string
	forge *forgetest.Server
	model *llmtest.Server
	extra string   // more lines of the configuration
	llm   string   // more keys of the section llm
	hub   string   // more keys of the section github
	env   []string // more variables of the agent's environment
}

// newWorld makes a world with an open, labelled issue #1 of a private repository.
// The agent works in a clone, unless inPlace is called.
func newWorld(t *testing.T, script llmtest.Script) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), forge: forgetest.New(), model: llmtest.New(summarising(script))}
	t.Cleanup(w.forge.Close)
	t.Cleanup(w.model.Close)
	copyTree(t, template(t), w.dir)
	w.forge.AddToken(testToken, testBot)
	w.forge.AddRepository(testRepo, forgetest.Repository{Private: true, CloneURL: w.path("origin.git")})
	w.issue("Greet the world")
	return w
}

// summarising answers requests for the final summary, and leaves the rest to script.
func summarising(script llmtest.Script) llmtest.Script {
	return func(n int, r llmtest.Request) llmtest.Reply {
		if isSummary(r) {
			return llmtest.Text("A file was written.")
		}
		return script(n, r)
	}
}

func isSummary(r llmtest.Request) bool {
	return strings.HasPrefix(r.System(), "You write the final summary")
}

// asked counts the requests to the model, without those for summaries.
func (w *world) asked() (n int) {
	for _, r := range w.model.Requests() {
		if !isSummary(r) {
			n++
		}
	}
	return n
}

// issue opens a labelled issue and returns its number.
func (w *world) issue(title string) int {
	return w.forge.AddIssue(testRepo, title, "Please write hello.txt.", "alice", botLabel)
}

func (w *world) inPlace() { w.hub += fmt.Sprintf("\n  workspace: %q", w.path("work")) }

func (w *world) path(elem ...string) string {
	return filepath.Join(append([]string{w.dir}, elem...)...)
}

// template is a directory with a repository: work with one commit, and origin.git.
var template = func() func(*testing.T) string {
	var once sync.Once
	var dir string
	return func(t *testing.T) string {
		t.Helper()
		once.Do(func() { dir = makeTemplate(t) })
		return dir
	}
}()

func makeTemplate(t *testing.T) string {
	dir, err := os.MkdirTemp(filepath.Dir(agentPath(t)), "template-")
	must(t, err)
	work := filepath.Join(dir, "work")
	must(t, os.Mkdir(work, 0o700))
	must(t, os.WriteFile(filepath.Join(work, "README.md"), []byte("# Widgets\n"), 0o600))
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "-A"},
		{"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "Begin"},
		{"clone", "-q", "--bare", work, filepath.Join(dir, "origin.git")},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = work
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return dir
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	must(t, os.CopyFS(to, os.DirFS(from)))
}

func agentPath(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("agent")
	must(t, err)
	return path
}

// configure writes the configuration file.
func (w *world) configure() string {
	w.t.Helper()
	text := fmt.Sprintf(`contexts_dir: "%[1]s/contexts"
workspaces_dir: "%[1]s/workspaces"
log: {dir: "%[1]s/logs", level: debug}
llm:
  openai: {base_url: %[2]s, api_key: %[3]s, model: scripted}%[7]s
github:
  api_url: %[4]s
  personal_access_token: %[5]s
  repositories: [%[6]s]
  bot_name: %[8]s%[9]s
%[10]s
`, w.dir, w.model.URL(), testKey, w.forge.URL(), testToken, testRepo, w.llm, testBot, w.hub, w.extra)
	path := w.path("config.yaml")
	if old, err := os.ReadFile(path); err != nil || string(old) != text { // other processes may be reading it
		must(w.t, os.WriteFile(path, []byte(text), 0o600))
	}
	return path
}

// process is the agent, running.
type process struct {
	t        *testing.T
	cmd      *exec.Cmd
	out, err bytes.Buffer
	waited   sync.Once
	code     int
}

// start starts the agent.
func (w *world) start(args ...string) *process {
	w.t.Helper()
	p := &process{t: w.t, cmd: exec.Command(agentPath(w.t), append(args, "--config", w.configure())...)}
	p.cmd.Dir = w.dir
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "LANG=C.UTF-8", "TZ=UTC", "CANARY=" + canary}, w.env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	p.cmd.WaitDelay = 5 * time.Second
	must(w.t, p.cmd.Start())
	w.t.Cleanup(func() { _ = p.cmd.Process.Kill(); p.wait() })
	return p
}

// wait waits for the end and gives the exit code, -1 after a signal.
func (p *process) wait() int {
	p.waited.Do(func() {
		watchdog := time.AfterFunc(patience, func() { _ = p.cmd.Process.Signal(syscall.SIGQUIT) })
		defer watchdog.Stop()
		err := p.cmd.Wait()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			p.t.Errorf("wait: %v", err)
		}
		p.code = p.cmd.ProcessState.ExitCode()
	})
	return p.code
}

// kill ends the process with SIGKILL.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended by itself
	p.wait()
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	must(p.t, p.cmd.Process.Signal(s))
}

// agent runs one command to its end and wants the given exit code.
func (w *world) agent(code int, args ...string) (stdout, stderr string) {
	w.t.Helper()
	p := w.start(args...)
	if got := p.wait(); got != code {
		w.t.Fatalf("agent %s: exit %d, want %d\nstdout:\n%s\nstderr:\n%s", strings.Join(args, " "), got, code, tail(p.out.String()), tail(p.err.String()))
	}
	return p.out.String(), p.err.String()
}

func tail(s string) string {
	if len(s) > 4000 {
		return "…" + s[len(s)-4000:]
	}
	return s
}

// awaitCalls waits until the model was asked n times.
func (w *world) awaitCalls(n int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := w.model.Await(ctx, n); err != nil {
		w.t.Fatalf("the model was not asked %d times: %v", n, err)
	}
}

// until polls for something that another process does.
func (w *world) until(what string, done func() bool) {
	w.t.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("never: %s", what)
		}
	}
}

// list gives what `agent list --json` says.
func (w *world) list(code int) []listLine {
	w.t.Helper()
	out, _ := w.agent(code, "list", "--json")
	var all []listLine
	for dec := json.NewDecoder(strings.NewReader(out)); dec.More(); {
		var l listLine
		must(w.t, dec.Decode(&l))
		all = append(all, l)
	}
	return all
}

// only is the one context that there is.
func (w *world) only() listLine {
	w.t.Helper()
	all := w.list(0)
	if len(all) != 1 {
		w.t.Fatalf("%d contexts, want 1: %+v", len(all), all)
	}
	return all[0]
}

// store opens the contexts for looking.
func (w *world) store() *contexts.Store {
	w.t.Helper()
	fsys, err := fsx.OpenOS(w.path("contexts"))
	must(w.t, err)
	s, err := contexts.Open(fsys, contexts.Options{ReadOnly: true, Dir: w.path("contexts")})
	must(w.t, err)
	return s
}

// events reads the log of a context.
func (w *world) events(uuid string) []event.Event {
	w.t.Helper()
	var all []event.Event
	for ev, err := range w.store().Events(uuid) {
		must(w.t, err)
		all = append(all, ev)
	}
	return all
}

// fold gives the state of a context.
func (w *world) fold(uuid string) *projections.State {
	w.t.Helper()
	s := projections.NewState()
	for _, ev := range w.events(uuid) {
		s.Apply(ev)
	}
	return s
}

// find gives the bodies of one type in a log, oldest first.
func find[B event.Body](events []event.Event) []B {
	var found []B
	for _, ev := range events {
		if b, ok := ev.Body.(B); ok {
			found = append(found, b)
		}
	}
	return found
}

// bodies are the comments of the bot on an issue without their markers.
func (w *world) bodies(number int) []string {
	w.t.Helper()
	var all []string
	for _, c := range w.forge.Comments(testRepo, number) {
		if c.Author == testBot {
			body, _, _ := strings.Cut(c.Body, "\n\n<!-- agent ")
			all = append(all, body)
		}
	}
	return all
}

func (w *world) wantLabels(number int, want ...string) {
	w.t.Helper()
	if got := w.forge.Labels(testRepo, number); strings.Join(got, ",") != strings.Join(want, ",") {
		w.t.Errorf("labels of #%d: %q, want %q", number, got, want)
	}
}

// wantComment wants exactly one comment of the bot that begins with head.
func (w *world) wantComment(number int, head string) string {
	w.t.Helper()
	var found []string
	for _, body := range w.bodies(number) {
		if strings.HasPrefix(body, head) {
			found = append(found, body)
		}
	}
	if len(found) != 1 {
		w.t.Fatalf("%d comments on #%d begin with %q, want 1; all:\n%s", len(found), number, head, strings.Join(w.bodies(number), "\n=====\n"))
	}
	return found[0]
}

// wantExact wants the replay of a context to be exact.
func (w *world) wantExact(uuid string) {
	w.t.Helper()
	if out, _ := w.agent(0, "replay", uuid); !strings.HasPrefix(out, "exact: ") {
		w.t.Errorf("replay is not exact:\n%s", out)
	}
}

// wantDone wants issue #n done by exactly one final comment and its replay to be exact.
func (w *world) wantDone(number int, l listLine) {
	w.t.Helper()
	if l.State != "completed" {
		w.t.Errorf("state of %s: %q, want completed (%s)", l.TaskKey, l.State, l.Error)
	}
	w.wantLabels(number, doneLabel)
	w.wantComment(number, "✅ **Done**")
	w.wantExact(l.UUID)
}

// noSecrets looks for secrets in everything that outlives the process or leaves it.
func (w *world) noSecrets(more ...string) {
	w.t.Helper()
	secrets := append([]string{testToken, testKey, canary}, more...)
	check := func(where, text string) {
		for _, s := range secrets {
			if strings.Contains(text, s) {
				w.t.Errorf("%s holds the secret %q", where, s)
			}
		}
	}
	for _, dir := range []string{"contexts", "logs"} {
		must(w.t, filepath.WalkDir(w.path(dir), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			check(path, string(data))
			return err
		}))
	}
	for _, r := range w.forge.Requests() {
		check(r.Method+" "+r.Path, r.Body)
	}
}

// wantClosed wants modes 0700 and 0600 below the contexts and the logs.
func (w *world) wantClosed() {
	w.t.Helper()
	for _, dir := range []string{"contexts", "logs"} {
		must(w.t, filepath.WalkDir(w.path(dir), func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			want := os.FileMode(0o600)
			if d.IsDir() {
				want = 0o700
			}
			if err == nil && info.Mode().Perm() != want {
				w.t.Errorf("%s has mode %04o, want %04o", path, info.Mode().Perm(), want)
			}
			return err
		}))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write is a call of write_file in the native protocol.
func write(path, content string) llmtest.Reply {
	r := llmtest.ToolCall("workspace__write_file", map[string]any{"path": path, "content": content})
	return r
}

// command is a call of run_command in the native protocol.
func command(argv ...string) llmtest.Reply {
	return llmtest.ToolCall("workspace__run_command", map[string]any{"argv": argv})
}

// greet writes hello.txt and ends.
func greet() llmtest.Script {
	return llmtest.Turns(write("hello.txt", "hello\n"), llmtest.Done("I wrote hello.txt."))
}

// forms returns a script for both protocols: native where tools are offered, else JSON.
func forms(native, asJSON llmtest.Script) llmtest.Script {
	return func(n int, r llmtest.Request) llmtest.Reply {
		if len(r.Tools) > 0 {
			return native(n, r)
		}
		return asJSON(n, r)
	}
}

func greetJSON() llmtest.Script {
	return llmtest.Turns(
		llmtest.JSONCommand("workspace/write_file", map[string]any{"path": "hello.txt", "content": "hello\n"}, "I write the file."),
		llmtest.Done("I wrote hello.txt."))
}
