package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"agent/forge/forgetest"
	"agent/internal/exhaustive"
	"agent/internal/machine"
	"agent/llm/llmtest"
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
	hub   string   // more keys of the section of the forge
	site  string   // the section of the forge, if it is another one
	env   []string // more variables of the agent's environment

	user   *syscall.Credential // who the agent runs as, if not who tests
	binary string              // the agent, if it is another file
}

// newWorld makes a world with an open, labelled issue #1 of a private repository.
// The agent works in a clone, unless inPlace is called.
func newWorld(t *testing.T, script llmtest.Script) *world {
	t.Helper()
	w := emptyWorld(t, script)
	w.forge.AddRepository(testRepo, forgetest.Repository{Private: true, Git: w.path("origin.git")})
	w.issue("Greet the world")
	return w
}

// emptyWorld makes a world whose forge has an account for the agent, and nothing else.
func emptyWorld(t *testing.T, script llmtest.Script) *world {
	t.Helper()
	slow(t)
	w := &world{t: t, dir: t.TempDir(), forge: forgetest.New(), model: llmtest.New(summarising(script))}
	t.Cleanup(w.forge.Close)
	t.Cleanup(w.model.Close)
	copyTree(t, template(t), w.dir)
	must(t, os.MkdirAll(w.path("tmp"), 0o700))
	w.forge.AddToken(testToken, testBot)
	return w
}

// early are the tests that run the real program before a commit, too: one of each of its
// ways. The others take a quarter of an hour of processor time, and are left to CI.
var early = map[string]bool{
	"TestBusy": true, "TestCallLimit": true, "TestChangedInPlace": true, "TestCtrlC": true, "TestDryRun": true,
	"TestFork": true, "TestInspect": true, "TestIssueToDone": true, "TestKill": true,
	"TestLabelResumes": true, "TestNothingChanged": true, "TestPauseCommand": true,
	"TestPlanGoesOn": true, "TestProgress": true, "TestProtectedPath": true, "TestRunVerbose": true,
	"TestSecretIsNotSaved": true, "TestSecrets": true, "TestStatusCheck": true,
	"TestTry": true,
}

func slow(t *testing.T) {
	t.Helper()
	if name, _, _ := strings.Cut(t.Name(), "/"); !early[name] {
		exhaustive.Slow(t)
	}
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
	machine.Find(t.Context(), os.Getenv("PATH"), filepath.Join(dir, ".cache/agent/programs.json")) // asked once for all tests
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
  openai: {base_url: %[2]s, api_key: %[3]s, model: scripted}%[4]s
%[5]s%[6]s
%[7]s
`, w.dir, w.model.URL(), testKey, w.llm, cmp.Or(w.site, (&onGitHub{w: w}).config()), w.hub, w.extra)
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
	patience time.Duration // 0: patience
	code     int
}

// start starts the agent.
func (w *world) start(args ...string) *process {
	w.t.Helper()
	p := &process{t: w.t, cmd: exec.Command(cmp.Or(w.binary, agentPath(w.t)), append(args, "--config", w.configure())...)}
	if w.user != nil {
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: w.user}
	}
	p.cmd.Dir = w.dir
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "TMPDIR=" + w.path("tmp"), "LANG=C.UTF-8", "TZ=UTC", "CANARY=" + canary}, w.env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	p.cmd.WaitDelay = 5 * time.Second
	must(w.t, p.cmd.Start())
	w.t.Cleanup(func() { _ = p.cmd.Process.Kill(); p.wait() })
	return p
}

// wait waits for the end and gives the exit code, -1 after a signal.
func (p *process) wait() int {
	p.waited.Do(func() {
		watchdog := time.AfterFunc(cmp.Or(p.patience, patience), func() { _ = p.cmd.Process.Signal(syscall.SIGQUIT) })
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
	var out, errOut string
	var got int
	if len(w.env) == 0 && !exhaustive.On() && slices.Contains(readers, args[0]) {
		out, errOut, got = w.look(args...)
	} else {
		p := w.start(args...)
		got = p.wait()
		out, errOut = p.out.String(), p.err.String()
	}
	if got != code {
		w.t.Fatalf("agent %s: exit %d, want %d\nstdout:\n%s\nstderr:\n%s", strings.Join(args, " "), got, code, tail(out), tail(errOut))
	}
	return out, errOut
}

// readers are the commands that only read the store. They run in the process of the
// test, since starting one costs more than it does; make check runs them as processes.
var readers = []string{"inspect", "list", "replay", "search", "stats", "status", "verify", "why"}

// look runs one of them.
func (w *world) look(args ...string) (stdout, stderr string, code int) {
	var out, errOut bytes.Buffer
	getenv := func(name string) string { return map[string]string{"HOME": w.dir, "LANG": "C.UTF-8"}[name] }
	code = execute(context.Background(), append(args, "--config", w.configure()), getenv, &out, &errOut)
	return out.String(), errOut.String(), code
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

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
