package app_test

import (
	"errors"
	"strings"
	"testing"

	"agent/internal/app"
	"agent/internal/config"
	"agent/internal/registry"
)

// Where a forge may have its repositories cloned from. Whoever answers in its name
// must not get the token sent elsewhere, or a repository of this machine read.
func TestAllowClone(t *testing.T) {
	for _, tt := range []struct {
		kind, api string
		from      []string // clone_from
		url       string
		allowed   bool
	}{
		{"github", "https://api.github.com", nil, "https://github.com/o/r.git", true},
		{"github", "https://api.github.com", nil, "https://GitHub.com:443/o/r.git", true},
		{"github", "https://api.github.com", nil, "https://api.github.com/o/r.git", true},
		{"github", "https://api.github.com", nil, "http://github.com/o/r.git", false},
		{"github", "https://api.github.com", nil, "https://github.com.evil.example/o/r.git", false},
		{"github", "https://api.github.com", nil, "https://evil.example/github.com/o/r.git", false},
		{"github", "https://api.github.com", nil, "https://github.com@evil.example/o/r.git", false},
		{"github", "https://api.github.com", nil, "https://evil.example#github.com/o/r.git", false},
		{"github", "https://api.github.com", nil, "https://user:secret@github.com/o/r.git", false},
		{"github", "https://api.github.com", nil, "https://github.com:8443/o/r.git", false},
		{"github", "https://api.github.com", nil, "git@github.com:o/r.git", false},
		{"github", "https://api.github.com", nil, "ssh://git@github.com/o/r.git", false},
		{"github", "https://api.github.com", nil, "git://github.com/o/r.git", false},
		{"github", "https://api.github.com", nil, "ext::sh -c id", false},
		{"github", "https://api.github.com", nil, "-u https://github.com/o/r.git", false},
		{"github", "https://api.github.com", nil, "/srv/git/private.git", false},
		{"github", "https://api.github.com", nil, "file:///srv/git/private.git", false},
		{"github", "https://api.github.com", nil, "FILE:///srv/git/private.git", false},
		{"github", "https://api.github.com", nil, "", false},
		{"github", "https://git.example.com/api/v3", nil, "https://git.example.com/o/r.git", true},
		{"github", "https://git.example.com/api/v3", nil, "https://github.com/o/r.git", false},
		{"github", "http://127.0.0.1:8080", nil, "http://127.0.0.1:8080/o/r.git", true},
		{"github", "http://127.0.0.1:8080", nil, "http://127.0.0.1:8081/o/r.git", false},
		{"github", "http://127.0.0.1:8080", nil, "http://localhost:8080/o/r.git", false},
		{"gitlab", "https://git.example.com/prefix/api/v4", nil, "https://git.example.com/prefix/g/p.git", true},
		{"gitlab", "https://git.example.com/prefix/api/v4", nil, "https://pages.example.com/prefix/g/p.git", false},

		{"gitlab", "https://intern.example.com/api/v4", []string{"git.example.com"}, "https://git.example.com/g/p.git", true},
		{"gitlab", "https://intern.example.com/api/v4", []string{"git.example.com"}, "http://git.example.com/g/p.git", false},
		{"gitlab", "https://intern.example.com/api/v4", []string{"http://git.example.com"}, "http://git.example.com/g/p.git", true},
		{"gitlab", "https://intern.example.com/api/v4", []string{"git.example.com"}, "https://git.example.com:8443/g/p.git", false},
		{"gitlab", "https://intern.example.com/api/v4", []string{"git.example.com:8443"}, "https://git.example.com:8443/g/p.git", true},
		{"gitlab", "https://intern.example.com/api/v4", []string{"git.example.com"}, "ssh://git.example.com/g/p.git", false},
		{"gitlab", "https://intern.example.com/api/v4", []string{"git.example.com"}, "/srv/git/p.git", false},
		{"gitlab", "https://intern.example.com/api/v4", []string{"/srv/git"}, "/srv/git/p.git", true},
		{"gitlab", "https://intern.example.com/api/v4", []string{"/srv/git"}, "file:///srv/git/p.git", true},
		{"gitlab", "https://intern.example.com/api/v4", []string{"/srv/git"}, "file://elsewhere/srv/git/p.git", false},
		{"gitlab", "https://intern.example.com/api/v4", []string{"/srv/git"}, "/srv/git/../private.git", false},
		{"gitlab", "https://intern.example.com/api/v4", []string{"/srv/git"}, "file:///srv/git/%2e%2e/private.git", false},
		{"gitlab", "https://intern.example.com/api/v4", []string{"/srv/git"}, "/srv/gitea/p.git", false},
	} {
		driver, ok := registry.Forge(tt.kind)
		if !ok {
			t.Fatal(tt.kind)
		}
		err := app.AllowClone(config.Forge{Driver: driver, APIURL: tt.api, CloneFrom: tt.from}, tt.url)
		var refused *app.CloneError
		if (err == nil) != tt.allowed || err != nil && !errors.As(err, &refused) {
			t.Errorf("%s with %q: %s: %v", tt.api, tt.from, tt.url, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error shows a password: %v", err)
		}
	}
}
