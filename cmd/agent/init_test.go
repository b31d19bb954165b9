package main

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agent/forge/forgetest"
	"agent/internal/config"
)

// written runs init and reads what it wrote, with the variables that it names set.
func (w *world) written(args ...string) (*config.Config, string) {
	w.t.Helper()
	file := w.path("new", "config.yaml")
	out, _ := w.agent(0, append([]string{"init", "--output", file}, args...)...)
	info, err := os.Stat(file)
	must(w.t, err)
	if info.Mode().Perm() != 0o600 {
		w.t.Errorf("mode %04o", info.Mode().Perm())
	}
	raw, err := os.ReadFile(file)
	must(w.t, err)
	if strings.Contains(string(raw), testToken) {
		w.t.Errorf("the token stands in\n%s", raw)
	}
	env := map[string]string{"HOME": w.dir, "FORGE_TOKEN": testToken, "GITHUB_PERSONAL_ACCESS_TOKEN": testToken,
		"GITLAB_PERSONAL_ACCESS_TOKEN": testToken, "OPENAI_API_KEY": testKey}
	cfg, warnings, err := config.Load(file, func(name string) string { return env[name] })
	if err != nil || len(warnings) > 0 {
		w.t.Fatalf("%v %v in\n%s", err, warnings, raw)
	}
	return cfg, out
}

// What init writes is what the doctor and a run can use.
func TestInitToDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	w.env = []string{"FORGE_TOKEN=" + testToken, "OPENAI_API_KEY=" + testKey}
	cfg, out := w.written("--forge-url", w.forge.URL(), "--repo", testRepo, "--token-env", "FORGE_TOKEN", "--bot-name", testBot,
		"--base-url", w.model.URL(), "--model", "scripted", "--create-labels")
	if f := cfg.Section("github")[0]; f.Token != testToken || f.BotName != testBot || f.Projects[0] != testRepo || f.APIURL != w.forge.URL() {
		t.Errorf("wrote %+v", f.Projects)
	}
	file := w.path("new", "config.yaml")
	for _, words := range []string{file, "agent doctor --config " + file, "agent run --dry-run", doneLabel, "FORGE_TOKEN"} {
		if !strings.Contains(out, words) {
			t.Errorf("init does not say %q:\n%s", words, out)
		}
	}
	again := jsonOf[initialized](w, 0, "init", "--output", file, "--force", "--forge-url", w.forge.URL(), "--repo", testRepo, "--token-env", "FORGE_TOKEN",
		"--base-url", w.model.URL(), "--model", "scripted", "--create-labels")
	if again.File != file || len(again.Labels) > 0 || !slices.Equal(again.Variables, []string{"FORGE_TOKEN", "OPENAI_API_KEY"}) { // all labels are there by now
		t.Errorf("init --json: %+v", again)
	}
	if out := w.with(file, "doctor", "--no-model-call"); strings.Contains(out, "✗") || !strings.Contains(out, "all labels exist") {
		t.Errorf("the doctor says\n%s", out)
	}
	if out := w.with(file, "run", "--dry-run"); !strings.Contains(out, "would start") {
		t.Errorf("the dry run says\n%s", out)
	}
	w.with(file, "run")
	w.wantLabels(1, doneLabel)
	if out := w.with(file, "status", "--check"); !strings.HasPrefix(out, "ok: ") {
		t.Errorf("the status is\n%s", out)
	}
}

// with runs a command on another configuration, and wants it to succeed.
func (w *world) with(file string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command(agentPath(w.t), append(args, "--config", file)...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir}, w.env...)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("agent %v: %v\n%s%s", args, err, out, errOut.Bytes())
	}
	return string(out)
}

func TestInitProviders(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	for _, c := range []struct {
		args                            []string
		source, provider, url, language string
	}{
		{[]string{"--repo", "a/b"}, "github", "openai", "https://api.openai.com/v1", "auto"},
		{[]string{"--repo", "a/b,c/d", "--provider", "ollama", "--lang", "ja"}, "github", "ollama", "http://127.0.0.1:11434", "ja"},
		{[]string{"--repo", "g/s/p", "--forge-url", "https://gitlab.example.com/api/v4", "--provider", "lmstudio", "--model", `odd "$name"`, "--lang", "en"},
			"gitlab", "lmstudio", "http://127.0.0.1:1234/v1", "en"},
	} {
		cfg, out := w.written(append(c.args, "--force")...)
		active := cfg.LLM.Active()
		if cfg.TaskSource[0] != c.source || active.Name != c.provider || active.URL != c.url || cfg.Language != c.language {
			t.Errorf("%v wrote %v %+v", c.args, cfg.TaskSource, active)
		}
		if c.provider == "lmstudio" && active.Model != `odd "$name"` {
			t.Errorf("model %q", active.Model)
		}
		if c.language == "ja" && !strings.Contains(out, "作成しました") {
			t.Errorf("not in Japanese:\n%s", out)
		}
	}
}

func TestInitRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	file := w.path("new.yaml")
	for _, args := range [][]string{
		{}, {"--repo", "a/b", "--provider", "other"}, {"--repo", "a/b", "--lang", "fr"},
		{"--repo", "a/b", "--token-env", testToken + "-x"}, {"--repo", "a/b", "--token-env", testToken}, {"--repo", "a/b", "--bot-name", testToken},
		{"--repo", "a/b", "--token-env", "a0b1c2d3e4f5a0b1c2d3e4f5a0b1c2d3e4f5a0b1"}, {"--repo", "a/b", "--workspace", "nowhere"},
		{"--repo", "a/b", "--forge-url", "ftp://x"}, {"--repo", "a/b", "--base-url", "http://example.com"}, {"--repo", "a/b", "--provider", "lmstudio"},
	} {
		_, errOut := w.agent(2, append([]string{"init", "--output", file}, args...)...)
		if strings.Contains(errOut, testToken) || strings.Contains(errOut, "a0b1c2") {
			t.Errorf("repeats a token: %s", errOut)
		}
	}
	w.agent(2, "init", "--output", file, "--repo", "not a repository")
	if _, err := os.Lstat(file); err == nil {
		t.Error("a refused configuration was written")
	}
	w.agent(0, "init", "--output", file, "--repo", "a/b")
	before, err := os.ReadFile(file)
	must(t, err)
	w.agent(2, "init", "--output", file, "--repo", "c/d")
	after, err := os.ReadFile(file)
	must(t, err)
	if !bytes.Equal(before, after) {
		t.Error("a file that was there was changed without --force")
	}
	if left, _ := filepath.Glob(w.path(".config-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Without the right to make labels the file is there all the same, and what to do next is said.
func TestInitWithoutLabels(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	w.env = []string{"FORGE_TOKEN=" + testToken, "OPENAI_API_KEY=" + testKey}
	w.forge.Fault(forgetest.Fault{Method: http.MethodPost, Times: -1, Kind: forgetest.Answer, Status: 403, Body: "{}"})
	file := w.path("new.yaml")
	p := w.start("init", "--output", file, "--forge-url", w.forge.URL(), "--repo", testRepo, "--token-env", "FORGE_TOKEN", "--base-url", w.model.URL(),
		"--model", "scripted", "--create-labels", "--workspace", "work")
	if code := p.wait(); code == 0 || code == 2 {
		t.Errorf("exit %d", code)
	}
	if !strings.Contains(p.err.String(), "not all labels were created") || !strings.Contains(p.out.String(), "agent doctor --config "+file) {
		t.Errorf("said\n%s%s", p.out.String(), p.err.String())
	}
	raw, err := os.ReadFile(file)
	must(t, err)
	if !strings.Contains(string(raw), "workspace: \""+w.path("work")+"\"") {
		t.Errorf("no workspace in\n%s", raw)
	}
}
