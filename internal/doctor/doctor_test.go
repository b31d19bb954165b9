package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agent/internal/i18n"
	"agent/llm"
)

// File systems without a bound for inodes say something impossible: nobody wants to read it.
func TestRoom(t *testing.T) {
	t.Parallel()
	d := &doctor{report: Report{Lang: i18n.En}}
	for _, c := range []struct {
		bytes, inodes uint64
		want          string
	}{
		{100 << 20, 5000, "/x: 100 MiB and 5000 inodes free"}, {100 << 30, math.MaxUint64, "/x: 100 GiB free"}, {9 << 30, 1 << 48, "/x: 9216 MiB free"},
		{0, 0, "/x: 0 MiB and 0 inodes free"}, {1 << 40, 999_999, "/x: 1024 GiB and 999999 inodes free"},
	} {
		if got := d.room("/x", c.bytes, c.inodes); got != c.want {
			t.Errorf("%d bytes, %d inodes: %q, want %q", c.bytes, c.inodes, got, c.want)
		}
	}
}

// Every check has a name that people understand, in both languages, and says which
// project, forge or server it is about.
func TestNames(t *testing.T) {
	t.Parallel()
	for id, want := range map[string][2]string{
		"config": {"configuration", "設定"}, "file mode": {"configuration file", "設定ファイル"}, "tool server docs": {"tool server docs", "ツールサーバー docs"},
		"conversation": {"conversation with the model", "モデルとの会話"}, // it was called a forge
		"acme/widgets": {"project acme/widgets", "プロジェクト acme/widgets"}, "github.com": {"forge github.com", "フォージ github.com"}, "127.0.0.1:80": {"forge 127.0.0.1:80", "フォージ 127.0.0.1:80"},
	} {
		if en, ja := i18n.Check(i18n.En, id), i18n.Check(i18n.Ja, id); en != want[0] || ja != want[1] {
			t.Errorf("%s is called %q and %q", id, en, ja)
		}
	}
}

// What to do about an answer of a model server fits the answer: to check the address of a
// server that asks for money helps nobody.
func TestAdviceFits(t *testing.T) {
	t.Parallel()
	d := &doctor{report: Report{Lang: i18n.En}}
	driver := llm.Driver{Hints: llm.Hints{Unreachable: "doctor.todo.model.openai"}}
	for kind, want := range map[llm.Kind]string{llm.Quota: "top up", llm.RateLimited: "wait", llm.Auth: "OPENAI_API_KEY", llm.Transient: "the network", llm.Filtered: "another model"} {
		if got := d.todoModel(driver, &llm.Error{Kind: kind}); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}

// Whoever corrects one variable only to hear of the next one has to begin anew each time: all that are not set are
// named at once, and nothing that follows from it.
func TestUnsetVariables(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config string
		want   []string // what the findings name, each its own
	}{
		"forge and model": {"github: {personal_access_token: '${A}', repositories: [a/b]}\nllm: {provider: openai, openai: {api_key: '${B}', model: m}}", []string{"A is", "B is"}},
		"two in a value":  {"github: {personal_access_token: '${A}', repositories: [a/b]}\nllm: {provider: ollama, ollama: {model: m, endpoint: 'http://${B}:${C}/v1'}}", []string{"A is", "B is", "C is"}},
		"everywhere": {"github: {personal_access_token: '${A}', repositories: ['${B}/b']}\nllm: {provider: ollama, ollama: {model: m}}\ncontexts_dir: '${C}/contexts'\n" +
			"mcp_servers:\n  - {mcp_server_name: x, command: [cat], env: {TOK: '${D}'}}\nnotify:\n  - {ntfy: 'https://ntfy.sh/${E}'}\n" +
			"webhooks: {listen: '127.0.0.1:1', secret: '${F}'}\ntelemetry: {otlp_endpoint: 'https://${G}', headers: {a: '${H}'}}", []string{"A is", "B is", "C is", "D is", "E is", "F is", "G is", "H is"}},
		"one may be empty":     {"github: {personal_access_token: '${A}', repositories: [a/b]}\nllm: {provider: openai, openai: {api_key: '${B:-}', base_url: 'http://127.0.0.1:1/v1', model: m}}", []string{"A is", "B is"}},
		"no variable is named": {"github: {repositories: [a/b]}\nllm: {provider: openai, openai: {model: m}}", []string{"GITHUB_PERSONAL_ACCESS_TOKEN", "OPENAI_API_KEY"}},
		"a file lacks some": {"env_file: env\ngithub: {personal_access_token: '${A}', repositories: [a/b]}\nllm: {provider: openai, openai: {api_key: '${B}', model: m}}" +
			"\nnotify:\n  - {url: 'https://${IN_FILE}/${C}'}", []string{"A is", "B is", "C is"}},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "config.yaml")
		if err := errors.Join(os.WriteFile(path, []byte(c.config+"\n"), 0o600), os.WriteFile(filepath.Join(dir, "env"), []byte("IN_FILE=there.example\nA=\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
		r := Run(t.Context(), Options{ConfigPath: path, Getenv: func(name string) string { return map[string]string{"HOME": dir}[name] }, Show: func(Finding) {}})
		var got []string
		for _, f := range r.Findings {
			got = append(got, f.Text)
		}
		for i, want := range c.want {
			if n := len(slices.DeleteFunc(slices.Clone(got), func(s string) bool { return !strings.Contains(s, " "+want) })); n != 1 || len(got) != len(c.want) {
				t.Errorf("%s: %d of %d findings are about %q (variable %d of %d): %q", name, n, len(got), want, i+1, len(c.want), got)
			}
		}
	}
}

// A certificate that forges do not accept any more, or soon, is said before hooks stay away.
func TestExpiry(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for left, want := range map[time.Duration]Result{-time.Minute: Failed, time.Hour: Warning, 60 * 24 * time.Hour: ""} {
		d := &doctor{report: Report{Lang: i18n.En}, Options: Options{Show: func(Finding) {}}}
		d.checkExpiry(tls.Certificate{Leaf: &x509.Certificate{NotAfter: now.Add(left)}}, now)
		got := Result("")
		if len(d.report.Findings) > 0 {
			got = d.report.Findings[0].Result
		}
		if got != want {
			t.Errorf("%v left: %q, want %q", left, got, want)
		}
	}
}
