package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// canaryValue is a secret that no message may hold.
const canaryValue = "s3cret-canary-value"

// TestEnvFile walks the lines that a file of variables may have. No message holds a value.
func TestEnvFile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file string
		want string // the token, or what the error says
		bad  bool
	}{
		"plain":             {"TOKEN=abc-123", "abc-123", false},
		"export, comments":  {"# a comment\n\nexport TOKEN=abc\r\n", "abc", false},
		"double quotes":     {`TOKEN="a b;c"`, "a b;c", false},
		"single quotes":     {`TOKEN='a$b\c'`, `a$b\c`, false},
		"the last one wins": {"TOKEN=a\nTOKEN=b", "b", false},
		"= in the value":    {"TOKEN=a=b==", "a=b==", false},
		"no value":          {"TOKEN=\n", "the environment variable TOKEN is not set", true},
		"expansion":         {"TOKEN=" + canaryValue + "$HOME", ":1: holds $, ` or \\, which are not expanded", true},
		"a command":         {"TOKEN=\"`" + canaryValue + "`\"", "which are not expanded", true},
		"spaces":            {"OTHER=1\nTOKEN=" + canaryValue + " b", ":2: holds a space", true},
		"open quote":        {"TOKEN='" + canaryValue, "a quote is not closed", true},
		"quote inside":      {"TOKEN='" + canaryValue + "'x'", "a quote inside quotes", true},
		"no =":              {canaryValue, "must be NAME=value", true},
		"space before =":    {"TOKEN = " + canaryValue, "must be NAME=value", true},
		"NUL":               {"TOKEN=" + canaryValue + "\x00", "NUL", true},
		"control":           {"TOKEN='" + canaryValue + "\x1b'", "control character", true},
	} {
		env := filepath.Join(t.TempDir(), "env")
		must(t, os.WriteFile(env, []byte(c.file), 0o600))
		cfg, _, err := load(t, "env_file: "+env+"\ngithub: {owner: o, personal_access_token: '${TOKEN}'}\nllm: {openai: {api_key: k}}", nil)
		switch {
		case !c.bad && (err != nil || cfg.Section("github")[0].Token != c.want):
			t.Errorf("%s: %v", name, err)
		case c.bad && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), canaryValue)):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The environment wins over the file, which overrides like the environment, is relative
// to the configuration, and whose secrets are known to the redactor.
func TestEnvFileIsEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "env"), []byte("GITHUB_PERSONAL_ACCESS_TOKEN=from-file-1\nOPENAI_API_KEY=key-of-file\nOPENAI_MODEL=m-of-file\nSTORE_PASSWORD=hidden-1\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "config.yaml"), []byte("env_file: env\ngithub: {owner: o, personal_access_token: in-config}\n"), 0o600))
	c, _, err := Load(filepath.Join(dir, "config.yaml"), environ(map[string]string{"OPENAI_API_KEY": "key-of-env"}))
	must(t, err)
	if f := c.Section("github")[0]; f.Token != "from-file-1" || c.LLM.Active().APIKey != "key-of-env" || c.LLM.Active().Model != "m-of-file" || c.EnvFile != filepath.Join(dir, "env") {
		t.Errorf("%q %q %q %q", f.Token, c.LLM.Active().APIKey, c.LLM.Active().Model, c.EnvFile)
	}
	for secret, want := range map[string]bool{"from-file-1": true, "hidden-1": true, "m-of-file": false} {
		if got := slices.Contains(c.Secrets(), secret); got != want {
			t.Errorf("%s is a secret: %v", secret, got)
		}
	}
	for mode, want := range map[os.FileMode]string{0o644: "can be read by other users: run chmod 600", 0o604: "can be read", 0o620: "can be written by other users"} {
		must(t, os.Chmod(filepath.Join(dir, "env"), mode))
		if _, _, err := Load(filepath.Join(dir, "config.yaml"), environ(nil), Offline()); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "config.yaml:1: env_file: ") {
			t.Errorf("%04o: %v", mode, err)
		}
	}
	must(t, os.Chmod(filepath.Join(dir, "env"), 0o440)) // so systemd hands out credentials, as files of root
	if _, _, err := Load(filepath.Join(dir, "config.yaml"), environ(nil)); (err == nil) != (os.Geteuid() == 0) {
		t.Errorf("0440: %v", err)
	}
	must(t, os.Remove(filepath.Join(dir, "env")))
	if _, _, err := Load(filepath.Join(dir, "config.yaml"), environ(nil)); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a missing file: %v", err)
	}
}

// TestCredentials: env_file may be a credential of systemd. Whoever looks at contexts without being the
// service needs none of its secrets; whatever needs them says what is missing.
func TestCredentials(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "env"), []byte("TOKEN=tok-of-service\n"), 0o400))
	text := "env_file: ${CREDENTIALS_DIRECTORY}/env\ngithub: {owner: o, personal_access_token: '${TOKEN}'}\nllm: {openai: {api_key: k}}"
	c, _, err := load(t, text, map[string]string{"CREDENTIALS_DIRECTORY": dir})
	if err != nil || c.Section("github")[0].Token != "tok-of-service" || !slices.Contains(c.Secrets(), "tok-of-service") {
		t.Errorf("%v", err)
	}
	if _, _, err := load(t, text, nil); err == nil || !strings.Contains(err.Error(), "the environment variable CREDENTIALS_DIRECTORY is not set") {
		t.Errorf("outside of the service: %v", err)
	}
	if _, _, err := load(t, text, nil, Offline()); err != nil {
		t.Errorf("offline, outside of the service: %v", err)
	}
	must(t, os.Chmod(filepath.Join(dir, "env"), 0)) // as /etc/agent/env is to the service's user
	if _, _, err := load(t, text, map[string]string{"CREDENTIALS_DIRECTORY": dir}, Offline()); err != nil {
		t.Errorf("offline, unreadable: %v", err)
	}
}

// TestPackagedConfig: the example of the Debian package is a configuration once its file of secrets is filled in.
func TestPackagedConfig(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	example, err := os.ReadFile("../../deploy/debian/config.yaml.example")
	must(t, err)
	secrets, err := os.ReadFile("../../deploy/debian/env")
	must(t, err)
	for filled, want := range map[string]bool{string(secrets): false, strings.ReplaceAll(string(secrets), "=\n", "=x1\n"): true} {
		must(t, os.WriteFile(filepath.Join(dir, "env"), []byte(filled), 0o600))
		if _, _, err := load(t, string(example), map[string]string{"CREDENTIALS_DIRECTORY": dir}); (err == nil) != want {
			t.Errorf("%v", err)
		}
	}
}

// TestSecretCommands runs real commands: without a shell, bounded, and silent about what
// they print.
func TestSecretCommands(t *testing.T) {
	t.Parallel()
	config := func(command, more string) string {
		return "github: {owner: o, token_command: " + command + more + "}\nllm: {openai: {api_key_command: [printf, key-1]}}"
	}
	for name, c := range map[string]struct {
		text, want string
		bad        bool
	}{
		"a token":       {config("[echo, tok-of-store]", ""), "tok-of-store", false},
		"no shell":      {config("[echo, '$(id)']", ""), "$(id)", false},
		"fails":         {config("[sh, -c, 'echo "+canaryValue+"; echo "+canaryValue+" >&2; exit 3']", ""), "token_command: the command failed (exit status 3)", true},
		"killed":        {config("[sh, -c, 'kill -9 $$$$']", ""), "the command failed (signal: killed)", true},
		"nothing":       {config("['true']", ""), "the command printed nothing", true},
		"two lines":     {config("[printf, '"+canaryValue+"\\n"+canaryValue+"']", ""), "must print one line", true},
		"spaces":        {config("[echo, ' "+canaryValue+"']", ""), "without spaces around it", true},
		"too much":      {config("[yes, "+canaryValue+"]", ""), "more than 64 KiB", true},
		"no program":    {config("[/no/such-"+canaryValue+"]", ""), "cannot be run", true},
		"a literal too": {config("[echo, x]", ", personal_access_token: "+canaryValue), "stands beside github.personal_access_token", true},
		"and an app":    {config("[echo, x]", ", app: {id: 1, installation_id: 2, key_file: /k}"), "keep one of them", true},
	} {
		cfg, _, err := load(t, c.text, nil)
		switch {
		case !c.bad && (err != nil || cfg.Section("github")[0].Token != c.want || cfg.LLM.Active().APIKey != "key-1" || !slices.Contains(cfg.Secrets(), c.want)):
			t.Errorf("%s: %v", name, err)
		case c.bad && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), canaryValue)):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Commands run only for what is in use, and only where secrets are needed; a variable
// of the environment wins.
func TestSecretCommandsInUse(t *testing.T) {
	t.Parallel()
	mark := filepath.Join(t.TempDir(), "ran")
	text := fmt.Sprintf("github: {owner: o, token_command: [touch, %s]}\nllm: {provider: openai, openai: {api_key: k}, anthropic: {api_key_command: [touch, %s]}}", mark, mark)
	if _, _, err := load(t, text, nil, Offline()); err != nil {
		t.Error(err)
	}
	c, _, err := load(t, text, map[string]string{"GITHUB_PERSONAL_ACCESS_TOKEN": "tok"})
	must(t, err)
	if c.Section("github")[0].Token != "tok" {
		t.Error("the variable does not win")
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a command ran that nobody needs")
	}
}
