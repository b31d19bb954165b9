package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const github = `
github: {owner: o, personal_access_token: tok-github-1}
llm: {openai: {api_key: key-openai-1}}
`

// load writes a file of mode 0600 and loads it with the given environment.
func load(t *testing.T, text string, env map[string]string, opts ...Option) (*Config, []Warning, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(path, environ(env), opts...)
}

func environ(env map[string]string) func(string) string {
	return func(name string) string {
		if v, ok := env[name]; ok {
			return v
		}
		return map[string]string{"HOME": "/home/op"}[name]
	}
}

func mustLoad(t *testing.T, text string, env map[string]string, opts ...Option) *Config {
	t.Helper()
	c, _, err := load(t, text, env, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The example names every key once and says the defaults, where it does not give an example value.
func TestExampleHasTheDefaults(t *testing.T) {
	raw, err := os.ReadFile("testdata/example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"GITHUB_PERSONAL_ACCESS_TOKEN": "tok-github-1", "OPENAI_API_KEY": "key-openai-1"}
	got, warnings, err := load(t, string(raw), env)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	want := mustLoad(t, "github: {owner: my-org, bot_name: my-bot}\ngitlab: {projects: [group/sub/project], bot_name: my-bot}", env)
	if got.Hash() != want.Hash() || !reflect.DeepEqual(got.Section("github")[0].Token, want.Section("github")[0].Token) {
		t.Errorf("example differs from the defaults:\n%+v\n%+v", got.Section("github"), want.Section("github"))
	}
	if got.ContextsDir != "/home/op/.local/state/agent/contexts" || got.PauseResume.SignalFile != got.ContextsDir+"/pause_signal" {
		t.Errorf("contexts %q, signal %q", got.ContextsDir, got.PauseResume.SignalFile)
	}
}

func TestShapes(t *testing.T) {
	c := mustLoad(t, `
task_source: [github, gitlab]
github:
  - {api_url: https://ghe.example.com/api/v3, personal_access_token: tok-1, repositories: [a/b], failed_label: ""}
  - {personal_access_token: tok-2, owner: x}
gitlab: &gl
  personal_access_token: tok-3
  projects: [group/sub/p, 42]
commentHandling: {enabled: true, completionKeywords: [fertig], maxCommentCount: 3, timeoutHours: 5}
new_comment_handling: {max_comments: 7}
planning: {enabled: true, replanning: {global: {max_total_replans: 4}}}
contexts_dir: sub/contexts
llm: {provider: lmstudio, lmstudio: {model: m, base_url: "http://127.0.0.1:1234"}}
`, nil)
	if got := c.Forges(); len(got) != 3 || got[0].FailedLabel != "" || got[1].APIURL != "https://api.github.com" || got[2].Projects[1] != "42" || got[2].Kind != "gitlab" {
		t.Errorf("forges: %+v", got)
	}
	if k := c.CommentHandling; !k.Enabled || k.CompletionKeywords[0] != "fertig" || k.MaxCommentCount != 3 || k.TimeoutHours != 5 {
		t.Errorf("comment handling: %+v", k)
	}
	if c.NewCommentHandling.Limits.MaxComments != 7 || c.Planning.Replanning.Global.MaxTotalReplans != 4 {
		t.Error("alias or nested key lost")
	}
	if !filepath.IsAbs(c.ContextsDir) || !strings.HasSuffix(c.ContextsDir, "/sub/contexts") {
		t.Errorf("contexts_dir %q is not resolved from the file's directory", c.ContextsDir)
	}
	if c.LLM.Active().URL != "http://127.0.0.1:1234/v1" {
		t.Errorf("LM Studio: %q", c.LLM.Active().URL)
	}
}

func TestObsoleteKeysWarn(t *testing.T) {
	_, warnings, err := load(t, github+`
context_storage: {enabled: true, base_dir: contexts, summary_prompt: "${NOPE}"}
scheduling: {interval: 300}
planning: {strategy: chain_of_thought, reflection: {depth: 2}}
project_agent_rules: {search: {root_files: true, agent_files: true}, limits: {max_agent_files: 10, max_prompt_files: 50, max_depth: 10}}
`, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(warnings) != 10 || !strings.HasSuffix(warnings[1].String(), "/config.yaml:5: context_storage.base_dir no longer does anything: see contexts_dir") {
		t.Errorf("warnings: %v", warnings)
	}
}

func TestEnvironmentOverridesFile(t *testing.T) {
	c := mustLoad(t, github+"gitlab: {projects: [g/p]}", map[string]string{
		"TASK_SOURCE": "github,gitlab", "GITHUB_PERSONAL_ACCESS_TOKEN": "tok-env", "GITHUB_API_URL": "http://127.0.0.1:9/", "GITLAB_PERSONAL_ACCESS_TOKEN": "tok-gl",
		"GITLAB_API_URL": "https://gl.example.com/api/v4", "GITHUB_BOT_NAME": "b1", "GITLAB_BOT_NAME": "b2", "LLM_PROVIDER": "ollama", "OLLAMA_MODEL": "q", "OLLAMA_ENDPOINT": "http://[::1]:1",
		"OPENAI_MODEL": "om", "OPENAI_BASE_URL": "https://o.example.com/v1", "OPENAI_API_KEY": "key-env", "LMSTUDIO_MODEL": "lm", "LMSTUDIO_BASE_URL": "http://localhost:2/v1",
		"FUNCTION_CALLING": "false", "NEW_COMMENT_ENABLED": "false", "NEW_COMMENT_EXCLUDE_BOT": "0", "NEW_COMMENT_PERIODIC_CHECK": "true", "NEW_COMMENT_CHECK_INTERVAL": "3",
		"PROJECT_AGENT_RULES_ENABLED": "no", "PROJECT_AGENT_RULES_MAX_FILE_SIZE": "11", "PROJECT_AGENT_RULES_MAX_TOTAL_SIZE": "12",
		"NEW_COMMENT_MAX_COMMENTS": "9", "PLANNING_ENABLED": "true", "LOGS": "/var/log/agent/agent.log", "DEBUG": "1",
	})
	n := c.NewCommentHandling
	got := []any{c.TaskSource, c.Section("github")[0].Token, c.Section("github")[0].APIURL, c.Section("gitlab")[0].Token, c.Section("gitlab")[0].APIURL, c.Section("github")[0].BotName, c.Section("gitlab")[0].BotName, c.LLM.Active().Model, c.LLM.Active().URL,
		c.LLM.Sections["openai"].Model, c.LLM.Sections["openai"].URL, c.LLM.Sections["openai"].APIKey, c.LLM.Sections["lmstudio"].Model, c.LLM.Sections["lmstudio"].URL, c.LLM.Protocol, n.Enabled, n.ExcludeBotComments, n.PeriodicCheck.Enabled,
		n.PeriodicCheck.Interval, n.Limits.MaxComments, c.Planning.Enabled, c.Log.Dir, c.Log.Level,
		c.ProjectAgentRules.Enabled, c.ProjectAgentRules.Limits.MaxFileSize, c.ProjectAgentRules.Limits.MaxTotalSize}
	want := []any{Strings{"github", "gitlab"}, "tok-env", "http://127.0.0.1:9/", "tok-gl", "https://gl.example.com/api/v4", "b1", "b2", "q", "http://[::1]:1",
		"om", "https://o.example.com/v1", "key-env", "lm", "http://localhost:2/v1", "json", false, false, true,
		3, 9, true, "/var/log/agent", "debug", false, 11, 12}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if c.Section("github")[0].AdoptWaitSeconds != 0 || c.Section("github")[0].WriteIntervalMS != 0 || c.Section("gitlab")[0].AdoptWaitSeconds != 10 || c.Section("gitlab")[0].WriteIntervalMS != 1000 {
		t.Errorf("waits: %+v", c.Forges())
	}
}

// The keys that say how a model server is spoken to, from the file and from the environment.
func TestModelKeys(t *testing.T) {
	file := `
github: {owner: o, personal_access_token: tok-github-1}
llm:
  provider: anthropic
  profile: mistral
  fallback: [openai, ollama]
  openai: {base_url: "https://n.openai.azure.com", api_version: "2024-10-21", auth: api-key, api: responses, api_key: k1, model: d}
  anthropic: {base_url: https://claude.example.com, api_key: k2, model: claude, context_length: 100000, thinking_tokens: 2048}
  ollama: {model: q}
`
	c := mustLoad(t, file, nil)
	a, o := c.LLM.Sections["anthropic"], c.LLM.Sections["openai"]
	if a.URL != "https://claude.example.com" || a.APIKey != "k2" || a.Model != "claude" || a.ContextLength != 100000 || c.Options(*a).Thinking != 2048 {
		t.Errorf("%+v", a)
	}
	if got := c.Options(*o); got.Version != "2024-10-21" || got.Auth != "api-key" || got.API != "responses" || got.Profile != "" {
		t.Errorf("%+v", got)
	}
	if others := c.LLM.Others(); c.LLM.Profile != "mistral" || len(others) != 2 || others[0].Name != "openai" || others[1].Name != "ollama" {
		t.Errorf("%q %+v", c.LLM.Profile, others)
	}
	c = mustLoad(t, file, map[string]string{"LLM_PROFILE": "plain", "LLM_FALLBACK": "ollama", "OPENAI_API_VERSION": "v", "OPENAI_AUTH": "bearer", "OPENAI_API": "chat",
		"ANTHROPIC_BASE_URL": "https://other.example.com", "ANTHROPIC_API_KEY": "k3", "ANTHROPIC_MODEL": "m", "ANTHROPIC_THINKING_TOKENS": "4096"})
	a, o = c.LLM.Sections["anthropic"], c.LLM.Sections["openai"]
	if c.LLM.Profile != "plain" || len(c.LLM.Fallback) != 1 || o.APIVersion != "v" || o.Auth != "bearer" || o.API != "chat" ||
		a.URL != "https://other.example.com" || a.APIKey != "k3" || a.Model != "m" || a.ThinkingTokens != 4096 {
		t.Errorf("%q %v %+v %+v", c.LLM.Profile, c.LLM.Fallback, o, a)
	}
}

func TestFlagsOverrideEnvironment(t *testing.T) {
	c := mustLoad(t, github, map[string]string{"LLM_PROVIDER": "lmstudio"}, Override(func(c *Config) { c.LLM.Provider = "ollama" }))
	if c.LLM.Provider != "ollama" {
		t.Error(c.LLM.Provider)
	}
	explicit := mustLoad(t, "adopt_wait_seconds: 2\ngithub: {api_url: 'http://localhost:1', write_interval_ms: 5, personal_access_token: t0, owner: o}\nllm: {provider: ollama}", nil)
	if f := explicit.Section("github")[0]; f.AdoptWaitSeconds != 2 || f.WriteIntervalMS != 5 {
		t.Errorf("explicit waits are lost: %+v", f)
	}
}

func TestExpansion(t *testing.T) {
	c := mustLoad(t, `
github: {owner: "${ORG}", bot_name: "${BOT:-fallback}", assignee: "a$$b$c", personal_access_token: "${T}"}
gitlab: {personal_access_token: "${NOT_SET}"}
llm: {provider: ollama, openai: {api_key: "${NOT_SET}"}}
`, map[string]string{"ORG": "org", "T": "tok-github-1"})
	if f := c.Section("github")[0]; f.Owner != "org" || f.BotName != "fallback" || f.Assignee != "a$b$c" || f.Token != "tok-github-1" {
		t.Errorf("%+v", f)
	}
	if _, _, err := load(t, "github: {owner: o, personal_access_token: '${NOT_SET}'}", nil, Offline()); err != nil {
		t.Errorf("offline: %v", err)
	}
}

func TestNoFileMeansDefaults(t *testing.T) {
	env := map[string]string{"HOME": t.TempDir(), "GITHUB_PERSONAL_ACCESS_TOKEN": "tok-github-1", "OPENAI_API_KEY": "key-openai-1"}
	c, _, err := Load("", environ(env), Offline())
	if err != nil || len(c.MCPServers) != 1 || c.MCPServers[0].Command[0] != "agent" {
		t.Fatal(c, err)
	}
	var none *Error
	if _, _, err := Load("", environ(map[string]string{"HOME": env["HOME"], "OPENAI_API_KEY": "key-openai-1"})); !errors.As(err, &none) || len(none.Problems) != 1 || !strings.Contains(err.Error(), "agent init writes one") {
		t.Errorf("without a file: %v", err)
	}
	if _, _, err := Load("", environ(env)); !errors.As(err, &none) || len(none.Problems) != 2 || !strings.Contains(err.Error(), "needs repositories or owner") {
		t.Errorf("with a token alone: %v", err)
	}
	if _, _, err := load(t, "task_sorce: files", nil); !errors.As(err, &none) || len(none.Problems) < 2 || !strings.Contains(none.Problems[0].Text, `did you mean "task_source"?`) {
		t.Errorf("a key that is unknown: %v", err)
	}
	if err := os.MkdirAll(env["HOME"]+"/.config/agent", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(env["HOME"]+"/.config/agent/config.yaml", []byte("workers: 7\nmcp_servers: []\ngithub: {owner: o}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, _, err = Load("", environ(env)); err != nil || c.Workers != 7 || len(c.MCPServers) != 0 {
		t.Fatal(c, err)
	}
	env["CONFIG_FILE"] = "/nowhere/config.yaml"
	var e *Error
	if _, _, err = Load("", environ(env)); !errors.As(err, &e) || e.ExitCode() != 78 {
		t.Fatal(err)
	}
}

// A file in the working directory is never taken: a working copy may hold one.
func TestWorkingDirectoryIsNotSearched(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("config.yaml", []byte("workers: 7"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, home := range []string{t.TempDir(), ""} {
		c, _, err := Load("", environ(map[string]string{"HOME": home, "XDG_STATE_HOME": "/state"}), Offline())
		if err != nil || c.Workers != 2 {
			t.Fatal(c, err)
		}
	}
}

func TestSecretsAndHash(t *testing.T) {
	text := `
github: {owner: o, personal_access_token: "tok-github-1"}
llm: {openai: {api_key: "${K}"}}
mcp_servers:
  - {mcp_server_name: a, command: [x, "--key=${ARG}"], env: {PLAIN: plain-value, API_TOKEN: named-secret, FROM: "${V}", PATH: "${P}"}}
  - {mcp_server_name: b, url: "https://m.example.com/mcp", headers: {Authorization: "Bearer ${H}"}}
notify:
  - {slack: "${SLACK}"}
  - {ntfy: "https://ntfy.sh/${TOPIC}", token: tk_0123}
  - {url: "https://n.example.com/api/deliveries-of-the-agent?key=0123456789abcdef0123"}
`
	env := map[string]string{"SLACK": "https://hooks.slack.com/services/T0/B0/Aa1Bb2Cc3Dd4Ee5Ff6Gg7Hh8", "TOPIC": "my-topic", "K": "key-openai-1", "V": "inserted-1", "H": "header-1", "P": "/usr/bin", "ARG": "argument-1"}
	c := mustLoad(t, text, env)
	want := []string{"0123456789abcdef0123", "Aa1Bb2Cc3Dd4Ee5Ff6Gg7Hh8", "Bearer header-1", "argument-1", "header-1", "inserted-1", "key-openai-1", "my-topic", "named-secret", "tk_0123", "tok-github-1"}
	if got := c.Secrets(); !reflect.DeepEqual(got, want) {
		t.Errorf("secrets %q", got)
	}
	other := mustLoad(t, strings.ReplaceAll(text, "tok-github-1", "tok-github-2"), env)
	changed := mustLoad(t, text+"workers: 3", env)
	if c.Hash() != other.Hash() || c.Hash() == changed.Hash() || len(c.Hash()) != 64 {
		t.Error("the hash must depend on everything but secrets")
	}
}

// What init writes is the defaults, and can be read again.
func TestStarter(t *testing.T) {
	for section, want := range map[string]string{
		"workers":              "workers: 2",
		"limits":               "limits: {max_tokens: 0, max_cost_usd: 0, max_minutes: 0, max_tokens_per_day: 0, max_cost_usd_per_day: 0}",
		"new_comment_handling": "new_comment_handling: {enabled: true, accept: auto}",
		"change_requests":      "change_requests: {enabled: true, branch_prefix: agent/, draft: true}",
		"loop":                 "loop: {interval_seconds: 30}",
	} {
		if got := Starter(section); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if mustLoad(t, github+Starter(section), nil).Hash() != mustLoad(t, github, nil).Hash() {
			t.Errorf("%s changes the defaults", section)
		}
	}
	for key, want := range map[string]string{
		"llm.protocol": "protocol: auto", "llm.timeout_seconds": "timeout_seconds: 600",
		"github.bot_label": "bot_label: coding agent", "gitlab.bot_label": "bot_label: coding agent",
	} {
		if got := Starter(key); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}

func TestApp(t *testing.T) {
	const ok = "llm: {provider: ollama}\ngithub: {owner: o, app: {id: 7, key_file: key.pem, installation_id: 9}}"
	app := mustLoad(t, ok, nil).Forges()[0].App
	if app.ID != 7 || app.InstallationID != 9 || !filepath.IsAbs(app.KeyFile) {
		t.Errorf("%+v", app)
	}
}

// TestSandboxDefault keeps in what runs the model's commands only.
func TestSandboxDefault(t *testing.T) {
	c := mustLoad(t, "llm: {provider: ollama}\ngithub: {owner: o, personal_access_token: t0}\nmcp_servers:\n  - {mcp_server_name: workspace, command: [agent, mcp, workspace, --root, \"{workspace}\"]}\n  - {mcp_server_name: mine, command: [my-server]}\n  - {mcp_server_name: strict, command: [s], sandbox: required}\n", nil)
	var got []string
	for _, s := range c.MCPServers {
		got = append(got, s.Sandbox)
	}
	if want := []string{"required", "off", "required"}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}
