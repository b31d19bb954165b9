package main

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"agent/forge/forgetest"
	"agent/internal/exhaustive"
	"agent/internal/i18n"
	"agent/llm/llmtest"
)

func ping() llmtest.Script { return llmtest.Always(llmtest.ToolCall("ping", "{}")) }

// findings gives what the doctor says, by check.
func (w *world) findings(code int, args ...string) map[string][]finding {
	w.t.Helper()
	out, errOut := w.agent(code, append([]string{"doctor", "--json"}, args...)...)
	var all []finding
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		w.t.Fatalf("%v in\n%s", err, out)
	}
	for _, secret := range []string{testToken, testKey} {
		if strings.Contains(out+errOut, secret) {
			w.t.Errorf("the doctor prints the secret %q", secret)
		}
	}
	if strings.Contains(out, "%!") {
		w.t.Errorf("a text and its values do not fit:\n%s", out)
	}
	by := map[string][]finding{}
	for _, f := range all {
		by[f.Check] = append(by[f.Check], f)
	}
	return by
}

// wantFinding wants a finding with this result whose text or advice holds some words.
func (w *world) wantFinding(by map[string][]finding, check, result, words string) {
	w.t.Helper()
	for _, f := range by[check] {
		if f.Result == result && strings.Contains(f.Text+" → "+f.Todo, words) {
			return
		}
	}
	w.t.Errorf("no %q of %s with %q; there are %+v", result, check, words, by[check])
}

func TestDoctorFindsNothingWrong(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ping())
	by := w.findings(0)
	w.wantFinding(by, "config", good, "config.yaml")
	w.wantFinding(by, "modes", good, "0600")
	w.wantFinding(by, "contexts", good, "locks work")
	w.wantFinding(by, "disk", good, "MiB")
	w.wantFinding(by, "git", good, "git version")
	w.wantFinding(by, w.forge.Host(), good, testBot)
	w.wantFinding(by, w.forge.Host(), good, "repo")
	w.wantFinding(by, w.forge.Host(), good, "clock")
	w.wantFinding(by, w.forge.Host(), good, "4999 of 5000")
	w.wantFinding(by, testRepo, good, "main")
	w.wantFinding(by, testRepo, good, processingLabel)
	w.wantFinding(by, "model", good, "scripted")
	w.wantFinding(by, "tool calls", good, "ping")
	w.wantFinding(by, "mcp workspace", good, "read_file")
	w.wantFinding(by, "trifecta", good, "")
	for _, r := range w.forge.Requests() {
		if r.Method != http.MethodGet {
			t.Errorf("the doctor wrote: %s %s", r.Method, r.Path)
		}
	}
	out, _ := w.agent(0, "doctor", "--no-model-call")
	if !strings.Contains(out, "✓ model") || strings.Contains(out, "✗") || !strings.Contains(out, "Ready") {
		t.Errorf("printed\n%s", out)
	}
	if n := len(w.model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times, want once", n)
	}
}

func TestDoctorFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, c := range exhaustive.SampleMap(map[string]struct {
		script  llmtest.Script
		spoil   func(w *world)
		check   string // "" stands for the forge
		result  string
		words   string
		healthy bool
	}{
		"token": {spoil: func(w *world) {
			w.env = []string{"GITHUB_PERSONAL_ACCESS_TOKEN=ghp_wrongwrongwrongwrongwrongwrongwrong1"}
		},
			result: bad, words: "GITHUB_PERSONAL_ACCESS_TOKEN"},
		"no forge": {spoil: func(w *world) { w.forge.Fault(forgetest.Fault{Times: -1, Kind: forgetest.Drop}) }, result: bad, words: "api_url of github"},
		"bot":      {spoil: func(w *world) { w.env = []string{"GITHUB_BOT_NAME=somebody"} }, result: warning, words: "bot_name: " + testBot, healthy: true},
		"clock": {spoil: func(w *world) { w.forge.SetClock(func() time.Time { return time.Now().Add(-time.Hour) }) },
			result: bad, words: "1h0m"},
		"scopes": {spoil: func(w *world) {
			w.forge.Fault(forgetest.Fault{Path: "/rate_limit", Times: -1, Kind: forgetest.Answer, Status: 200, Body: "{}",
				Header: http.Header{"X-Oauth-Scopes": {"read:user, gist"}, "X-Ratelimit-Remaining": {"7"}}})
		}, result: bad, words: "scope repo"},
		"rate": {spoil: func(w *world) {
			w.forge.Fault(forgetest.Fault{Path: "/rate_limit", Times: -1, Kind: forgetest.Answer, Status: 200, Body: "{}",
				Header: http.Header{"X-Ratelimit-Remaining": {"7"}, "X-Ratelimit-Limit": {"60"}}})
		}, result: warning, words: "7 of 60", healthy: true},
		"repository": {spoil: func(w *world) { w.forge.RemoveRepository(testRepo) }, check: testRepo, result: bad, words: "name"},
		"read only":  {spoil: func(w *world) { w.forge.SetPermission(testRepo, testBot, "read") }, check: testRepo, result: warning, words: "right to write", healthy: true},
		"model":      {spoil: func(w *world) { w.env = []string{"OPENAI_MODEL=other"} }, check: "model", result: bad, words: "scripted"},
		"model down": {spoil: func(w *world) { w.env = []string{"OPENAI_BASE_URL=http://127.0.0.1:1/v1"} }, check: "model", result: bad, words: "127.0.0.1:1"},
		"words":      {script: llmtest.Always(llmtest.Text("pong")), check: "tool calls", result: warning, words: "llm.protocol: json", healthy: true},
		"refused":    {script: llmtest.Always(llmtest.ToolsRefused()), spoil: func(w *world) { w.llm = "\n  protocol: tools" }, check: "tool calls", result: bad, words: "tools"},
		"server": {spoil: func(w *world) { w.extra = "mcp_servers: [{mcp_server_name: gone, command: [/no/such/program]}]" },
			check: "mcp gone", result: bad, words: "by hand"},
		"allow": {spoil: func(w *world) {
			w.extra = `mcp_servers: [{mcp_server_name: workspace, command: [agent, mcp, workspace, --root, "{workspace}"], allow: [read_file, nothing]}]`
		}, check: "mcp workspace", result: warning, words: `"nothing"`, healthy: true},
		"no /v1": {spoil: func(w *world) {
			w.env = []string{"OPENAI_BASE_URL=" + strings.TrimSuffix(w.model.URL(), "/v1") + "/v2"}
		},
			check: "model", result: bad, words: "/v2/models answers HTTP 404 → check llm.openai.base_url: does it end in /v1?"},
		"replaced": {spoil: func(w *world) { w.env = []string{"OPENAI_API_KEY=another-0123456789"} },
			check: "model", result: warning, words: "OPENAI_API_KEY wins over llm.openai.api_key", healthy: true},
		"replaced token": {spoil: func(w *world) {
			w.env = []string{"GITHUB_PERSONAL_ACCESS_TOKEN=ghp_wrongwrongwrongwrongwrongwrongwrong1"}
		}, result: warning, words: "GITHUB_PERSONAL_ACCESS_TOKEN wins over github.personal_access_token"},
		"in place": {spoil: func(w *world) { w.inPlace() }, check: "workspace", result: good, words: "without uncommitted", healthy: true},
		"changes": {spoil: func(w *world) {
			w.inPlace()
			must(w.t, os.WriteFile(w.path("work", "new.txt"), []byte("x"), 0o600))
		}, check: "workspace", result: warning, words: "(files: 1)", healthy: true},
		"plain directory": {spoil: func(w *world) {
			w.inPlace()
			must(w.t, os.RemoveAll(w.path("work", ".git")))
		}, check: "workspace", result: warning, words: "git init", healthy: true},
		"no workspace": {spoil: func(w *world) {
			w.inPlace()
			must(w.t, os.RemoveAll(w.path("work")))
		}, check: "workspace", result: bad, words: "is not a directory"},
		"signal": {spoil: func(w *world) {
			must(w.t, os.MkdirAll(w.path("contexts"), 0o700))
			must(w.t, os.WriteFile(w.path("contexts", "pause_signal"), nil, 0o600))
		}, check: "signal", result: warning, words: "agent resume --all", healthy: true},
		"git": {spoil: func(w *world) { w.env = []string{"PATH=" + w.path("empty")} }, check: "git", result: bad, words: "install git"},
		"trifecta": {spoil: func(w *world) {
			w.forge.RemoveRepository(testRepo)
			w.forge.AddRepository(testRepo, forgetest.Repository{})
			w.extra = `new_comment_handling: {accept: any}
mcp_servers: [{mcp_server_name: workspace, command: [agent, mcp, workspace, --root, "{workspace}"], sandbox: "off"}]`
		}, check: "trifecta", result: warning, words: testRepo, healthy: true},
		"trusted": {spoil: func(w *world) {
			w.forge.RemoveRepository(testRepo)
			w.forge.AddRepository(testRepo, forgetest.Repository{})
			w.extra = "new_comment_handling: {accept: trusted}"
		}, check: "trifecta", result: good, words: "trusted", healthy: true},
		"sandbox": {spoil: func(w *world) {
			w.extra = `mcp_servers: [{mcp_server_name: workspace, command: [agent, mcp, workspace, --root, "{workspace}"], sandbox: "off"}]`
		}, check: "sandbox", result: warning, words: "switched off", healthy: true},
	}, 3) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.script == nil {
				c.script = ping()
			}
			w := newWorld(t, c.script)
			if c.spoil != nil {
				c.spoil(w)
			}
			code := 78
			if c.healthy {
				code = 0
			}
			if c.check == "" {
				c.check = w.forge.Host()
			}
			w.wantFinding(w.findings(code), c.check, c.result, c.words)
		})
	}
}

func TestDoctorOnBrokenConfiguration(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ping())
	w.extra = "workers: many\nnonsense: 1"
	by := w.findings(78)
	w.wantFinding(by, "config", bad, "workers")
	if len(by) != 1 {
		t.Errorf("more than the configuration was checked: %v", by)
	}
	w.extra = `system_prompt_file: "${ABSENT}"`
	w.wantFinding(w.findings(78), "config", bad, "set -a; . ~/.config/agent/env")
	cmd := exec.Command(agentPath(t), "doctor") // without any file
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.path("empty")}
	if out, err := cmd.Output(); err == nil || !strings.Contains(string(out), "✗ config: there is no configuration file") || strings.Contains(string(out), "config: config:") {
		t.Errorf("without a file: %v\n%s", err, out)
	}
	w.extra = "language: ja"
	if out, _ := w.agent(0, "doctor", "--no-model-call"); !strings.Contains(out, "準備完了") {
		t.Errorf("not in Japanese:\n%s", out)
	}
}

func TestDoctorWantsPrivateContexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ping())
	must(t, os.Mkdir(w.path("contexts"), 0o755))
	by := w.findings(78, "--no-model-call")
	w.wantFinding(by, "contexts", bad, "chmod 700")
}

// Every text that the commands name is in the table.
func TestTextsExist(t *testing.T) {
	t.Parallel()
	id := regexp.MustCompile(`"((?:status|why|stats|dry|doctor|init)\.[a-z_.]+)"`)
	files, err := filepath.Glob("*.go")
	must(t, err)
	seen := 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		must(t, err)
		for _, m := range id.FindAllStringSubmatch(string(source), -1) {
			seen++
			if name := i18n.ID(m[1]); !i18n.Has(name) && !i18n.Has(name+"other") && name != "stats.by." {
				t.Errorf("%s: no text %q", file, name)
			}
		}
	}
	if seen < 100 {
		t.Fatalf("only %d texts were looked for", seen)
	}
}
