package logging

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent/internal/redact"
)

const secret = "configured-value-1"

// deceiving are characters that a terminal obeys or does not show: C1, bidi, tag.
const deceiving = "\u009b\u202e\U000e0041"

func write(t *testing.T, o Options) (file, shown string) {
	t.Helper()
	var stderr bytes.Buffer
	o.Stderr, o.Redactor = &stderr, redact.New([]string{secret})
	log, closer, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	log = log.With("w", "with\x1b["+secret).WithGroup("g")
	log.Debug("fine")
	log.Info("hello\n\x1b[31m"+secret, "k", "v\r\nforged line "+deceiving+secret, slog.Group("in", "err", errors.New("a\nb "+secret)))
	log.Error("broken "+secret, "n", 3, "long", strings.Repeat("x", maxShown-5)+secret)
	if err := closer.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(o.Dir, "agent.log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw), stderr.String()
}

func TestFileIsPrivateJSONWithoutSecrets(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "logs")
	file, shown := write(t, Options{Dir: dir})
	lines := strings.Split(strings.TrimSpace(file), "\n")
	if len(lines) != 2 {
		t.Fatalf("%q", file)
	}
	for _, line := range lines {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil || record["level"] == "" {
			t.Errorf("%s: %v", line, err)
		}
	}
	if strings.ContainsAny(file, deceiving) || !strings.Contains(file, `\u009b`) || !strings.Contains(file, `\u202e`) || !strings.Contains(file, `\udb40\udc41`) {
		t.Errorf("a terminal would obey %q", file)
	}
	for _, text := range []string{file, shown} {
		if strings.Contains(text, secret) || !strings.Contains(text, "[redacted:secret]") {
			t.Errorf("%q", text)
		}
	}
	if strings.Contains(shown, secret[:4]) {
		t.Error("a cut must not leave half a secret")
	}
	if strings.Count(shown, "\n") != 1 || !strings.HasPrefix(shown, "ERR broken") || strings.Contains(shown, "\x1b") {
		t.Errorf("without a terminal one line for the error: %q", shown)
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "agent.log"): 0o600} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
}

func TestTerminal(t *testing.T) {
	_, plain := write(t, Options{Dir: t.TempDir(), Terminal: true, NoColor: true, Debug: true})
	if strings.Count(plain, "\n") != 3 || strings.ContainsAny(plain, "\x1b\r\u202e") || !strings.Contains(plain, `\x1b[31m`) || !strings.Contains(plain, "fine") || strings.Contains(plain, secret) {
		t.Errorf("%q", plain)
	}
	_, coloured := write(t, Options{Dir: t.TempDir(), Terminal: true})
	if !strings.Contains(coloured, "\x1b[") || strings.Contains(coloured, "\x1b[31m[") {
		t.Errorf("%q", coloured)
	}
}

func TestUnwritableDirectoryIsAWarning(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	log, closer, err := New(Options{Dir: filepath.Join(file, "logs"), Stderr: &stderr})
	if err != nil {
		t.Fatal(err)
	}
	log.Error("still here")
	if err := closer.Close(); err != nil || !strings.HasPrefix(stderr.String(), "warning: no log file: ") || !strings.Contains(stderr.String(), "still here") {
		t.Errorf("%v %q", err, stderr.String())
	}
}

func TestUnknownLevel(t *testing.T) {
	if _, _, err := New(Options{Level: "loud", Stderr: &bytes.Buffer{}}); err == nil {
		t.Error("accepted")
	}
}
