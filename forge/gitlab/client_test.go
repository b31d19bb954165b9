package gitlab

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"agent/forge"
	"agent/forge/forgetest"
	"agent/forge/rest"
	"agent/internal/exhaustive"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const token = "glpat-0123456789abcdefghij"

// stage is a server with the public project g/p, whose issue 1 carries the label "todo".
func stage(t *testing.T) (*forgetest.GitLab, *forgetest.Item) {
	t.Helper()
	g := forgetest.NewGitLab()
	t.Cleanup(g.Close)
	g.AddToken(token, "agent-bot")
	g.AddProject("g/p", forgetest.Project{})
	return g, g.AddIssue("g/p", "Title", "Body", "ann", "todo")
}

func connect(t *testing.T, g *forgetest.GitLab, change func(*Config)) *Client {
	t.Helper()
	cfg := Config{APIURL: g.URL(), Token: token, Projects: []string{"g/p"}, Timeout: 10 * time.Second}
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

func issue(c *Client, number int) forge.TaskKey {
	return forge.TaskKey{Host: c.Host(), Project: "g/p", Kind: forge.GitLabIssue, Number: number}
}

func merge(c *Client, number int) forge.TaskKey {
	return forge.TaskKey{Host: c.Host(), Project: "g/p", Kind: forge.GitLabMergeRequest, Number: number}
}

func TestHost(t *testing.T) {
	for url, want := range map[string]string{
		"https://gitlab.com/api/v4":           "gitlab.com",
		"https://gitlab.com":                  "gitlab.com",
		"https://GitLab.example.com/api/v4/":  "gitlab.example.com",
		"https://host.example/prefix/api/v4":  "host.example/prefix",
		"https://host.example/a/b/":           "host.example/a/b",
		"http://127.0.0.1:8080/api/v4":        "127.0.0.1:8080",
		"https://host.example:8443/x/api/v4/": "host.example:8443/x",
	} {
		c, err := New(Config{APIURL: url, Token: token, Projects: []string{"g/p"}})
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		c.Close()
		if c.Host() != want {
			t.Errorf("%s: host %q, want %q", url, c.Host(), want)
		}
	}
}

func TestConfigRefused(t *testing.T) {
	good := Config{APIURL: "https://gitlab.com/api/v4", Token: token, Projects: []string{"g/s.1/プロジェクト", "17"}}
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Config){
		"no URL":           func(c *Config) { c.APIURL = "" },
		"no scheme":        func(c *Config) { c.APIURL = "gitlab.com/api/v4" },
		"other scheme":     func(c *Config) { c.APIURL = "ftp://gitlab.com" },
		"password":         func(c *Config) { c.APIURL = "https://u:" + token + "@gitlab.com" },
		"query":            func(c *Config) { c.APIURL = "https://gitlab.com/api/v4?private_token=" + token },
		"unencrypted":      func(c *Config) { c.APIURL = "http://gitlab.com/api/v4" },
		"no token":         func(c *Config) { c.Token = "" },
		"no projects":      func(c *Config) { c.Projects = nil },
		"project":          func(c *Config) { c.Projects = []string{"p"} },
		"empty element":    func(c *Config) { c.Projects = []string{"g//p"} },
		"dots":             func(c *Config) { c.Projects = []string{"g/../p"} },
		"dash":             func(c *Config) { c.Projects = []string{"g/-/p"} },
		"escaped":          func(c *Config) { c.Projects = []string{"g%2Fp/x"} },
		"query in project": func(c *Config) { c.Projects = []string{"g/p?x"} },
		"line break":       func(c *Config) { c.Projects = []string{"g/p\n"} },
		"zero id":          func(c *Config) { c.Projects = []string{"0"} },
		"assignee":         func(c *Config) { c.Assignee = "a b" },
	} {
		cfg := good
		change(&cfg)
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: no error", name)
		} else if strings.Contains(err.Error(), token) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %q", name, err)
		}
	}
}

// TestPrefix: the API lies under a path, and so do the pages and the keys.
func TestPrefix(t *testing.T) {
	g, item := stage(t)
	item.AddNote("ann", "x")
	c := connect(t, g, func(cfg *Config) { cfg.APIURL = "http://" + g.Host() + "/prefix/api/v4" })
	tasks, err := c.ListTasks(context.Background(), "todo")
	if err != nil || len(tasks) != 1 {
		t.Fatalf("%v, %v", tasks, err)
	}
	page := "http://" + g.Host() + "/prefix/g/p/-/issues/1"
	if tasks[0].Key.Host != g.Host()+"/prefix" || tasks[0].URL != page {
		t.Errorf("%+v", tasks[0])
	}
	comments, err := c.Comments(context.Background(), tasks[0].Key, time.Time{})
	if err != nil || len(comments) != 1 || !strings.HasPrefix(comments[0].URL, page+"#note_") {
		t.Errorf("%+v, %v", comments, err)
	}
}

// TestMachineSetsLabel: a service account may bear any login. Only the account itself says what it is.
func TestMachineSetsLabel(t *testing.T) {
	g, item := stage(t)
	c := connect(t, g, nil)
	for login, want := range map[string]bool{"release-train": true, "robot-lover": false} {
		if want {
			g.AddBot(login)
		}
		item.RemoveLabels("todo")
		item.AddLabelsAs(login, "todo")
		if by, err := c.LabelledBy(context.Background(), issue(c, 1), "todo"); err != nil || by.By.Login != login || by.By.Bot != want {
			t.Errorf("%s: %+v, %v", login, by, err)
		}
	}
}

func TestBots(t *testing.T) {
	for login, want := range map[string]bool{
		"project_17_bot": true, "project_17_bot_0a1b2c3d": true, "group_4_bot_ff": true, "project_17_bot1": true,
		// What Service Desk mails, GitLab Duo and other parts of GitLab write under.
		"support-bot": true, "Support-Bot": true, "support-bot1": true, "GitLabDuo": true, "gitlabduo": true, "alert-bot": true,
		"migration-bot": true, "automation-bot": true, "visual-review-bot": true, "suggested-reviewers-bot": true,
		"GitLab-Security-Bot": true, "GitLab-Llm-Bot": true, "GitLab-Admin-Bot": true, "gitlab_security_policy_project_7_bot_0a1b": true,
		"service_account_6018816a18e515214e0c34c2b33523fc": true, "service_account_group_5_0c34c2b33523fc": true, "service_account_project_123_abc": true,
		// People choose such names.
		"support-bot-fan": false, "my-support-bot": false, "abbot": false, "robot-bot": false, "bot": false, "GitLabDuoFan": false,
		"alert-bots": false, "service_account": false, "service-account-jo": false, "ghost-writer": false, "helper[bot]": false,
		"project_bot": false, "ann": false, "my_project_17_bot": false, "project_17_bottle-maker": false, "robot": false,
	} {
		if got := account(1, login, false); got.Bot != want {
			t.Errorf("%s: bot %v", login, got.Bot)
		}
	}
	g, item := stage(t)
	c := connect(t, g, nil)
	if me, err := c.Me(context.Background()); err != nil || me.Bot {
		t.Errorf("a person's token: %+v, %v", me, err)
	}
	item.AddNote("project_17_bot_0a1b", "x")
	g.Fault(forgetest.Fault{Path: ".*/notes", Kind: forgetest.Answer, Status: 200, Nth: 2,
		Body: `[{"id":1,"body":null,"author":{"id":9,"username":"helper","bot":true}},{"id":2,"body":"x","author":null}]`})
	for _, want := range [][]forge.Account{
		{{Login: "project_17_bot_0a1b", Bot: true}}, {{ID: "9", Login: "helper", Bot: true}, {Login: "ghost"}},
	} {
		got, err := c.Comments(context.Background(), issue(c, 1), time.Time{})
		if err != nil || len(got) != len(want) {
			t.Fatalf("%+v, %v", got, err)
		}
		for i := range want {
			if a := got[i].Author; a.Login != want[i].Login || a.Bot != want[i].Bot || want[i].ID != "" && a.ID != want[i].ID {
				t.Errorf("author %+v, want %+v", a, want[i])
			}
		}
	}
}

// TestTokenStaysHome: neither a redirect nor a Link header takes the token elsewhere.
func TestTokenStaysHome(t *testing.T) {
	g, _ := stage(t)
	other := forgetest.NewGitLab()
	t.Cleanup(other.Close)
	c := connect(t, g, nil)
	away := other.URL() + "/projects/1/issues/1/notes"
	g.Fault(forgetest.Fault{Path: ".*/notes", Kind: forgetest.Answer, Status: 307, Times: -1, Header: http.Header{"Location": {away}}})
	if _, err := c.Comments(context.Background(), issue(c, 1), time.Time{}); rest.Kind(err) != forge.Invalid {
		t.Errorf("read: %v", err)
	}
	if _, err := c.PostComment(context.Background(), issue(c, 1), "x"); rest.Kind(err) != forge.Moved {
		t.Errorf("write: %v", err)
	}
	g.ClearFaults()
	g.Fault(forgetest.Fault{Path: ".*/notes", Kind: forgetest.Answer, Status: 200, Body: "[]",
		Header: http.Header{"Link": {"<" + away + `>; rel="next"`}}})
	if got, err := c.Comments(context.Background(), issue(c, 1), time.Time{}); err != nil || len(got) != 0 {
		t.Errorf("Link: %+v, %v", got, err)
	}
	if n := len(other.Requests()); n != 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
}

func TestWriteInterval(t *testing.T) {
	const interval = 20 * time.Millisecond
	g, _ := stage(t)
	c := connect(t, g, func(cfg *Config) { cfg.WriteInterval = interval })
	start := time.Now()
	for range 3 {
		if _, err := c.PostComment(context.Background(), issue(c, 1), "x"); err != nil {
			t.Fatal(err)
		}
	}
	if d := time.Since(start); d < 2*interval { // a lower bound cannot fail by slowness
		t.Errorf("three writes within %v", d)
	}
}

// stripped is a proxy that drops what pages are numbered by.
type stripped struct{ *http.Transport }

func (s stripped) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := s.Transport.RoundTrip(r)
	if err == nil {
		response.Header.Del("X-Next-Page")
		response.Header.Del("Link")
	}
	return response, err
}

func TestPagesWithoutHeaders(t *testing.T) {
	g, item := stage(t)
	for range 200 {
		item.AddNote("ann", "x")
	}
	c := connect(t, g, func(cfg *Config) { cfg.Transport = stripped{rest.NewTransport()} })
	if got, err := c.Comments(context.Background(), issue(c, 1), time.Time{}); err != nil || len(got) != 200 {
		t.Errorf("%d notes, %v", len(got), err)
	}
}

// A list that never ends is refused before it fills the memory.
func TestEndlessPages(t *testing.T) {
	exhaustive.Only(t)
	g, _ := stage(t)
	c := connect(t, g, nil)
	page := "[" + strings.Repeat(`{"id":1,"body":"`+strings.Repeat("x", 100<<10)+`"},`, 99) + `{"id":2,"body":""}]`
	g.Fault(forgetest.Fault{Path: ".*/notes|.*/discussions", Times: -1, Kind: forgetest.Answer, Status: 200, Body: page})
	var failed *forge.Error
	_, err := c.Comments(t.Context(), issue(c, 1), time.Time{})
	if !errors.As(err, &failed) || failed.Kind != forge.Invalid {
		t.Error(err)
	}
}

// TestNoLimiter: the library would take the first answer's limit and hold the next requests back for a minute each.
func TestNoLimiter(t *testing.T) {
	g, _ := stage(t)
	c := connect(t, g, nil)
	g.Fault(forgetest.Fault{Kind: forgetest.Answer, Status: 200, Body: "[]", Header: http.Header{"Ratelimit-Limit": {"1"}}})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for range 3 {
		if _, err := c.Comments(ctx, issue(c, 1), time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUnchangedIsNotSentAgain: what is polled is confirmed only, each change is seen, and a broken answer does not stay.
func TestUnchangedIsNotSentAgain(t *testing.T) {
	g, item := stage(t)
	item.AddNote("ann", "x")
	c := connect(t, g, nil)
	poll := func() (labels, notes int, codes []int) {
		t.Helper()
		from := len(g.Requests())
		tasks, err := c.ListTasks(context.Background(), "todo")
		if err != nil || len(tasks) != 1 {
			t.Fatalf("%v, %v", tasks, err)
		}
		comments, err := c.Comments(context.Background(), issue(c, 1), time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range g.Requests()[from:] {
			codes = append(codes, r.Status)
		}
		return len(tasks[0].Labels), len(comments), codes
	}
	for _, want := range [][]int{{200, 200, 200, 200, 200}, {304, 304, 304}} {
		if labels, notes, codes := poll(); labels != 1 || notes != 1 || !slices.Equal(codes, want) {
			t.Errorf("%d labels, %d notes, %v, want %v", labels, notes, codes, want)
		}
	}
	item.AddNote("ann", "y")
	item.AddLabels("z")
	if labels, notes, _ := poll(); labels != 2 || notes != 3 {
		t.Errorf("after the change: %d labels, %d notes", labels, notes)
	}
	for _, body := range []string{`[{"id":1,`, `"text"`, `null`, `[null]`} {
		g.Fault(forgetest.Fault{Path: ".*/notes", Kind: forgetest.Answer, Status: 200, Body: body, Header: http.Header{"Etag": {`"x"`}}})
		if _, err := c.Comments(context.Background(), issue(c, 1), time.Time{}); rest.Kind(err) != forge.Transient {
			t.Errorf("%s: %v", body, err)
		}
		if _, notes, codes := poll(); notes != 3 || codes[2] != 200 {
			t.Errorf("%s: afterwards %d notes, %v", body, notes, codes)
		}
	}
}
