package forgetest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// GitLab is one GitLab: the same server with GitLab's REST API, version 4, at
// the root and below any prefix that ends in /api/v4.
//
// Issues and merge requests have number spaces of their own; names of labels
// are case-sensitive; changes of labels, state and assignees leave system
// notes. Who has a token is a Developer everywhere, unless [GitLab.SetAccess]
// says otherwise.
type GitLab struct {
	wire
	projects []*project
}

// NewGitLab starts a GitLab on a free port of 127.0.0.1.
func NewGitLab() *GitLab {
	g := &GitLab{}
	g.serve(dialect{
		prefix: "/api/v4", token: privateToken, header: quota, problem: gitlabProblem, refuse: gitlabRefusal, comment: g.anyNote,
		repository: g.gitRight,
	}, g.routes())
	return g
}

// Levels of access to a project.
const (
	NoAccess   = 0
	Guest      = 10
	Reporter   = 20
	Developer  = 30
	Maintainer = 40
	Owner      = 50
)

type project struct {
	id      int64
	path    string   // with namespace
	former  []string // paths it had before
	options Project
	made    time.Time
	levels  map[string]int // by lower-case login
	labels  []*label
	issues  []*item // iid n is at n-1
	merges  []*item
	more    []string // branches that were made by calls
}

// item is an issue or a merge request.
type item struct {
	id        int64
	iid       int
	title     string
	body      string
	author    *account // nil: the account was deleted
	state     string   // opened | closed | locked | merged
	made      time.Time
	updated   time.Time
	closed    time.Time
	labels    []*label
	assignees []*account
	notes     []*note
	locked    bool   // its discussion
	secret    bool   // confidential
	moved     int64  // id of the issue that it was moved to
	merge     *merge // nil: an issue
	labelled  []labelled
}

type merge struct {
	source, target string
	sourceProject  int64
	reviewers      []*account
}

type note struct {
	comment
	system     bool
	internal   bool   // only members see it
	discussion string // shared by the notes of one thread
	kind       string // "" | DiscussionNote | DiffNote
	place      *Place
}

// privateToken reads a token from either of its headers.
func privateToken(h http.Header) (token string, sent bool) {
	if token := h.Get("Private-Token"); token != "" {
		return token, true
	}
	header := h.Get("Authorization")
	token, _ = strings.CutPrefix(header, "Bearer ")
	return token, header != ""
}

func quota(now time.Time) http.Header {
	return http.Header{
		"Ratelimit-Limit":     {"2000"},
		"Ratelimit-Observed":  {"1"},
		"Ratelimit-Remaining": {"1999"},
		"Ratelimit-Reset":     {strconv.FormatInt(now.Add(time.Minute).Unix(), 10)},
	}
}

func gitlabProblem(status int, message string) reply {
	if message == "" || status == http.StatusUnauthorized {
		message = fmt.Sprintf("%d %s", status, http.StatusText(status))
	}
	return reply{status: status, body: object{"message": message}}
}

// gitlabRefusal is GitLab's answer of the faults that store nothing. All its limits are 429.
func gitlabRefusal(f *Fault, now time.Time) reply {
	if f.Kind == Unauthorized {
		return gitlabProblem(http.StatusUnauthorized, "")
	}
	a := reply{status: http.StatusTooManyRequests, header: http.Header{}, body: object{"message": object{
		"error": "This endpoint has been requested too many times. Try again later.",
	}}}
	switch f.Kind {
	case Secondary, TooMany:
		if f.RetryAfter > 0 {
			a.header.Set("Retry-After", strconv.Itoa(int(f.RetryAfter/time.Second)))
		}
		a.header["Ratelimit-Reset"] = nil
	case Primary:
		a.raw = []byte("Retry later\n")
		a.header.Set("Content-Type", "text/plain")
		a.header.Set("RateLimit-Remaining", "0")
		a.header.Set("RateLimit-Reset", strconv.FormatInt(now.Add(f.RetryAfter).Unix(), 10))
	default:
		panic("forgetest: no fault kind " + string(f.Kind))
	}
	return a
}

func (g *GitLab) gitRight(name string, a *account) gitRight {
	p := g.named(name)
	if p == nil {
		return gitRight{}
	}
	return gitRight{dir: p.options.Git, read: g.sees(p, a), write: g.level(p, a) >= Developer && !p.options.Archived}
}

func (g *GitLab) anyNote(id int64) *comment {
	for _, p := range g.projects {
		for _, list := range [][]*item{p.issues, p.merges} {
			for _, i := range list {
				if n := i.note(id); n != nil {
					return &n.comment
				}
			}
		}
	}
	return nil
}

func (i *item) note(id int64) *note {
	for _, n := range i.notes {
		if n.id == id {
			return n
		}
	}
	return nil
}
