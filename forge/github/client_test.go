package github

import (
	"context"
	"io"
	"log"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"agent/forge"
	"agent/forge/forgetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var discard = log.New(io.Discard, "", 0)

const token = "ghp_0123456789abcdefghij"

// stage is a server with the public repository o/r, whose issue 1 carries the label "todo".
func stage(t *testing.T) *forgetest.Server {
	t.Helper()
	s := forgetest.New()
	t.Cleanup(s.Close)
	checkOfficially(t, s)
	s.AddToken(token, "agent-bot")
	s.AddBot("agent-bot")
	s.AddRepository("o/r", forgetest.Repository{})
	s.AddIssue("o/r", "Title", "Body", "ann", "todo")
	return s
}

func connect(t *testing.T, s *forgetest.Server, change func(*Config)) *Client {
	t.Helper()
	cfg := Config{APIURL: s.URL(), Token: token, Owner: "o", Repositories: []string{"o/r"}, BotName: "agent-bot", Timeout: 10 * time.Second}
	if change != nil {
		change(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func issueKey(s *forgetest.Server, number int) forge.TaskKey {
	return forge.TaskKey{Host: s.Host(), Project: "o/r", Kind: forge.GitHubIssue, Number: number}
}

// trip is a RoundTripper that calls before each request goes out.
type trip func(*http.Request)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) {
	f(r)
	return http.DefaultTransport.RoundTrip(r)
}

func (trip) CloseIdleConnections() { http.DefaultTransport.(*http.Transport).CloseIdleConnections() }

func TestHost(t *testing.T) {
	for url, want := range map[string]string{
		"https://api.github.com":          "github.com",
		"https://api.github.com/":         "github.com",
		"https://ghe.example/api/v3":      "ghe.example",
		"https://GHE.example/api/v3/":     "ghe.example",
		"https://x.example/forge/api/v3":  "x.example/forge",
		"http://127.0.0.1:8080":           "127.0.0.1:8080",
		"http://127.0.0.1:8080/api/v3":    "127.0.0.1:8080",
		"https://api.example.com/api/v3":  "api.example.com",
		"https://api.tenant.ghe.com":      "tenant.ghe.com",
		"http://[::1]:8080/api/v3":        "[::1]:8080",
		"http://localhost/api/v3":         "localhost",
		"https://ghe.example:8443/api/v3": "ghe.example:8443",
	} {
		c, err := New(Config{APIURL: url, Token: token, Owner: "o"})
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if c.Host() != want {
			t.Errorf("%s: host %q, want %q", url, c.Host(), want)
		}
	}
}

func TestConfigRefused(t *testing.T) {
	good := Config{APIURL: "https://api.github.com", Token: token, Owner: "o"}
	for name, change := range map[string]func(*Config){
		"http to another host": func(c *Config) { c.APIURL = "http://ghe.example/api/v3" },
		"scheme":               func(c *Config) { c.APIURL = "file:///etc" },
		"no scheme":            func(c *Config) { c.APIURL = "api.github.com" },
		"user in URL":          func(c *Config) { c.APIURL = "https://me:" + token + "@ghe.example" },
		"query":                func(c *Config) { c.APIURL = "https://ghe.example?t=" + token },
		"not a URL":            func(c *Config) { c.APIURL = "https://ghe.example/%zz" + token },
		"empty token":          func(c *Config) { c.Token = "" },
		"no owner":             func(c *Config) { c.Owner = "" },
		"owner as qualifier":   func(c *Config) { c.Owner = "o repo:x/y" },
		"assignee":             func(c *Config) { c.Assignee = "a b" },
		"repository":           func(c *Config) { c.Repositories = []string{"o/.."} },
		"repository with path": func(c *Config) { c.Repositories = []string{"o/r/s"} },
		"repository and query": func(c *Config) { c.Repositories = []string{"o/r?x"} },
	} {
		cfg := good
		change(&cfg)
		_, err := New(cfg)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		noSecret(t, err)
	}
	if _, err := New(good); err != nil {
		t.Error(err)
	}
	good.APIURL, good.AllowHTTP = "http://ghe.example", true
	if _, err := New(good); err != nil {
		t.Errorf("http is allowed: %v", err)
	}
}

func TestMe(t *testing.T) {
	s := stage(t)
	c := connect(t, s, nil)
	for range 2 {
		me, err := c.Me(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if me.Login != "agent-bot" || !me.Bot || me.ID == "" {
			t.Errorf("me: %+v", me)
		}
	}
	if n := len(s.Requests()); n != 1 {
		t.Errorf("%d requests, want 1: the answer is cached", n)
	}
}

func TestMeOfAppToken(t *testing.T) {
	s := stage(t)
	s.Fault(forgetest.Fault{Path: "/user", Kind: forgetest.Answer, Status: 403, Body: `{"message":"Resource not accessible by integration"}`})
	me, err := connect(t, s, nil).Me(context.Background())
	if err != nil || me.Login != "agent-bot" || !me.Bot {
		t.Errorf("me: %+v, %v", me, err)
	}
}

func TestForeignKeys(t *testing.T) {
	s := stage(t)
	c := connect(t, s, nil)
	good := issueKey(s, 1)
	for name, change := range map[string]func(*forge.TaskKey){
		"other host":  func(k *forge.TaskKey) { k.Host = "github.com" },
		"GitLab":      func(k *forge.TaskKey) { k.Kind = forge.GitLabIssue },
		"traversal":   func(k *forge.TaskKey) { k.Project = "o/.." },
		"query":       func(k *forge.TaskKey) { k.Project = "o/r?x=" },
		"three parts": func(k *forge.TaskKey) { k.Project = "a/o/r" },
		"empty":       func(k *forge.TaskKey) { k.Project = "" },
	} {
		key := good
		change(&key)
		ctx := context.Background()
		_, task := c.Task(ctx, key)
		_, repository := c.Repository(ctx, key)
		_, comments := c.Comments(ctx, key, time.Time{})
		_, post := c.PostComment(ctx, key, "x")
		_, edit := c.EditComment(ctx, key, "1", "x")
		_, labels := c.ChangeLabels(ctx, key, []forge.Label{{Name: "x"}}, nil)
		_, permission := c.Permission(ctx, key, "ann")
		_, find := c.FindChange(ctx, key, "b")
		_, open := c.OpenChange(ctx, key, forge.ChangeSpec{Branch: "b", Base: "main", Title: "t"})
		for i, err := range []error{task, repository, comments, post, edit, labels, permission, find, open} {
			if kind(err) != forge.Invalid {
				t.Errorf("%s, call %d: %v", name, i, err)
			}
		}
	}
	if got := s.Requests(); len(got) != 0 {
		t.Errorf("requests were sent: %v", got)
	}
}

func TestPermission(t *testing.T) {
	s := stage(t)
	s.AddRepository("o/p", forgetest.Repository{Private: true})
	s.AddIssue("o/p", "T", "", "ann")
	for _, role := range []string{"none", "read", "triage", "write", "maintain", "admin"} {
		s.SetPermission("o/r", "the-"+role, role)
	}
	s.AddIssue("o/r", "T", "", "passer-by")
	c := connect(t, s, nil)
	for login, want := range map[string]forge.Permission{
		"the-none": forge.None, "the-read": forge.Read, "the-triage": forge.Read, "the-write": forge.Write,
		"the-maintain": forge.Write, "the-admin": forge.Admin, "passer-by": forge.Read, "agent-bot": forge.Write,
	} {
		got, err := c.Permission(context.Background(), issueKey(s, 1), login)
		if err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", login, got, err, want)
		}
	}
	if p, err := c.Permission(context.Background(), issueKey(s, 1), "nobody-here"); p != forge.None || kind(err) != forge.NotFound {
		t.Errorf("unknown login: %v, %v", p, err)
	}
	if p, err := c.Permission(context.Background(), issueKey(s, 1), "../../x"); p != forge.None || kind(err) != forge.Invalid {
		t.Errorf("bad login: %v, %v", p, err)
	}
}

func TestPermissionFields(t *testing.T) {
	for _, test := range []struct {
		coarse, role string
		want         forge.Permission
	}{
		{"write", "release-team", forge.Write}, // a custom role
		{"write", "read", forge.Read},
		{"read", "admin", forge.Read},
		{"", "admin", forge.None},
		{"something", "new", forge.None},
	} {
		if got := permission(test.coarse, test.role); got != test.want {
			t.Errorf("%q, %q: %v, want %v", test.coarse, test.role, got, test.want)
		}
	}
}

func TestRepository(t *testing.T) {
	s := stage(t)
	s.AddRepository("o/p", forgetest.Repository{Private: true, CloneURL: "/srv/git/p", DefaultBranch: "trunk"})
	s.AddRepository("o/i", forgetest.Repository{Internal: true})
	c := connect(t, s, nil)
	for project, want := range map[string]forge.Repository{
		"o/r": {CloneURL: "http://" + s.Host() + "/o/r.git", DefaultBranch: "main"},
		"o/p": {CloneURL: "/srv/git/p", DefaultBranch: "trunk", Private: true},
		"o/i": {CloneURL: "http://" + s.Host() + "/o/i.git", DefaultBranch: "main", Private: true},
	} {
		key := issueKey(s, 1)
		key.Project = project
		got, err := c.Repository(context.Background(), key)
		if err != nil {
			t.Fatal(err)
		}
		if want.ID = got.ID; want.ID == "" {
			t.Error("no id")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", project, diff)
		}
	}
}

func TestRepositoryCache(t *testing.T) {
	s := stage(t)
	c := connect(t, s, nil)
	now := time.Now()
	c.now = func() time.Time { return now }
	for i, want := range []int{1, 1, 2} {
		if i == 2 {
			now = now.Add(cacheFor)
		}
		if _, err := c.Repository(context.Background(), issueKey(s, 1)); err != nil {
			t.Fatal(err)
		}
		if got := len(s.Requests()); got != want {
			t.Errorf("call %d: %d requests, want %d", i, got, want)
		}
	}
}

func TestChanges(t *testing.T) {
	s := stage(t)
	c := connect(t, s, nil)
	ctx, key := context.Background(), issueKey(s, 1)
	if got, err := c.FindChange(ctx, key, "agent/1"); got != nil || err != nil {
		t.Fatalf("before: %v, %v", got, err)
	}
	s.AddPullRequest("o/r", "Other", "", "ann", "agent/10", "main")
	spec := forge.ChangeSpec{Branch: "agent/1", Base: "main", Title: "T", Body: "B", Draft: true}
	opened, err := c.OpenChange(ctx, key, spec)
	if err != nil {
		t.Fatal(err)
	}
	if want := (forge.Change{Number: 3, URL: "http://" + s.Host() + "/o/r/pull/3", Branch: "agent/1"}); opened != want {
		t.Errorf("opened %+v, want %+v", opened, want)
	}
	got, err := c.FindChange(ctx, key, "agent/1")
	if err != nil || got == nil || *got != opened {
		t.Errorf("found %+v, %v", got, err)
	}
	if _, err := c.OpenChange(ctx, key, spec); kind(err) != forge.Invalid {
		t.Errorf("second: %v", err)
	}
	s.CloseIssue("o/r", 3)
	if got, err := c.FindChange(ctx, key, "agent/1"); got != nil || err != nil {
		t.Errorf("closed: %v, %v", got, err)
	}
}
