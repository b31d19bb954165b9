package main

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"agent/forge/forgetest"
	"agent/internal/exhaustive"
	"agent/llm/llmtest"
)

// refusals are answers of a forge about #1, a pull request, by the kinds of the table
// in docs/architecture.md. Beside it is #2, an issue.
var refusals = []struct {
	kind, name string
	fault      forgetest.Fault
	code       int
	first      string // label of #1 after the run
	second     string // label of #2
	words      string // on the terminal, or on #1
}{
	{"forbidden", "comments", answers("GET", ".*/issues/1/comments", 403, "Resource not accessible by personal access token"), 0, pausedLabel, doneLabel, "not accessible"},
	{"forbidden", "reviews", answers("GET", ".*/pulls/1/reviews", 403, "Resource not accessible by integration"), 0, pausedLabel, doneLabel, "not accessible"},
	{"forbidden", "pull requests", answers("GET", ".*/pulls/1", 403, "Resource not accessible by personal access token"), 78, botLabel, doneLabel, "not accessible"},
	{"forbidden", "single sign-on", answers("GET", ".*/issues/1(/comments)?", 403, "Resource protected by organization SAML enforcement."), 78, botLabel, doneLabel, "SAML enforcement"},
	{"forbidden", "the list", answers("GET", ".*/issues", 403, "Resource not accessible by personal access token"), 78, botLabel, botLabel, "agent doctor"},
	{"forbidden", "the last comment", answers("POST", ".*/issues/1/comments", 403, "Resource not accessible by integration"), 75, processingLabel, doneLabel, "not accessible"},
	{"invalid", "comments", answers("GET", ".*/issues/1/comments", 422, "Validation Failed"), 0, pausedLabel, doneLabel, "Validation Failed"},
	{"invalid", "the list", answers("GET", ".*/issues", 422, "Validation Failed"), 78, botLabel, botLabel, "Validation Failed"},
	{"not_found", "the repository", answers("GET", ".*", 404, "Not Found"), 78, botLabel, botLabel, "agent doctor"},
	{"auth", "the token", forgetest.Fault{Kind: forgetest.Unauthorized, Times: -1}, 78, botLabel, botLabel, "auth"},
	{"hidden", "the item", forgetest.Fault{Method: "GET", Path: ".*/issues/1", Kind: forgetest.Answer, Status: 404, Body: `{"message":"Not Found"}`, Nth: 2, Times: -1},
		75, botLabel, doneLabel, "may be again"},
	{"transient", "the list", answers("GET", ".*/issues", 502, ""), 75, botLabel, botLabel, "transient"},
	{"rate_limited", "the list", forgetest.Fault{Path: ".*/issues", Kind: forgetest.TooMany, RetryAfter: time.Hour, Times: -1}, 75, botLabel, botLabel, "rate_limited"},
	{"ambiguous", "a comment", forgetest.Fault{Method: "POST", Path: ".*/issues/1/comments", Kind: forgetest.Store500}, 0, doneLabel, doneLabel, ""},
	{"moved", "to nobody's project", forgetest.Fault{Method: "GET", Path: "/repos/acme/widgets/issues/1", Kind: forgetest.Answer, Status: 301, Nth: 2, Times: -1,
		Header: http.Header{"Location": {"/api/v3/repos/acme/elsewhere/issues/1"}}}, 75, botLabel, doneLabel, "acme/elsewhere/issues/1, where no tasks are taken"},
	{"certificate", "unknown authority", forgetest.Fault{}, 78, botLabel, botLabel, "certificate is not trusted"},
}

func answers(method, path string, status int, message string) forgetest.Fault {
	return forgetest.Fault{Method: method, Path: path, Kind: forgetest.Answer, Status: status, Body: `{"message":"` + message + `"}`, Times: -1}
}

// A refusal that lasts was "later": exit 75 in every round, the item at "processing"
// for ever, and nobody was told.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range exhaustive.Sample(refusals, 4) {
		t.Run(c.kind+" "+c.name, func(t *testing.T) {
			t.Parallel()
			w := emptyWorld(t, forms(llmtest.Always(llmtest.Done("I looked.")), nil))
			w.git("branch", headBranch, "main")
			w.forge.AddRepository(testRepo, forgetest.Repository{Private: true, Git: w.path("origin.git")})
			w.forge.AddPullRequest(testRepo, "Greet", "Please write hello.txt.", "alice", headBranch, "main", botLabel)
			w.issue("Greet the world")
			w.forge.AddRepository("acme/elsewhere", forgetest.Repository{Private: true})
			w.forge.AddIssue("acme/elsewhere", "Greet", "Please greet.", "alice")
			w.forge.Fault(c.fault)
			if c.kind == "certificate" {
				s := httptest.NewUnstartedServer(http.NotFoundHandler())
				s.Config.ErrorLog = log.New(io.Discard, "", 0)
				s.StartTLS()
				t.Cleanup(s.Close)
				w.env = []string{"GITHUB_API_URL=" + s.URL}
			}
			out, errOut := w.agent(c.code, "run")
			w.wantLabels(1, c.first)
			w.wantLabels(2, c.second)
			if all := out + errOut + strings.Join(w.bodies(1), "\n"); !strings.Contains(all, c.words) {
				t.Errorf("nobody is told %q:\n%s", c.words, all)
			}
			if c.first == botLabel || c.first == doneLabel {
				return
			}
			if status, _ := w.agent(0, "status"); !strings.Contains(status, c.words) && !strings.Contains(status, "permission") {
				t.Errorf("status does not say why:\n%s", status)
			}
			w.forge.ClearFaults()
			for _, l := range w.list(0) {
				w.wantExact(l.UUID)
				if l.State != "completed" {
					w.agent(0, "run", l.UUID)
				}
			}
			w.wantLabels(1, doneLabel)
		})
	}
}

// TestRefusalsAreComplete: every kind of the table is tried, and every kind of the
// port is in the table.
func TestRefusalsAreComplete(t *testing.T) {
	page, err := os.ReadFile("../../docs/architecture.md")
	must(t, err)
	_, section, _ := strings.Cut(string(page), "**Forges** (")
	section, _, _ = strings.Cut(section, "\n## ")
	port, err := os.ReadFile("../../forge/forge.go")
	must(t, err)
	tried := map[string]bool{}
	for _, c := range refusals {
		tried[c.kind] = true
	}
	kinds := regexp.MustCompile(`ErrorKind = "([a-z_]+)"`).FindAllStringSubmatch(string(port), -1)
	if len(kinds) < 9 {
		t.Fatalf("%d kinds", len(kinds))
	}
	for _, m := range kinds {
		if !tried[m[1]] || !regexp.MustCompile("(?m)^\\| [a-z_`, ]*`"+m[1]+"`").MatchString(section) {
			t.Errorf("%s: tried %v, or not in the table", m[1], tried[m[1]])
		}
	}
}

// A repository without a commit is named as what it is, not as one that is gone.
func TestEmptyRepository(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	must(t, os.RemoveAll(w.path("origin.git")))
	w.git("init", "-q", "--bare", "-b", "main", w.path("origin.git"))
	w.agent(1, "run")
	w.wantLabels(1, failedLabel)
	if said := strings.Join(w.bodies(1), "\n"); !strings.Contains(said, "no commit yet") {
		t.Errorf("it says\n%s", said)
	}
}
