package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent/internal/app"
	"agent/internal/config"
	"agent/internal/container/imagetest"
	"agent/internal/i18n"
)

// examined is a doctor with this configuration and environment, after it was loaded.
func examined(t *testing.T, text string, env map[string]string) *doctor {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env["HOME"] = filepath.Dir(path)
	o := Options{ConfigPath: path, Getenv: func(name string) string { return env[name] }, Show: func(Finding) {}}
	d := &doctor{Options: o, ctx: t.Context(), report: Report{Lang: i18n.En}}
	if cfg := d.checkConfig(); cfg != nil {
		d.App = app.NewReadOnly(cfg, nil, app.Options{})
		t.Cleanup(d.App.Close)
	}
	return d
}

// wants looks for findings of a check: the result, and words of the text or the advice.
func (d *doctor) wants(t *testing.T, check string, want ...string) {
	t.Helper()
	var got []string
	for _, f := range d.report.Findings {
		if f.Check == check {
			got = append(got, fmt.Sprintf("%s: %s → %s", f.Result, f.Text, f.Todo))
		}
	}
	for i, w := range want {
		result, words, _ := strings.Cut(w, ": ")
		if i >= len(got) || !strings.HasPrefix(got[i], result+": ") || !strings.Contains(got[i], words) {
			t.Errorf("want %q at %d of %q", w, i, got)
		}
	}
	if len(got) != len(want) {
		t.Errorf("there are %d findings, want %d: %q", len(got), len(want), got)
	}
}

const some = "github: {owner: o, personal_access_token: '${TOKEN}'}\nllm: {openai: {api_key: k}}\n"

// TestCredentials: a service's secrets come from systemd. Who runs the doctor in a shell does not have them,
// and learns how to run it.
func TestCredentials(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "env"), []byte("TOKEN=tok\n"), 0o400); err != nil {
		t.Fatal(err)
	}
	text := "env_file: ${CREDENTIALS_DIRECTORY}/env\n" + some
	examined(t, text, map[string]string{config.CredentialsVariable: dir}).wants(t, "config", "ok: config.yaml is valid", "ok: a credential of systemd: "+dir+"/env")
	examined(t, text, map[string]string{}).wants(t, "config", "failed: the environment variable CREDENTIALS_DIRECTORY is not set (or empty) → only the service has its credentials; run this as the service does: systemd-run --pipe",
		"failed: the environment variable TOKEN")
}

// TestContainer: each way in which an image is there or is not, with the real podman.
func TestContainer(t *testing.T) {
	found := imagetest.Podman(t)
	for name, c := range map[string]struct {
		path, text string
		want       []string
	}{
		"not used":     {found, "", nil},
		"there":        {found, "{image: " + imagetest.Name + "}", []string{"ok: " + imagetest.Name + ": the image is on this machine", "ok: 0 unpacked images"}},
		"to be pulled": {found, "{image: localhost/none:1}", []string{"warning: localhost/none:1: the image is not on this machine", "ok: unpacked"}},
		"never pulled": {found, "{projects: {o/r: localhost/none:1, o/s: " + imagetest.Name + "}, pull: never}",
			[]string{"ok: " + imagetest.Name, "failed: localhost/none:1", "ok: unpacked"}},
		"allowed":      {found, "{allow: [localhost/*]}", []string{"ok: repositories may name images: localhost/*", "ok: unpacked"}},
		"no tool":      {t.TempDir(), "{image: " + imagetest.Name + "}", []string{"failed: neither podman nor docker is installed → install podman (apt-get install podman)"}},
		"another tool": {found, "{image: " + imagetest.Name + ", tool: docker}", []string{"failed: docker is not installed"}},
	} {
		path := c.path
		if path == found {
			path += ":/usr/bin:/bin"
		}
		if name == "another tool" {
			path = found // without whatever this machine has
		}
		t.Setenv("PATH", path)
		text := some
		if c.text != "" {
			text += "sandbox: {container: " + c.text + "}\n"
		}
		d := examined(t, text, map[string]string{"TOKEN": "x"})
		d.checkContainer()
		t.Run(name, func(t *testing.T) { d.wants(t, "container", c.want...) })
	}
}
