package main

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"agent/forge/forgetest"
	"agent/internal/doctor"
	"agent/internal/exhaustive"
	"agent/llm/llmtest"
)

func ping() llmtest.Script { return llmtest.Always(llmtest.ToolCall("ping", "{}")) }

// findings gives what the doctor says, by check.
func (w *world) findings(code int, args ...string) map[string][]doctor.Finding {
	w.t.Helper()
	out, errOut := w.agent(code, append([]string{"doctor", "--json"}, args...)...)
	var all []doctor.Finding
	for line := range strings.Lines(out) {
		var f doctor.Finding
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			w.t.Fatalf("%v in\n%s", err, out)
		}
		all = append(all, f)
	}
	for _, secret := range []string{testToken, testKey} {
		if strings.Contains(out+errOut, secret) {
			w.t.Errorf("the doctor prints the secret %q", secret)
		}
	}
	if strings.Contains(out, "%!") {
		w.t.Errorf("a text and its values do not fit:\n%s", out)
	}
	by := map[string][]doctor.Finding{}
	for _, f := range all {
		by[f.Check] = append(by[f.Check], f)
	}
	return by
}

// wantFinding wants a finding with this result whose text or advice holds some words.
func (w *world) wantFinding(by map[string][]doctor.Finding, check string, result doctor.Result, words string) {
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
	w.wantFinding(by, "config", doctor.OK, "config.yaml")
	w.wantFinding(by, "file mode", doctor.OK, "0600")
	w.wantFinding(by, "contexts", doctor.OK, "locks work")
	w.wantFinding(by, "disk", doctor.OK, "iB free")
	w.wantFinding(by, "git", doctor.OK, "git version")
	w.wantFinding(by, w.forge.Host(), doctor.OK, testBot)
	w.wantFinding(by, w.forge.Host(), doctor.OK, "repo")
	w.wantFinding(by, w.forge.Host(), doctor.OK, "clock")
	w.wantFinding(by, w.forge.Host(), doctor.OK, "4999 of 5000")
	w.wantFinding(by, testRepo, doctor.OK, "main")
	w.wantFinding(by, testRepo, doctor.OK, processingLabel)
	w.wantFinding(by, testRepo, doctor.OK, "git can read")
	w.wantFinding(by, "model", doctor.OK, "scripted")
	w.wantFinding(by, "tool calls", doctor.OK, "ping")
	w.wantFinding(by, "tool server workspace", doctor.OK, "list_files")
	w.wantFinding(by, "prompt injection", doctor.OK, "")
	for _, r := range w.forge.Requests() {
		if r.Method != http.MethodGet && !strings.HasSuffix(r.Path, "/git-upload-pack") { // git asks with POST, too
			t.Errorf("the doctor wrote: %s %s", r.Method, r.Path)
		}
	}
	out, _ := w.agent(0, "doctor", "--no-model-call")
	if !strings.Contains(out, "✓ model server: ") || !strings.Contains(out, "✓ project "+testRepo+": ") || strings.Contains(out, "✗") || !strings.Contains(out, "Ready") {
		t.Errorf("printed\n%s", out)
	}
	if n := len(w.model.Requests()); n != 4 {
		t.Errorf("the model was asked %d times, want a conversation of four turns", n)
	}
}

func TestDoctorFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, c := range exhaustive.SampleMap(map[string]struct {
		script  llmtest.Script
		spoil   func(w *world)
		check   string // "" stands for the forge
		result  doctor.Result
		words   string
		healthy bool
	}{
		"token": {spoil: func(w *world) {
			w.env = []string{"GITHUB_PERSONAL_ACCESS_TOKEN=ghp_wrongwrongwrongwrongwrongwrongwrong1"}
		},
			result: doctor.Failed, words: "GITHUB_PERSONAL_ACCESS_TOKEN"},
		"no forge": {spoil: func(w *world) { w.forge.Fault(forgetest.Fault{Times: -1, Kind: forgetest.Drop}) }, result: doctor.Failed, words: "api_url of github"},
		"bot":      {spoil: func(w *world) { w.env = []string{"GITHUB_BOT_NAME=somebody"} }, result: doctor.Warning, words: "bot_name: " + testBot, healthy: true},
		"clock": {spoil: func(w *world) { w.forge.SetClock(func() time.Time { return time.Now().Add(-61 * time.Minute) }) },
			result: doctor.Failed, words: "1h"},
		"scopes": {spoil: func(w *world) {
			w.forge.Fault(forgetest.Fault{Path: "/rate_limit", Times: -1, Kind: forgetest.Answer, Status: 200, Body: "{}",
				Header: http.Header{"X-Oauth-Scopes": {"read:user, gist"}, "X-Ratelimit-Remaining": {"7"}}})
		}, result: doctor.Failed, words: "scope repo"},
		"no scopes": {spoil: func(w *world) { // a classic token without any has the header, empty
			w.forge.Fault(forgetest.Fault{Path: "/rate_limit", Times: -1, Kind: forgetest.Answer, Status: 200, Body: "{}",
				Header: http.Header{"X-Oauth-Scopes": {""}}})
		}, result: doctor.Failed, words: "scope repo"},
		"no code": {spoil: func(w *world) { // the token reads issues, not contents
			w.forge.Fault(forgetest.Fault{Path: ".*git/info/refs", Times: -1, Kind: forgetest.Answer, Status: 403, Body: "Write access to repository not granted."})
		}, check: testRepo, result: doctor.Failed, words: "right to read the code"},
		"rate": {spoil: func(w *world) {
			w.forge.Fault(forgetest.Fault{Path: "/rate_limit", Times: -1, Kind: forgetest.Answer, Status: 200, Body: "{}",
				Header: http.Header{"X-Ratelimit-Remaining": {"7"}, "X-Ratelimit-Limit": {"60"}}})
		}, result: doctor.Warning, words: "7 of 60", healthy: true},
		"repository": {spoil: func(w *world) { w.forge.RemoveRepository(testRepo) }, check: testRepo, result: doctor.Failed, words: "name"},
		"read only":  {spoil: func(w *world) { w.forge.SetPermission(testRepo, testBot, "read") }, check: testRepo, result: doctor.Warning, words: "write access", healthy: true},
		"model":      {spoil: func(w *world) { w.env = []string{"OPENAI_MODEL=other"} }, check: "model", result: doctor.Failed, words: "scripted"},
		"model down": {spoil: func(w *world) { w.env = []string{"OPENAI_BASE_URL=http://127.0.0.1:1/v1"} }, check: "model", result: doctor.Failed, words: "127.0.0.1:1"},
		"words":      {script: llmtest.Always(llmtest.Text("pong")), check: "tool calls", result: doctor.Warning, words: "llm.protocol: json", healthy: true},
		"refused":    {script: llmtest.Always(llmtest.ToolsRefused()), spoil: func(w *world) { w.llm = "\n  protocol: tools" }, check: "tool calls", result: doctor.Failed, words: "tools"},
		"server": {spoil: func(w *world) { w.extra = "mcp_servers: [{mcp_server_name: gone, command: [/no/such/program]}]" },
			check: "tool server gone", result: doctor.Failed, words: "by hand"},
		"allow": {spoil: func(w *world) {
			w.extra = `mcp_servers: [{mcp_server_name: workspace, command: [agent, mcp, workspace, --root, "{workspace}"], allow: [read_file, nothing]}]`
		}, check: "tool server workspace", result: doctor.Warning, words: `"nothing"`, healthy: true},
		"no /v1": {spoil: func(w *world) {
			w.env = []string{"OPENAI_BASE_URL=" + strings.TrimSuffix(w.model.URL(), "/v1") + "/v2"}
		},
			check: "model", result: doctor.Failed, words: "/v2/models answers HTTP 404 → check llm.openai.base_url: does it end in /v1?"},
		"replaced": {spoil: func(w *world) { w.env = []string{"OPENAI_API_KEY=another-0123456789"} },
			check: "model", result: doctor.Warning, words: "OPENAI_API_KEY overrides llm.openai.api_key", healthy: true},
		"replaced token": {spoil: func(w *world) {
			w.env = []string{"GITHUB_PERSONAL_ACCESS_TOKEN=ghp_wrongwrongwrongwrongwrongwrongwrong1"}
		}, result: doctor.Warning, words: "GITHUB_PERSONAL_ACCESS_TOKEN overrides github.personal_access_token"},
		"in place": {spoil: func(w *world) { w.inPlace() }, check: "workspace", result: doctor.OK, words: "without uncommitted", healthy: true},
		"changes": {spoil: func(w *world) {
			w.inPlace()
			must(w.t, os.WriteFile(w.path("work", "new.txt"), []byte("x"), 0o600))
		}, check: "workspace", result: doctor.Warning, words: "(files: 1)", healthy: true},
		"plain directory": {spoil: func(w *world) {
			w.inPlace()
			must(w.t, os.RemoveAll(w.path("work", ".git")))
		}, check: "workspace", result: doctor.Warning, words: "git init", healthy: true},
		"no workspace": {spoil: func(w *world) {
			w.inPlace()
			must(w.t, os.RemoveAll(w.path("work")))
		}, check: "workspace", result: doctor.Failed, words: "is not a directory"},
		"signal": {spoil: func(w *world) {
			must(w.t, os.MkdirAll(w.path("contexts"), 0o700))
			must(w.t, os.WriteFile(w.path("contexts", "pause_signal"), nil, 0o600))
		}, check: "pause signal", result: doctor.Warning, words: "agent resume --all", healthy: true},
		"git": {spoil: func(w *world) { w.env = []string{"PATH=" + w.path("empty")} }, check: "git", result: doctor.Failed, words: "install git"},
		"trifecta": {spoil: func(w *world) {
			w.forge.RemoveRepository(testRepo)
			w.forge.AddRepository(testRepo, forgetest.Repository{Git: w.path("origin.git")})
			w.extra = `new_comment_handling: {accept: any}
mcp_servers: [{mcp_server_name: workspace, command: [agent, mcp, workspace, --root, "{workspace}"], sandbox: "off"}]`
		}, check: "prompt injection", result: doctor.Warning, words: testRepo, healthy: true},
		"trusted": {spoil: func(w *world) {
			w.forge.RemoveRepository(testRepo)
			w.forge.AddRepository(testRepo, forgetest.Repository{Git: w.path("origin.git")})
			w.extra = "new_comment_handling: {accept: trusted}"
		}, check: "prompt injection", result: doctor.OK, words: "trusted", healthy: true},
		"sandbox": {spoil: func(w *world) {
			w.extra = `mcp_servers: [{mcp_server_name: workspace, command: [agent, mcp, workspace, --root, "{workspace}"], sandbox: "off"}]`
		}, check: "sandbox", result: doctor.Warning, words: "sandbox is off", healthy: true},
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
	w.wantFinding(by, "config", doctor.Failed, "workers")
	if len(by) != 1 {
		t.Errorf("more than the configuration was checked: %v", by)
	}
	w.extra = `system_prompt_file: "${ABSENT}"`
	w.wantFinding(w.findings(78), "config", doctor.Failed, "set -a; . ~/.config/agent/env")
	cmd := exec.Command(agentPath(t), "doctor") // without any file
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.path("empty")}
	if out, err := cmd.Output(); err == nil || !strings.Contains(string(out), "✗ configuration: there is no configuration file") || strings.Contains(string(out), ": config:") {
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
	w.wantFinding(by, "contexts", doctor.Failed, "chmod 700")
}

// The labels of a configuration that exists already are created on demand, and only then.
func TestDoctorCreatesLabels(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ping())
	w.wantFinding(w.findings(0, "--no-model-call"), testRepo, doctor.OK, "when it needs them: "+processingLabel)
	w.forge.Fault(forgetest.Fault{Method: http.MethodPost, Path: ".*/labels", Times: 1, Kind: forgetest.Answer, Status: 403, Body: "{}"})
	w.wantFinding(w.findings(78, "--no-model-call", "--create-labels"), testRepo, doctor.Failed, "right to create labels")
	by := w.findings(0, "--no-model-call", "--create-labels")
	w.wantFinding(by, testRepo, doctor.OK, "created labels: ")
	w.wantFinding(by, testRepo, doctor.OK, doneLabel)
	w.wantFinding(w.findings(0, "--no-model-call", "--create-labels"), testRepo, doctor.OK, "all labels exist")
}
