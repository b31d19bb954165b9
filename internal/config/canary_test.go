package config

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const canary = "Canary7f3a9"

// No message may hold a value, whatever value stands wherever: each value of the
// example is replaced in turn by texts that provoke errors.
func TestNoValueIsEverPrinted(t *testing.T) {
	raw, err := os.ReadFile("testdata/example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(raw), "\n")
	value := regexp.MustCompile(`(: +)([^{}\[\],#\s][^{}\[\],#]*|"[^"]*"|\[[^\]]*\]|\{[^}]*\})`)
	bad := []string{
		canary, `"` + canary + `\n` + canary + `"`, "*" + canary, "!" + canary + " x", "[" + canary + "]", "{" + canary + "}", "{" + canary + ": " + canary + "}",
		"'" + canary, "@" + canary, "\"${" + canary + "\"", "\"${" + canary + " x}\"", "https://" + canary + ":" + canary + "@" + canary, "http://" + canary, canary + ": " + canary,
		"{x: " + canary + ", x: " + canary + "}", "[{" + canary + ": 1}]", "!!int " + canary, "!!binary " + canary, "&" + canary + " *" + canary, "|" + canary, "%" + canary, "~/" + canary, "~" + canary + "/x",
	}
	seen := 0
	for i, line := range lines {
		for _, m := range value.FindAllStringSubmatchIndex(line, -1) {
			for j, b := range bad {
				if (i+m[4]+j)%3 != 0 { // a third of all pairs, to stay quick
					continue
				}
				changed := append([]string(nil), lines...)
				changed[i] = line[:m[4]] + b + line[m[5]:]
				_, warnings, err := load(t, strings.Join(changed, "\n"), map[string]string{"OPENAI_API_KEY": canary, "GITHUB_PERSONAL_ACCESS_TOKEN": canary})
				if text := fmt.Sprint(warnings, err); strings.Contains(text, canary) {
					t.Fatalf("line %d with %s: %s", i+1, b, text)
				}
				if err != nil {
					seen++
				}
			}
		}
	}
	if seen < 400 {
		t.Errorf("only %d errors were provoked", seen)
	}
}

func TestNoVariableIsEverPrinted(t *testing.T) {
	for _, name := range []string{"TASK_SOURCE", "GITHUB_PERSONAL_ACCESS_TOKEN", "GITHUB_API_URL", "GITLAB_API_URL", "GITHUB_BOT_NAME", "LLM_PROVIDER", "OPENAI_BASE_URL", "OPENAI_API_KEY",
		"OLLAMA_ENDPOINT", "FUNCTION_CALLING", "GITHUB_MCP_COMMAND", "NEW_COMMENT_ENABLED", "NEW_COMMENT_MAX_COMMENTS", "PLANNING_ENABLED", "DEBUG", "LOGS", "CONFIG_FILE", "HOME", "XDG_STATE_HOME", "V"} {
		for _, v := range []string{canary, canary + "\n" + canary, "https://a:" + canary + "@x", "\x1b" + canary, "/" + canary} {
			path := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(path, []byte("language: '${V:-ja}'"), 0o600); err != nil {
				t.Fatal(err)
			}
			if name == "CONFIG_FILE" {
				path = ""
			}
			_, warnings, err := Load(path, environ(map[string]string{name: v}))
			if text := fmt.Sprint(warnings, err); name != "CONFIG_FILE" && strings.Contains(text, canary) {
				t.Errorf("%s: %s", name, text)
			}
		}
	}
}

// Printing a whole configuration by mistake must not show what is in it.
func TestPrintingShowsNoSecret(t *testing.T) {
	c := mustLoad(t, github, nil)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		for _, v := range []any{c, *c} {
			if text := fmt.Sprintf(verb, v); strings.Contains(text, "tok-github-1") {
				t.Errorf("%s shows %s", verb, text)
			}
		}
	}
}

func FuzzLoad(f *testing.F) {
	for _, tt := range refused {
		if len(tt.text) < 1000 {
			f.Add(tt.text)
		}
	}
	f.Add(github)
	path := filepath.Join(f.TempDir(), "config.yaml")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, _, err := Load(path, environ(nil))
		if (c == nil) == (err == nil) {
			t.Error("either a configuration or an error")
		}
	})
}
