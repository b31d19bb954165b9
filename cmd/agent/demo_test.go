package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent/internal/i18n"
)

// TestDemo plays the demonstration in both languages.
func TestDemo(t *testing.T) {
	t.Parallel()
	for _, lang := range []string{"en", "ja"} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "a demo, kept")
			w := newWorld(t, greet())
			w.env = []string{"HOME=" + os.Getenv("HOME")} // with the compiler's cache
			p := w.start("demo", "--lang", lang, "--dir", dir)
			watchdog := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
			defer watchdog.Stop()
			if code := p.wait(); code != 0 {
				t.Fatalf("exit %d\n%s%s", code, &p.out, &p.err)
			}
			out := p.out.String()
			at := 0
			for _, step := range []i18n.ID{"demo.intro", "demo.issue", "demo.run", "demo.kill", "demo.again", "demo.outcome", "demo.branch", "demo.replay", "demo.timeline"} {
				text := i18n.Text(i18n.Lang(lang), step)
				i := strings.Index(out[at:], text)
				if i < 0 {
					t.Fatalf("step %s does not follow:\n%s", step, out)
				}
				at += i
			}
			for _, text := range []string{doneLabel, "exact: ", "ok  \texample.com/sum", "✅", "context.completed", "process.recovered"} {
				if !strings.Contains(out, text) {
					t.Errorf("the output lacks %q:\n%s", text, out)
				}
			}
			for _, name := range []string{"config.yaml", "contexts/completed", "origin.git", "logs"} {
				if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
					t.Errorf("not kept: %v", err)
				}
			}
			if strings.Contains(out, "\x1b") {
				t.Errorf("colours without a terminal:\n%q", out)
			}
		})
	}
}
