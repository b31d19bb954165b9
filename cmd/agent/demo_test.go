package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agent/internal/demo"
	"agent/internal/exhaustive"
	"agent/internal/i18n"
)

// TestDemo plays the demonstration, in English kept in a directory, in Japanese not.
func TestDemo(t *testing.T) {
	t.Parallel()
	t.Run("kept", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, greet())
		dir := w.path("a demo, kept")
		out, _ := w.demo("--dir", dir)
		wantStory(t, "en", out)
		for _, name := range []string{"config.yaml", "contexts/completed", "origin.git", "logs"} {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Errorf("not kept: %v", err)
			}
		}
		_, last, _ := strings.Cut(out, "Look around:\n")
		for line := range strings.Lines(last) { // each command works as it stands there
			command, _, _ := strings.Cut(strings.TrimSpace(line), "    ")
			if said, err := exec.Command("sh", "-c", "cd "+w.path("tmp")+" && "+command).CombinedOutput(); err != nil {
				t.Errorf("%s: %v %s", command, err, said)
			}
		}
		if info, err := os.Stat(w.path("tmp", "run.html")); err != nil || info.Size() < 10_000 {
			t.Errorf("the page: %v %v", info, err)
		}
		if _, errOut := w.agent(2, "demo", "--dir", dir); !strings.Contains(errOut, "not empty") {
			t.Errorf("a directory that is in use: %s", errOut)
		}
	})
	t.Run("ja", func(t *testing.T) {
		exhaustive.Only(t)
		t.Parallel()
		w := newWorld(t, greet())
		out, story := w.demo("--lang", "ja", "--forge", "gitlab", "--json")
		wantStory(t, "ja", story)
		var made demo.Result
		if err := json.Unmarshal([]byte(out), &made); err != nil || len(made.Contexts) != 2 || made.Dir != "" || !strings.HasPrefix(made.Branch, "agent/issue-1-") {
			t.Errorf("demo --json: %v %s", err, out)
		}
		if left, _ := filepath.Glob(w.path("tmp", "agent-demo-*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

// demo plays it with the compiler's cache of whoever runs the test.
func (w *world) demo(args ...string) (out, errOut string) {
	w.t.Helper()
	w.env = []string{"HOME=" + os.Getenv("HOME"), "TMPDIR=" + w.path("tmp")}
	must(w.t, os.MkdirAll(w.path("tmp"), 0o700))
	return w.agent(0, append([]string{"demo"}, args...)...)
}

// wantStory wants every step of the demonstration, in order, and what it shows.
func wantStory(t *testing.T, lang i18n.Lang, out string) {
	t.Helper()
	rest := out
	for _, step := range []i18n.ID{"demo.intro", "demo.issue", "demo.run", "demo.kill", "demo.again", "demo.pause", "demo.resume",
		"demo.outcome", "demo.branch", "demo.second", "demo.replay", "demo.timeline", "demo.request"} {
		_, after, found := strings.Cut(rest, i18n.Text(lang, step))
		if !found {
			t.Fatalf("step %s does not follow:\n%s", step, out)
		}
		rest = after
	}
	for _, text := range []string{doneLabel, "exact: ", "ok  \texample.com/sum", "✅", "context.completed", "process.recovered", "Closes #1", ": alice", "+	for i := 0; i < len(numbers); i++ {", "agent verify "} {
		if !strings.Contains(out, text) {
			t.Errorf("the output lacks %q:\n%s", text, out)
		}
	}
	if strings.Contains(out, "\x1b") {
		t.Errorf("colours without a terminal:\n%q", out)
	}
}
