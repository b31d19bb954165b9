package registry_test

import (
	"testing"

	"agent/forge"
	"agent/internal/registry"
	"agent/llm"
)

// A driver with a hole in it would fail in some command only.
func TestForgesAreComplete(t *testing.T) {
	for _, d := range registry.Forges {
		t.Run(d.Name, func(t *testing.T) {
			if found, ok := registry.Forge(d.Name); !ok || found.Title != d.Title {
				t.Error("not found by its name")
			}
			if d.Local {
				checkLocal(t, d)
				return
			}
			if d.Title == "" || d.ProjectsKey == "" || !d.ValidProject(d.ProjectForm) || !d.IsAPI(d.APIURL) {
				t.Errorf("%+v", d)
			}
			if d.LabelsPath(d.ProjectForm)[0] != '/' || d.LabelBody(forge.Label{Name: "n"})["name"] != "n" || d.TokenPath[0] != '/' || len(d.WantScopes) == 0 {
				t.Error("agent doctor lacks something")
			}
			key := forge.TaskKey{Host: d.Host(d.APIURL), Project: d.ProjectForm, Kind: d.Change, Number: 7}
			if again, err := forge.ParseTaskKey(key.String()); err != nil || again != key {
				t.Errorf("%v is read as %v: %v", key, again, err)
			}
			if registry.ForgeOfURL(d.APIURL).Name != d.Name {
				t.Error("not found by its URL")
			}
		})
	}
}

// checkLocal wants all of a kind without a server, and nothing of what only servers have.
func checkLocal(t *testing.T, d forge.Driver) {
	if d.Title == "" || !d.ValidProject(d.ProjectForm) || d.APIURL != "" || d.IsAPI != nil || d.TokenPath != "" || d.Scopes != nil || d.LabelsPath != nil || d.ProjectsKey != "" || d.Searches || d.Apps {
		t.Errorf("%+v", d)
	}
	key := forge.TaskKey{Host: d.Host("inbox"), Project: "inbox", Kind: d.Issue, Number: 7}
	if again, err := forge.ParseTaskKey(key.String()); err != nil || again != key {
		t.Errorf("%v is read as %v: %v", key, again, err)
	}
	dir := t.TempDir()
	conn, err := d.New(forge.Options{Directory: dir, Name: "inbox"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if tasks, err := conn.ListTasks(t.Context(), "todo"); conn.Host() != key.Host || err != nil || len(tasks) != 0 {
		t.Errorf("host %s, tasks %v, %v", conn.Host(), tasks, err)
	}
}

// The host that commands without a connection use is that of the client's keys.
func TestHosts(t *testing.T) {
	for _, tt := range []struct{ kind, url, host string }{
		{"github", "https://api.github.com", "github.com"},
		{"github", "https://API.github.com/", "github.com"},
		{"github", "https://api.octo.ghe.com", "octo.ghe.com"},
		{"github", "https://git.example.com/api/v3", "git.example.com"},
		{"github", "https://git.example.com/forge/api/v3/", "git.example.com/forge"},
		{"github", "https://Git.example.com:8443/forge/api/v3/", "git.example.com:8443/forge"},
		{"github", "http://127.0.0.1:3000", "127.0.0.1:3000"},
		{"gitlab", "https://gitlab.com/api/v4", "gitlab.com"},
		{"gitlab", "https://GitLab.example.com/code/api/v4", "gitlab.example.com/code"},
		{"gitlab", "https://gitlab.example.com", "gitlab.example.com"},
	} {
		d, _ := registry.Forge(tt.kind)
		conn, err := d.New(forge.Options{APIURL: tt.url, Token: "tok-1", Projects: []string{d.ProjectForm}})
		if err != nil {
			t.Fatal(err)
		}
		if d.Host(tt.url) != tt.host || conn.Host() != tt.host {
			t.Errorf("%s: %q without and %q with a connection, want %q", tt.url, d.Host(tt.url), conn.Host(), tt.host)
		}
		if token, err := conn.Token(t.Context()); token != "tok-1" || err != nil {
			t.Error(token, err)
		}
		conn.Close()
	}
}

func TestProvidersAreComplete(t *testing.T) {
	for _, d := range registry.Providers {
		t.Run(d.Name, func(t *testing.T) {
			if d.Title == "" || d.URLKey == "" || d.ContextLength < 1024 || d.Hints.Unreachable == "" {
				t.Errorf("%+v", d)
			}
			p, err := d.New(llm.Options{URL: d.URL, APIKey: "key-1", Model: "m"})
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := p.(llm.Checker); !ok {
				t.Error("agent doctor cannot ask it")
			}
		})
	}
}

func TestFixURL(t *testing.T) {
	d, _ := registry.Provider("lmstudio")
	for url, want := range map[string]string{
		"http://127.0.0.1:1234": "http://127.0.0.1:1234/v1", "http://127.0.0.1:1234/": "http://127.0.0.1:1234/v1",
		"http://h/v1": "http://h/v1", "http://h/proxy": "http://h/proxy", "http://h?x=1": "http://h?x=1", "": "", "h": "h",
	} {
		if got := d.FixURL(url); got != want {
			t.Errorf("%q → %q, want %q", url, got, want)
		}
	}
}
