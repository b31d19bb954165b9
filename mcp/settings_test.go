package mcp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A server's tools use the operator's mirrors. A password in an address, or beside one in a
// file, never reaches them.
func TestSettingsWithoutCredentials(t *testing.T) {
	const token = "npm_0123456789"
	for _, tt := range []struct {
		name  string
		env   map[string]string
		files map[string]string
		want  map[string]string
	}{
		{name: "nothing is set", want: map[string]string{}},
		{name: "variables", env: map[string]string{"GOPROXY": "https://proxy.example.com|direct", "GOFLAGS": "-mod=vendor", "GOPRIVATE": "*.example.com,github.com/o", "PIP_INDEX_URL": "https://pip.example.com/simple", "NPM_CONFIG_REGISTRY": "https://npm.example.com/"},
			want: map[string]string{"GOPROXY": "https://proxy.example.com|direct", "GOFLAGS": "-mod=vendor", "GOPRIVATE": "*.example.com,github.com/o", "PIP_INDEX_URL": "https://pip.example.com/simple", "npm_config_registry": "https://npm.example.com/"}},
		{name: "files", files: map[string]string{
			".config/go/env":       "GOPROXY=off\nGOPRIVATE=example.com\nGOAUTH=netrc\n",
			".config/pip/pip.conf": "[install]\nindex-url = https://wrong.example.com\n[global]\nindex-url = https://pip.example.com\n",
			".npmrc":               "//npm.example.com/:_authToken=" + token + "\nregistry=https://npm.example.com\n_auth=" + token + "\n"},
			want: map[string]string{"GOPROXY": "off", "GOPRIVATE": "example.com", "PIP_INDEX_URL": "https://pip.example.com", "npm_config_registry": "https://npm.example.com"}},
		{name: "a variable wins", env: map[string]string{"GOPROXY": "direct"}, files: map[string]string{".config/go/env": "GOPROXY=off\n"}, want: map[string]string{"GOPROXY": "direct"}},
		{name: "another file", env: map[string]string{"GOENV": "off"}, files: map[string]string{".config/go/env": "GOPROXY=off\n"}, want: map[string]string{}},
		{name: "passwords in variables", env: map[string]string{"GOPROXY": "direct,https://u:p@proxy.example.com", "GOFLAGS": "-insecure u:p@host", "PIP_INDEX_URL": "https://token@pip.example.com/simple",
			"PIP_EXTRA_INDEX_URL": "https://a.example.com https://b.example.com?token=x", "npm_config_registry": "https://${TOKEN}.example.com", "GOPRIVATE": "a,https://%zz"}, want: map[string]string{}},
		{name: "passwords in files", files: map[string]string{".config/go/env": "GOPROXY=https://u:p@proxy.example.com\n", ".config/pip/pip.conf": "[global]\nindex-url=https://u@pip.example.com\n", ".npmrc": "registry=https://u:p@npm.example.com"}, want: map[string]string{}},
		{name: "a known secret", env: map[string]string{"PIP_INDEX_URL": "https://pip.example.com/" + token + "/simple"}, want: map[string]string{}},
	} {
		home := t.TempDir()
		for name, text := range tt.files {
			path := filepath.Join(home, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		getenv := func(name string) string {
			if name == "HOME" {
				return home
			}
			return tt.env[name]
		}
		got := settings(getenv, func(text string) bool { return strings.Contains(text, token) })
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}
