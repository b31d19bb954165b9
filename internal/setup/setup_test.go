package setup

import (
	"bufio"
	"bytes"
	stdcmp "cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"agent/internal/config"
	"agent/internal/i18n"
	"agent/internal/registry"
)

const testToken = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"

func asked(t *testing.T, a *Answers, lines ...string) (out string) {
	t.Helper()
	var b bytes.Buffer
	if err := a.Ask(t.Context(), bufio.NewReader(strings.NewReader(strings.Join(lines, "\n")+"\n")), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAsk(t *testing.T) {
	t.Parallel()
	a := Answers{Model: "given"}
	out := asked(t, &a, "en", "", "", "", " a/b, c/d ", "bot", "ollama")
	if err := a.Complete(); err != nil {
		t.Fatal(err)
	}
	want := Answers{Lang: "en", Forge: "github", ForgeURL: "https://api.github.com", Projects: []string{"a/b", "c/d"}, TokenEnv: "GITHUB_PERSONAL_ACCESS_TOKEN",
		BotName: "bot", Provider: "ollama", Model: "given", BaseURL: "http://127.0.0.1:11434", MaxTokens: "2000000"}
	if d := cmp.Diff(want, a, cmpopts.IgnoreUnexported(a)); d != "" {
		t.Error(d)
	}
	if n := strings.Count(out, ": "); n != 10 {
		t.Errorf("%d questions:\n%s", n, out)
	}
}

// People paste the address of the page that they look at.
func TestPastedAddresses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ url, project, wantURL, want string }{
		{"https://github.com/o/r", "https://github.com/o/r/issues/12", "https://api.github.com", "o/r"},
		{"", "https://github.com/o/r.git, c/d", "https://api.github.com", "o/r c/d"},
		{"", "https://github.com/o/r/pull/3#issuecomment-1", "https://api.github.com", "o/r"},
		{"https://gitlab.com/g/s/p", "https://gitlab.com/g/s/p/-/issues/4", "https://gitlab.com/api/v4", "g/s/p"},
	} {
		a := Answers{Lang: "en", Forge: "github", TokenEnv: "T", BotName: "b", Provider: "ollama", Model: "m", BaseURL: "http://127.0.0.1:11434"}
		if strings.Contains(tt.want, "g/") {
			a.Forge = "gitlab"
		}
		asked(t, &a, tt.url, tt.project)
		if err := a.Complete(); err != nil || a.ForgeURL != tt.wantURL || strings.Join(a.Projects, " ") != tt.want {
			t.Errorf("%q and %q are taken for %q and %q: %v", tt.url, tt.project, a.ForgeURL, a.Projects, err)
		}
	}
	a := Answers{Lang: "en", Forge: "github"}
	if out := asked(t, &a, "https://git.example.com/o/r/issues/1"); !strings.Contains(out, "must be the API URL") {
		t.Errorf("an issue's page is taken for an API:\n%s", out)
	}
}

// Whoever interrupts a question is asked no other.
func TestInterruptedQuestions(t *testing.T) {
	t.Parallel()
	in, person := io.Pipe()
	defer person.Close()
	ctx, interrupt := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, interrupt)
	var out bytes.Buffer
	a := Answers{}
	if err := a.Ask(ctx, bufio.NewReader(in), &out); !errors.Is(err, context.Canceled) || strings.Count(out.String(), ": ") != 1 {
		t.Errorf("%v after\n%s", err, out.String())
	}
}

// The kind of forge is guessed from a URL, or named; its defaults follow.
func TestForge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a                  Answers
		forge, url, tokens string
	}{
		{Answers{Projects: []string{"a/b"}}, "github", "https://api.github.com", "GITHUB_PERSONAL_ACCESS_TOKEN"},
		{Answers{Projects: []string{"a/b"}, Forge: "gitlab"}, "gitlab", "https://gitlab.com/api/v4", "GITLAB_PERSONAL_ACCESS_TOKEN"},
		{Answers{Projects: []string{"a/b/c"}, ForgeURL: "https://code.example.com/api/v4"}, "gitlab", "https://code.example.com/api/v4", "GITLAB_PERSONAL_ACCESS_TOKEN"},
	} {
		err := c.a.Complete()
		if err != nil || c.a.Forge != c.forge || c.a.ForgeURL != c.url || c.a.TokenEnv != c.tokens {
			t.Errorf("%+v: %v", c.a, err)
		}
	}
}

// A wrong answer is asked for again at once, and a token is not repeated.
func TestAskAgain(t *testing.T) {
	t.Parallel()
	var a Answers
	out := asked(t, &a, "fr", "en", "gitbucket", "github", "nowhere", "", testToken, "my token", "MY_TOKEN", "widgets", "", "a/b", "bot", "olama", "ollama", "", "", "2k", "5000")
	if err := a.Complete(); err != nil {
		t.Fatal(err)
	}
	if a.Lang != "en" || a.ForgeURL != "https://api.github.com" || a.Projects[0] != "a/b" || a.TokenEnv != "MY_TOKEN" || a.Provider != "ollama" || a.Model != "qwen3-coder" {
		t.Errorf("got %+v", a)
	}
	if strings.Contains(out, testToken) || strings.Contains(a.render(), testToken) {
		t.Errorf("the token is repeated:\n%s", out)
	}
	for _, words := range []string{"--lang must be", "--forge must be", "--forge-url must be", "looks like a secret", "name of the variable", "--provider must be"} {
		if !strings.Contains(out, words) {
			t.Errorf("not said: %q in\n%s", words, out)
		}
	}
	if n := strings.Count(out, "]: ") + strings.Count(out, "commas): ") + strings.Count(out, "account: "); n != 19 {
		t.Errorf("%d questions:\n%s", n, out)
	}
	var ended Answers
	asked(t, &ended) // ends, whatever is missing
	if err := ended.Complete(); err == nil || !strings.Contains(err.Error(), "--repo owner/repo") {
		t.Errorf("without projects: %v", err)
	}
}

// Questions are in the language of the locale until another one is chosen.
func TestLanguage(t *testing.T) {
	t.Parallel()
	a := Answers{Locale: i18n.Ja}
	if out := asked(t, &a, "en"); !strings.HasPrefix(out, "言語") || !strings.Contains(out, "Forge (") {
		t.Errorf("asked\n%s", out)
	}
}

func TestTokenLike(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		testToken: true, "github_pat_11ABCDEFG0abcdefghijklmnop_" + strings.Repeat("a1B2c3D4", 8): true, "0123456789abcdef0123456789abcdef01234567": true,
		"GITHUB_PERSONAL_ACCESS_TOKEN": false, "my_token": false, "TOKEN2": false, "": false, "qwen3-coder": false,
		"https://gitlab.example.com/api/v4": false, "owner/repo": false, "gitlab_token_of_the_2nd_bot": false,
	} {
		if got := tokenLike(s); got != want {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
	}
}

// Whatever is registered, init writes a file that the program accepts.
func TestEveryKind(t *testing.T) {
	t.Parallel()
	for _, forge := range registry.RemoteForges() {
		for _, provider := range registry.ProviderNames() {
			a := Answers{Forge: forge, Provider: provider, Model: `odd "$name"`, Projects: []string{"a/b"}, Output: filepath.Join(t.TempDir(), "config.yaml")}
			if err := a.Complete(); err != nil {
				t.Errorf("%s, %s: %v", forge, provider, err)
				continue
			}
			if err := a.Write(); err != nil {
				t.Errorf("%s, %s: %v", forge, provider, err)
				continue
			}
			env := func(name string) string {
				switch {
				case name == "HOME":
					return t.TempDir()
				case slices.Contains(a.Variables(), name):
					return "a-secret-0123456789"
				}
				return ""
			}
			cfg, warnings, err := config.Load(a.Output, env)
			if err != nil || len(warnings) > 0 {
				t.Errorf("%s, %s: %v %v", forge, provider, err, warnings)
				continue
			}
			if f := cfg.Forges(); len(f) != 1 || f[0].Kind != forge || cfg.LLM.Active().Name != provider || cfg.LLM.Active().Model != a.Model {
				t.Errorf("%s, %s: wrote %+v", forge, provider, cfg.LLM.Active())
			}
		}
	}
}

// Where a system has no sandbox, required would be a configuration that only ends
// with 78: people are asked, and the file says what off means.
func TestNoSandbox(t *testing.T) {
	t.Parallel()
	for answer, off := range map[string]bool{"": true, "off": true, "required": false} {
		a := Answers{Lang: "en", Forge: "github", ForgeURL: "https://api.github.com", Projects: []string{"a/b"}, TokenEnv: "T", BotName: "b",
			Provider: "ollama", Model: "m", BaseURL: "http://127.0.0.1:1", MaxTokens: "0", NoSandbox: "no Landlock"}
		out := asked(t, &a, answer)
		if err := a.Complete(); err != nil {
			t.Fatal(err)
		}
		text := a.render()
		if !strings.Contains(out, "no Landlock") || strings.Contains(text, "    sandbox: off\n") != off || strings.Contains(text, "    # This system cannot confine") != off {
			t.Errorf("%q: asked %s, wrote %s", answer, out, text)
		}
		a.Output = filepath.Join(t.TempDir(), "config.yaml")
		if err := a.Write(); err != nil {
			t.Error(err)
		}
	}
	a := Answers{Lang: "en", Projects: []string{"a/b"}, Provider: "ollama"}
	if out := asked(t, &a); strings.Contains(out, "confine") || strings.Contains(a.render(), "sandbox:") {
		t.Errorf("asked where there is a sandbox: %s", out)
	}
}

// Money is asked about only where it can be counted: the model has a list price.
func TestLimits(t *testing.T) {
	t.Parallel()
	for model, usd := range map[string]string{"gpt-4o": "2.50", "qwen3-coder": ""} {
		a := Answers{Lang: "en", Forge: "github", ForgeURL: "https://api.github.com", Projects: []string{"a/b"}, TokenEnv: "T", BotName: "b", Provider: "openai", Model: model, BaseURL: "https://api.openai.com/v1"}
		out := asked(t, &a, "0", "much", "2.50")
		if err := a.Complete(); err != nil {
			t.Fatal(err)
		}
		want := "limits: {max_tokens: 0, max_cost_usd: " + stdcmp.Or(usd, "0") + ", "
		if strings.Contains(out, "USD that a task") != (usd != "") || strings.Contains(out, "--max-cost-usd must") != (usd != "") || !strings.Contains(a.render(), want) {
			t.Errorf("%s: asked %s, wrote %s", model, out, a.limits())
		}
		a.Output = filepath.Join(t.TempDir(), "config.yaml")
		if err := a.Write(); err != nil {
			t.Error(err)
		}
	}
}
