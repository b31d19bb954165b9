package main

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"agent/forge/forgetest"
	"agent/internal/report"
	"agent/llm/llmtest"
)

const brokenServer = `mcp_servers: [{mcp_server_name: gone, command: [/no/such/program]}]`

// faults of the machine, by the classes of the table in docs/architecture.md.
var faults = []struct {
	class, name string
	code        int
	words       string // of the one line
	spoil       func(w *world)
}{
	{"git", "none", 78, "install git 2.31", func(w *world) { w.env = []string{"PATH=" + w.path("empty")} }},
	{"git", "fails", 78, "exit status 3", func(w *world) { w.fakeGit("exit 3") }},
	{"git", "old", 78, "older than 2.31", func(w *world) { w.fakeGit("echo git version 2.20.1") }},
	{"workspaces_dir", "a file", 78, "set workspaces_dir", func(w *world) { must(w.t, os.WriteFile(w.path("workspaces"), nil, 0o600)) }},
	{"room", "small disk", 75, "free some space: the agent needs 64 MiB", nil}, // runs in a file system of 8 MiB
	{"server", "missing program", 78, "by hand", func(w *world) { w.extra = brokenServer }},
	{"server", "exits", 78, "ツールサーバー gone を使用できません", func(w *world) {
		w.extra = "language: ja\nmcp_servers: [{mcp_server_name: gone, command: [\"true\"]}]"
	}},
	{"server", "required", 78, "gone", func(w *world) {
		w.extra = "mcp_servers:\n  - {mcp_server_name: gone, command: [/no/such/program], required: true}\n" +
			`  - {mcp_server_name: workspace, command: [agent, mcp, workspace, --root, "{workspace}"]}`
	}},
	{"server", "none of two", 78, "gone", func(w *world) {
		w.extra = "mcp_servers:\n  - {mcp_server_name: gone, command: [/no/such/program]}\n  - {mcp_server_name: away, command: [\"false\"]}"
	}},
	{"server", "allows nothing", 78, "it offers no tool", func(w *world) {
		w.extra = `mcp_servers: [{mcp_server_name: workspace, required: false, command: [agent, mcp, workspace, --root, "{workspace}"], allow: [nothing]}]`
	}},
	{"server", "unreachable", 75, "url and headers of far", func(w *world) {
		w.extra = "mcp_servers: [{mcp_server_name: far, url: \"http://127.0.0.1:1/mcp\"}]"
	}},
	{"clone_url", "of another host", 78, "clone_from", func(w *world) {
		w.forge = forgetest.New() // its repository has had its address from the start
		w.t.Cleanup(w.forge.Close)
		w.forge.AddToken(testToken, testBot)
		w.forge.AddRepository(testRepo, forgetest.Repository{Private: true, Git: w.path("origin.git"), CloneURL: "https://elsewhere.example/acme/widgets.git"})
		w.issue("Greet the world")
		w.issue("Greet the moon")
	}},
	{"model", "401", 78, "set a valid key: llm.openai.api_key (OPENAI_API_KEY)", func(w *world) { w.models(401) }},
	{"model", "403", 78, "set a valid key", func(w *world) { w.models(403) }},
}

// fakeGit puts a program in the place of git.
func (w *world) fakeGit(script string) {
	dir := w.path("fake")
	must(w.t, os.MkdirAll(dir, 0o700))
	must(w.t, os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	w.env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
}

// models lets the list of models answer with a status.
func (w *world) models(status int) {
	w.onModels(func(out http.ResponseWriter) bool {
		http.Error(out, `{"error":{"message":"no"}}`, status)
		return true
	})
}

// onModels is called when somebody asks for the list of models, and tells whether it has answered.
func (w *world) onModels(answer func(out http.ResponseWriter) bool) {
	to, err := url.Parse(strings.TrimSuffix(w.model.URL(), "/v1"))
	must(w.t, err)
	model := httputil.NewSingleHostReverseProxy(to)
	s := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" || !answer(out) {
			model.ServeHTTP(out, r)
		}
	}))
	w.t.Cleanup(s.Close)
	w.env = append(w.env, "OPENAI_BASE_URL="+s.URL+"/v1")
}

// onSmallDisk runs the program where contexts_dir has 8 MiB, if namespaces can be made here.
func (w *world) onSmallDisk(args ...string) (code int, stdout, stderr string) {
	must(w.t, os.MkdirAll(w.path("contexts"), 0o700))
	mount := `mount -t tmpfs -o size=8m,mode=700 tmpfs "$0" || exit 99; exec "$@"`
	cmd := exec.Command("unshare", append([]string{"-rm", "sh", "-c", mount, w.path("contexts"), agentPath(w.t)}, append(args, "--config", w.configure())...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "TMPDIR=" + w.path("tmp")}
	var errOut strings.Builder
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState == nil || cmd.ProcessState.ExitCode() == 99 || strings.Contains(errOut.String(), "unshare") {
		w.t.Skipf("no file system of 8 MiB: %v %s", err, errOut.String())
	}
	return cmd.ProcessState.ExitCode(), string(out), errOut.String()
}

// TestFaultsOfTheMachine wants each fault to be told in one line, and to leave two
// labelled issues as they were.
func TestFaultsOfTheMachine(t *testing.T) {
	t.Parallel()
	rows := machineTable(t)
	tried := map[string]bool{}
	for _, f := range faults {
		tried[f.class] = true
		if !strings.Contains(rows[f.class], strconv.Itoa(f.code)) {
			t.Errorf("the table says %q of %s, %s wants %d", rows[f.class], f.class, f.name, f.code)
		}
		t.Run(f.class+" "+f.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, greet())
			w.issue("Greet the moon")
			var out, errOut string
			if f.spoil != nil {
				f.spoil(w)
				out, errOut = w.agent(f.code, "run")
			} else if code, o, e := w.onSmallDisk("run"); code != f.code {
				t.Fatalf("exit %d, want %d\n%s%s", code, f.code, o, e)
			} else {
				out, errOut = o, e
			}
			if out != "" || strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, f.words) || !strings.Contains(errOut, " → ") {
				t.Errorf("it says\n%s%s\nwant one line with %q", out, errOut, f.words)
			}
			if r := jsonOf[report.Status](w, 0, "status"); f.spoil != nil && (r.Healthy || r.Fault == nil || r.Fault.Class != f.class || !strings.Contains(r.Fault.Text, f.words)) {
				t.Errorf("status says %+v", r)
			}
			w.wantUntouched(1, 2)
			if f.class != "workspaces_dir" {
				w.wantNothingLeft()
			}
		})
	}
	tried["cluster"] = true // needs servers that go in the middle of a round: make cluster
	for class := range rows {
		if !tried[class] {
			t.Errorf("no fault of class %s was tried", class)
		}
	}
}

// wantUntouched wants issues with their label alone, no contexts, and no call of the model.
func (w *world) wantUntouched(numbers ...int) {
	w.t.Helper()
	for _, n := range numbers {
		w.wantLabels(n, botLabel)
		if c := w.forge.Comments(testRepo, n); len(c) > 0 {
			w.t.Errorf("#%d has comments: %v", n, c)
		}
	}
	for _, r := range w.forge.Requests() {
		if r.Method != http.MethodGet && !strings.HasSuffix(r.Path, "/git-upload-pack") { // which reads
			w.t.Errorf("a request wrote: %s %s", r.Method, r.Path)
		}
	}
	if n := len(w.model.Requests()); n > 0 {
		w.t.Errorf("the model was asked %d times", n)
	}
	if l := w.list(0); len(l) > 0 {
		w.t.Errorf("there are contexts: %v", l)
	}
}

// machineTable gives the exit codes of the table in docs/architecture.md, by class.
func machineTable(t *testing.T) map[string]string {
	page, err := os.ReadFile("../../docs/architecture.md")
	must(t, err)
	_, section, _ := strings.Cut(string(page), "## Faults of the machine\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|.*\\| ([^|]+) \\|$").FindAllStringSubmatch(section, -1) {
		rows[m[1]] = m[2]
	}
	if len(rows) < 5 {
		t.Fatalf("the table has %d rows", len(rows))
	}
	return rows
}

// TestNoFaultOfTheMachine: a list of models that does not exist or fails decides nothing.
func TestNoFaultOfTheMachine(t *testing.T) {
	t.Parallel()
	for _, status := range []int{404, 503} {
		w := newWorld(t, greet())
		w.models(status)
		w.agent(0, "run")
		w.wantDone(1, w.only())
	}
}

// TestFaultInMidRound: what the model server refuses one task for, it would refuse the others for.
func TestFaultInMidRound(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]llmtest.Reply{
		"key":   llmtest.Error(401, "invalid_api_key", "Incorrect API key provided"),
		"model": llmtest.Error(404, "model_not_found", "The model does not exist"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, llmtest.Always(refusal))
			w.extra = "workers: 1"
			w.issue("Greet the moon")
			_, errOut := w.agent(78, "run")
			if strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, "no other task is started") {
				t.Errorf("it says\n%s", errOut)
			}
			touched := slices.DeleteFunc([]int{1, 2}, func(n int) bool { return len(w.forge.Comments(testRepo, n)) == 0 })
			if len(touched) != 1 {
				t.Fatalf("touched: %v, want one issue", touched)
			}
			w.wantLabels(touched[0], pausedLabel)
			w.wantLabels(3-touched[0], botLabel)
		})
	}
}

// TestRefusedInLaterRounds: rounds after an account was found empty touch no further
// issue. The paused task is the one that tries again, here by its label.
func TestRefusedInLaterRounds(t *testing.T) {
	t.Parallel()
	var paid atomic.Bool
	script := greet()
	w := newWorld(t, func(n int, r llmtest.Request) llmtest.Reply {
		if !paid.Load() {
			return llmtest.Error(402, "insufficient_quota", "Insufficient credits")
		}
		return script(n, r)
	})
	w.extra = "workers: 1"
	w.issue("Greet the moon")
	w.agent(78, "run")
	paused := w.only()
	n := 1
	if len(w.forge.Comments(testRepo, n)) == 0 {
		n = 2
	}
	w.wantLabels(n, pausedLabel)
	comments := len(w.forge.Comments(testRepo, n))
	for range 2 {
		_, errOut := w.agent(78, "run")
		if strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, "Insufficient credits") || !strings.Contains(errOut, "agent resume "+paused.UUID[:8]) {
			t.Errorf("it says\n%s", errOut)
		}
	}
	w.only() // the other one has no context
	w.wantLabels(3-n, botLabel)
	if got := len(w.forge.Comments(testRepo, n)); got != comments || len(w.forge.Comments(testRepo, 3-n)) != 0 {
		t.Errorf("%d comments on #%d, want %d, and none on the other", got, n, comments)
	}
	paid.Store(true)
	w.forge.AddLabels(testRepo, n, botLabel)
	w.agent(0, "run") // the other one may be listed first: then it waits for the next round
	w.agent(0, "run")
	w.wantLabels(n, doneLabel)
	w.wantLabels(3-n, doneLabel)
}

// TestGitGoesAway: the task that met the fault goes on where it was when git is back.
func TestGitGoesAway(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("git")
	must(t, err)
	var away string
	script := greet()
	w := newWorld(t, func(n int, r llmtest.Request) llmtest.Reply {
		if n == 1 {
			must(t, os.Remove(away))
		}
		return script(n, r)
	})
	away = w.path("programs", "git")
	must(t, os.Mkdir(w.path("programs"), 0o700))
	must(t, os.Symlink(path, away))
	shell, err := exec.LookPath("sh")
	must(t, err)
	must(t, os.Symlink(shell, w.path("programs", "sh")))
	w.env = []string{"PATH=" + w.path("programs")}
	_, errOut := w.agent(78, "run")
	if strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, "install git 2.31") {
		t.Errorf("it says\n%s", errOut)
	}
	w.wantLabels(1, processingLabel)
	must(t, os.Symlink(path, away))
	w.agent(0, "run")
	w.wantDone(1, w.only())
}
