package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// refused are texts and a part of the one message that each must give.
var refused = []struct {
	name, text, want string
	env              map[string]string
}{
	{"unknown key", "workers: 2\nllm:\n  openai: {modle: x}", `config.yaml:3: unknown key "modle": did you mean "model"?`, nil},
	{"unknown top key", "wrokers: 2", `config.yaml:1: unknown key "wrokers": did you mean "workers"?`, nil},
	{"nothing like it", "zzzzzzzzzzzz: 2", `config.yaml:1: unknown key "zzzzzzzzzzzz"`, nil},
	{"key of a list item", "mcp_servers:\n  - mcp_server_name: a\n    comand: [x]\n    url: https://e.com", `:3: unknown key "comand": did you mean "command"?`, nil},
	{"duplicate key", "workers: 2\nworkers: 3", `:2: duplicate key "workers" (first in line 1)`, nil},
	{"alias and key", "new_comment_handling:\n  max_comments: 3\n  limits: {max_comments: 4}", ":3: new_comment_handling.limits.max_comments is set twice", nil},
	{"tab", "llm:\n\tprovider: openai", ":2: a tab in the indentation", nil},
	{"yes", "allow_http: yes", ":1: allow_http: must be true or false", nil},
	{"no", "planning: {enabled: no}", "planning.enabled: must be true or false", nil},
	{"octal", "workers: 0o17", "workers: must be a whole number", nil},
	{"underscore", "max_llm_process_num: 1_000", "must be a whole number", nil},
	{"text for a number", "workers: many", "workers: must be a whole number", nil},
	{"list for a number", "workers: [1]", "workers: must be a single value", nil},
	{"nothing", "workers:", "workers: has no value", nil},
	{"number for a section", "llm: 3", "llm: must be a mapping", nil},
	{"text for a list", "mcp_servers: x", "mcp_servers: must be a list", nil},
	{"bool for text", "language: true", "language: must be text", nil},
	{"list at the top", "- a", "the file: must be a mapping", nil},
	{"merge", "llm: &a {provider: openai}\nlog:\n  <<: *a", ":3: merging", nil},
	{"broken", "llm: {provider", "not valid YAML", nil},
	{"brace", "workers: 2\nllm: {provider: openai\nlanguage: ja\nlog: {level: info}\n", "config.yaml:2: not valid YAML: a { is not closed", nil},
	{"bracket", "workers: 2\ngithub:\n  owner: o\n  repositories: [a/b, c/d\n  bot_name: x\nlanguage: ja\n", "config.yaml:4: not valid YAML: a [ is not closed", nil},
	{"open quote", "workers: 2\nlanguage: \"ja\nlog: {level: info}\n", "config.yaml:2: not valid YAML: a quote is not closed", nil},
	{"indentation", "workers: 2\ngithub:\n  owner: o\n   bot_name: x\nlanguage: ja\n", "config.yaml:4: not valid YAML: a second", nil},
	{"less indentation", "workers: 2\ngithub:\n    owner: o\n  bot_name: x\nlanguage: ja\n", "config.yaml:4: not valid YAML: a line of this section does not line up", nil},
	{"less indentation further in", "workers: 2\ngithub:\n  app:\n      id: 1\n    key_file: x\n", "config.yaml:3: not valid YAML: a line of this section does not line up", nil},
	{"no colon", "workers 2\nlanguage: ja\n", "config.yaml:2: not valid YAML", nil},
	{"no colon further down", "workers: 2\nlanguage ja\nlog: {}\n", "config.yaml:2: not valid YAML: a key without", nil},
	{"key in a list", "mcp_servers:\n  - x\n  y: 1\n", "config.yaml:2: not valid YAML: a line of this list does not line up", nil},
	{"unknown anchor", "workers: 2\nlanguage: *x\n", "config.yaml: not valid YAML: a * before", nil},
	{"at sign", "github:\n  owner: @o\n", "config.yaml:2: not valid YAML: a value must not begin with @", nil},
	{"section of another", "llm:\n  ollama: {model: m}", "config.yaml:2: llm.ollama is set but llm.provider is openai: set provider: ollama", map[string]string{"OPENAI_API_KEY": ""}},
	{"base_url of ollama", "llm: {provider: ollama, ollama: {base_url: 'http://127.0.0.1:1'}}", `unknown key "base_url": did you mean "endpoint"?`, nil},
	{"repos", "github: {repos: [a/b]}", `unknown key "repos": did you mean "repositories"?`, nil},
	{"olama", "llm: {provider: olama}", `llm.provider: must be one of openai, ollama, lmstudio, anthropic: did you mean "ollama"?`, nil},
	{"tasks through no server", "github:\n  owner: o\n  tasks_via: mcp", `config.yaml:3: github.tasks_via: mcp needs an entry of mcp_servers with the name "github"`, nil},
	{"comments through no server", "github:\n  owner: o\n  comments_via: mcp", `config.yaml:3: github.comments_via: mcp needs an entry`, nil},
	{"tasks through a server without a list", "github:\n  owner: o\n  tasks_via: mcp\nmcp_servers: [{mcp_server_name: github, command: [x]}]", `config.yaml:3: github.tasks_via: mcp needs the list`, nil},
	{"two documents", "workers: 2\n---\nworkers: 3", "more than one document", nil},
	{"nul", "workers: 2\x00", "NUL", nil},
	{"large", "# " + strings.Repeat("x", maxFile), "larger than 1 MiB", nil},
	{"bomb", bomb(), "too many values or aliases", nil},
	{"cycle", "mcp_servers: &a [*a]", "", nil},
	{"missing variable", "language: auto\ngithub:\n  personal_access_token: ${ABSENT}", ":3: github.personal_access_token: the environment variable ABSENT is not set", nil},
	{"variable with newline", "github: {owner: '${V}'}", "github.owner: the value of V holds a line break", map[string]string{"V": "a\nb"}},
	{"override with escape", "", "GITHUB_API_URL: holds a line break", map[string]string{"GITHUB_API_URL": "https://x\x1b"}},
	{"unclosed", "github: {owner: '${V'}", "github.owner: ${ without }", nil},
	{"no name", "github: {owner: '${a b}'}", "must hold the name of a variable", nil},
	{"empty token", "github: {personal_access_token: ''}", "github.personal_access_token: must not be empty", nil},
	{"token with newline", `github: {personal_access_token: "a\nb"}`, "personal_access_token: must be one line", nil},
	{"http", "github: {api_url: http://example.com}", "api_url: http is for this machine only", nil},
	{"userinfo", "github: {api_url: 'https://u:p@example.com'}", "user name or password", nil},
	{"query", "github: {api_url: 'https://example.com?x=1'}", "must not hold ?", nil},
	{"scheme", "github: {api_url: 'file:///etc/passwd'}", "must begin with https", nil},
	{"no scheme", "llm: {openai: {base_url: 'localhost:8080/v1'}}", "llm.openai.base_url: does not begin with https:// (or http://)", nil},
	{"no scheme, an address", "llm: {openai: {base_url: '127.0.0.1:11434'}}", "does not begin with https:// (or http://)", nil},
	{"no scheme, a host", "llm: {openai: {base_url: 'models.example.com'}}", "does not begin with https:// (or http://)", nil},
	{"metadata v4", "llm: {openai: {base_url: 'https://169.254.169.254/v1'}}", "llm.openai.base_url: points to a link-local", nil},
	{"metadata v6", "llm: {openai: {base_url: 'https://[fd00:ec2::254]/v1'}}", "points to a link-local", nil},
	{"v4 in v6", "llm: {openai: {base_url: 'https://[::ffff:169.254.169.254]/v1'}}", "points to a link-local", nil},
	{"nat64", "llm: {openai: {base_url: 'https://[64:ff9b::a9fe:a9fe]/v1'}}", "points to a link-local", nil},
	{"decimal", "llm: {openai: {base_url: 'https://2852039166/v1'}}", "points to a link-local", nil},
	{"octal address", "llm: {openai: {base_url: 'https://0251.0376.0251.0376/'}}", "points to a link-local", nil},
	{"unspecified", "allow_http: true\nllm: {openai: {base_url: 'http://0.0.0.0/v1'}}", "points to a link-local", nil},
	{"zone", "llm: {openai: {base_url: 'https://[fe80::1%25eth0]/v1'}}", "points to a link-local", nil},
	{"environment is named", "", "OPENAI_BASE_URL: must begin with https", map[string]string{"OPENAI_BASE_URL": "ftp://x"}},
	{"negative", "limits: {max_tokens: -1}", "limits.max_tokens: must be between 0", nil},
	{"zero", "workers: 0", "workers: must be between 1", nil},
	{"huge", "limits: {max_tokens: 999999999999999999}", "limits.max_tokens: must be between", nil},
	{"too many digits", "limits: {max_tokens: 99999999999999999999999}", "must be a whole number", nil},
	{"nan", "limits: {max_cost_usd: .nan}", "limits.max_cost_usd: must be a number", nil},
	{"infinity", "limits: {max_cost_usd: .inf}", "must be a number", nil},
	{"overflow", "limits: {max_cost_usd: 1e999}", "must be a number", nil},
	{"bad number in environment", "", "NEW_COMMENT_MAX_COMMENTS: must be a whole number", map[string]string{"NEW_COMMENT_MAX_COMMENTS": "x"}},
	{"price", "limits: {max_cost_usd: 1}\nllm: {openai: {model: no-list-has-it}}", "limits: a cost limit needs the price", nil},
	{"provider", "llm: {provider: other}", "llm.provider: must be one of openai, ollama, lmstudio", nil},
	{"source", "task_source: [github, svn]", "task_source: must be one of github, gitlab", nil},
	{"no source", "task_source: []", "task_source: must name", nil},
	{"no model", "llm: {provider: lmstudio}", "llm.lmstudio.model: must name a model", nil},
	{"server name", "mcp_servers: [{mcp_server_name: a__b, command: [x]}]", "mcp_server_name: must consist of", nil},
	{"server of a built-in name", "mcp_servers: [{mcp_server_name: History, command: [x]}]", "mcp_server_name: is that of a built-in server", nil},
	{"server twice", "mcp_servers:\n- {mcp_server_name: a, command: [x]}\n- {mcp_server_name: A, command: [x]}", ":3: mcp_servers[1].mcp_server_name: is used twice", nil},
	{"server with neither", "mcp_servers: [{mcp_server_name: a}]", "either a command or a url", nil},
	{"server with both", "mcp_servers: [{mcp_server_name: a, command: [x], url: 'https://e.com'}]", "either a command or a url", nil},
	{"notification without a way", "notify: [{on: failed}]", "notify: needs exactly one of command, url, ntfy, slack and email.to", nil},
	{"notification with two ways", "notify: [{command: [x], url: 'https://e.com'}]", "notify: needs exactly one of", nil},
	{"notification by http", "notify: [{slack: 'http://hooks.example.com/x'}]", "notify.slack: http is for this machine only", nil},
	{"notification to a metadata address", "notify: [{url: 'http://169.254.169.254/x?a=b'}]", "notify.url: points to a link-local", nil},
	{"notification with a password in its address", "notify: [{url: 'https://a:b@e.com'}]", "notify.url: must not hold a user name", nil},
	{"ntfy without a topic", "notify: [{ntfy: 'https://ntfy.sh/'}]", "notify.ntfy: must be a server and a topic", nil},
	{"notification of an unknown event", "notify: [{on: [fail], command: [x]}]", "must be one of paused, approval, failed, completed, limit", nil},
	{"notification of nothing", "notify: [{on: [], command: [x]}]", "notify.on: must not be empty", nil},
	{"address that is an option", "notify: [{email: {to: '-oQ/tmp@e.com'}}]", "notify.email: an address must be like", nil},
	{"address with a line break", `notify: [{email: {to: a@e.com, from: "b@e.com\nBcc: c@e.com"}}]`, "notify.email: an address must be like", nil},
	{"header for a command", "notify: [{command: [x], headers: {A: b}}]", "notify: headers and token are for addresses", nil},
	{"unknown placeholder", "notify: [{command: [x], template: '{titel}'}]", "notify.template: may hold {event}, {title}", nil},
	{"unset variable of a notification", "notify: [{slack: '${UNSET_HOOK}'}]", "UNSET_HOOK", nil},
	{"timeout", "mcp_servers: [{mcp_server_name: a, command: [x], timeout_seconds: 0}]", "timeout_seconds: must be between 1", nil},
	{"header", `mcp_servers: [{mcp_server_name: a, url: 'https://e.com', headers: {A: "x\ny"}}]`, "headers: a header must be", nil},
	{"label", `github: {bot_label: ""}`, "github.bot_label: must be one line", nil},
	{"label with newline", `github: {done_label: "a\nb"}`, "github.done_label: must be one line", nil},
	{"labels alike", `github: {done_label: x, paused_label: X}`, "github.paused_label: is the same as another", nil},
	{"repository", "github: {repositories: [repo]}", "each must be written as owner/repo", nil},
	{"project", "task_source: gitlab\ngitlab: {projects: [alone]}", "gitlab.projects: each must be written as group/project", nil},
	{"no projects", "task_source: gitlab\ngitlab: {personal_access_token: t0}", ":2: gitlab: needs projects", nil},
	{"neither owner nor repositories", "github: {bot_name: x}", ":1: github: needs repositories or owner", nil},
	{"app of a forge without apps", "gitlab: {app: {id: 1}}", `unknown key "app"`, nil},
	{"comma in a label", "task_source: gitlab\ngitlab: {done_label: 'a,b'}", "gitlab.done_label: must not hold any of these characters: ,", nil},
	{"key of a server without keys", "llm: {ollama: {api_key: x}}", `unknown key "api_key"`, nil},
	{"project in github", "github: {projects: [a/b]}", `unknown key "projects": did you mean "repositories"?`, nil},
	{"contexts in workspaces", "workspaces_dir: /w\ncontexts_dir: /w/c", ":2: contexts_dir: must not lie inside workspaces_dir", nil},
	{"contexts in workspace", "contexts_dir: /w/c\ngithub: {workspace: /w}", "contexts_dir: must not lie inside the workspace", nil},
	{"home of others", "contexts_dir: ~other/c", "contexts_dir: only ~/ is understood", nil},
	{"no home", "", "contexts_dir: needs a home directory", map[string]string{"HOME": "", "XDG_STATE_HOME": ""}},
	{"pattern", "change_requests:\n  protected_paths:\n    - deploy/**\n    - '[bad'", ":4: change_requests.protected_paths[1]: is no valid pattern", nil},
	{"branch", "change_requests: {branch_prefix: '--upload-pack='}", "branch_prefix: is not", nil},
}

func bomb() string {
	var b strings.Builder
	b.WriteString("mcp_servers:\n- &a0 {mcp_server_name: a, command: [x, x, x, x, x, x, x, x, x, x]}\n")
	b.WriteString("comment_handling:\n  completion_keywords: &b0 [x, x, x, x, x, x, x, x, x, x]\nllm:\n  prices:\n    m0: &c0 {input: 1}\n")
	for i := range 30_000 {
		fmt.Fprintf(&b, "    m%d: *c0\n", i+1)
	}
	return b.String()
}

func TestRefused(t *testing.T) {
	for _, tt := range refused {
		t.Run(tt.name, func(t *testing.T) {
			env := map[string]string{"OPENAI_API_KEY": "key-openai-1"}
			if !strings.Contains(tt.text, "personal_access_token") {
				env["GITHUB_PERSONAL_ACCESS_TOKEN"] = "tok-github-1"
			}
			for k, v := range tt.env {
				env[k] = v
			}
			_, _, err := load(t, tt.text, env)
			var e *Error
			if !errors.As(err, &e) || e.ExitCode() != 78 || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// An alias bomb in the classic form: each level ten times the one before.
func TestNestedBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range 12 {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	b.WriteString("mcp_servers: *a12\n")
	if _, _, err := load(t, b.String(), nil); err == nil || len(err.Error()) > 100_000 {
		t.Fatal("a bomb must end soon, in an error of bearable length")
	}
}

// What is no YAML says nothing about keys: there is one problem, and it is true.
func TestSyntaxErrorsStandAlone(t *testing.T) {
	for _, text := range []string{"llm: {provider: ollama\nworkers: 2\n", "github:\n\towner: o\n", "workers 2\nlanguage: ja\n"} {
		_, _, err := load(t, text, nil)
		var e *Error
		if !errors.As(err, &e) || len(e.Problems) != 1 {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The section of another provider is one trouble; a missing token is another one.
func TestOtherProviderHidesNothingElse(t *testing.T) {
	_, _, err := load(t, "github: {owner: o, personal_access_token: '${ABSENT}'}\nllm: {lmstudio: {model: m}}", nil)
	var e *Error
	if !errors.As(err, &e) || len(e.Problems) != 2 || !strings.Contains(err.Error(), "set provider: lmstudio") || e.Problems[0].Variable != "ABSENT" {
		t.Errorf("%v", err)
	}
	mustLoad(t, github+"  \n", map[string]string{"LLM_PROVIDER": "openai"})
	mustLoad(t, "github: {owner: o, personal_access_token: t0}\nllm: {provider: openai, ollama: {model: m}}", map[string]string{"OPENAI_API_KEY": "key-openai-1"})
}

func TestUnsetVariablesSayHowToSetThem(t *testing.T) {
	_, _, err := load(t, "github: {owner: '${ABSENT}', personal_access_token: '${LACKING}'}", map[string]string{"OPENAI_API_KEY": "key-openai-1"})
	if err == nil || strings.Count(err.Error(), "set -a; . ~/.config/agent/env") != 1 {
		t.Fatalf("the way to set it must stand there once: %v", err)
	}
	var e *Error
	if errors.As(err, &e); len(e.Problems) != 2 || e.Problems[0].Variable != "ABSENT" || e.Problems[1].Variable != "LACKING" {
		t.Errorf("%+v", e.Problems)
	}
}

// Without a file the places are named, and nothing that follows from its absence.
func TestPlacesAreNamed(t *testing.T) {
	home := t.TempDir()
	var e *Error
	_, _, err := Load("", environ(map[string]string{"HOME": home}))
	if !errors.As(err, &e) || err.Error() != "config: there is no configuration file: --config and $CONFIG_FILE are not set, and "+home+"/.config/agent/config.yaml does not exist; agent init writes one" {
		t.Errorf("%v", err)
	}
	_, _, err = Load("", environ(map[string]string{"CONFIG_FILE": home + "/c.yaml"}))
	if want := home + "/c.yaml: there is no such file (it was named by $CONFIG_FILE): agent init writes one"; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	_, _, err = Load(home+"/d.yaml", environ(nil))
	if err == nil || !strings.Contains(err.Error(), "named by --config") {
		t.Errorf("%v", err)
	}
}

func TestReplacedByVariables(t *testing.T) {
	const token = "github[0].personal_access_token"
	c := mustLoad(t, github, map[string]string{"GITHUB_PERSONAL_ACCESS_TOKEN": "tok-env"})
	if c.Replaced(token) != "GITHUB_PERSONAL_ACCESS_TOKEN" || c.Replaced("llm.openai.api_key") != "" {
		t.Errorf("replaced: %v", c.replaced)
	}
	c = mustLoad(t, "github: {owner: o, personal_access_token: '${GITHUB_PERSONAL_ACCESS_TOKEN}'}\nllm: {provider: ollama}", map[string]string{"GITHUB_PERSONAL_ACCESS_TOKEN": "tok-env"})
	if c.Replaced(token) != "" {
		t.Error("the same value replaces nothing")
	}
}

func TestAllProblemsAreCollected(t *testing.T) {
	_, _, err := load(t, "workers: x\nlanguge: ja\nlimits: {max_minutes: -4}\n"+github, nil)
	var e *Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	file, _, _ := strings.Cut(e.Problems[0].Where, ":")
	if !filepath.IsAbs(file) {
		t.Errorf("%q is not the whole path", file)
	}
	want := file + ":1: workers: must be a whole number in decimal digits\n" +
		file + ":2: unknown key \"languge\": did you mean \"language\"?\n" +
		file + ":3: limits.max_minutes: must be between 0 and 1000000000000"
	if err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestFileModes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(github), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		mode os.FileMode
		want string
	}{{0o620, "chmod go-w"}, {0o602, "chmod go-w"}, {0o644, ""}, {0o600, ""}} {
		if err := os.Chmod(path, tt.mode); err != nil {
			t.Fatal(err)
		}
		_, warnings, err := Load(path, environ(nil))
		if tt.want == "" && (err != nil || (len(warnings) == 2) != (tt.mode == 0o644)) {
			t.Errorf("%o: %v %v", tt.mode, warnings, err)
		}
		if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%o: %v", tt.mode, err)
		}
	}
	if _, _, err := Load(filepath.Dir(path), environ(nil)); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
}

// A link must not hide that contexts lie in a working copy; a loop of links must not hang.
func TestLinkedPlaces(t *testing.T) {
	dir := t.TempDir()
	for _, err := range []error{os.Mkdir(dir+"/w", 0o700), os.Symlink(dir+"/w", dir+"/link"), os.Symlink(dir+"/loop", dir+"/loop")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := load(t, github+"workspaces_dir: "+dir+"/w\ncontexts_dir: "+dir+"/link/deep/contexts", nil)
	if err == nil || !strings.Contains(err.Error(), "must not lie inside workspaces_dir") {
		t.Error(err)
	}
	mustLoad(t, github+"contexts_dir: "+dir+"/loop/contexts", nil)
}
