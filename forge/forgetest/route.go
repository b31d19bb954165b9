package forgetest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// call is a request on its way through the server.
type call struct {
	*http.Request
	body     []byte
	web      string // start of the URLs of web pages
	api      string // start of the URLs of the API
	account  *account
	app      *app // who proved to be an App has no account
	ofApp    bool // the token is one of an App's installation
	badToken bool
}

// route is one call of the API. Path elements in braces are values.
type route struct {
	method, pattern string
	handle          func(c *call) reply // runs under the mutex
}

// routes returns the calls that the server knows; the first that fits is taken.
func (s *Server) routes() []route {
	const repo = "/repos/{owner}/{repo}"
	return []route{
		{"GET", "/", func(*call) reply { return ok(object{}) }},
		{"GET", "/rate_limit", s.rateLimit},
		{"POST", "/graphql", s.graphQL},
		{"POST", "/api/graphql", s.graphQL},
		{"GET", "/app", s.getApp},
		{"POST", "/app/installations/{id}/access_tokens", s.createInstallationToken},
		{"GET", "/user", s.getUser},
		{"GET", "/users/{login}", s.getNamedUser},
		{"GET", "/search/issues", s.search},
		{"GET", "/orgs/{login}/repos", s.listOrganization},
		{"GET", repo, s.getRepository},
		{"GET", repo + "/collaborators/{login}/permission", s.getPermission},
		{"GET", repo + "/labels", s.listRepositoryLabels},
		{"POST", repo + "/labels", s.createLabel},
		{"GET", repo + "/labels/{label}", s.getLabel},
		{"GET", repo + "/issues", s.listIssues},
		{"POST", repo + "/issues", s.createIssue},
		{"GET", repo + "/issues/{number}", s.getIssue},
		{"GET", repo + "/issues/{number}/events", s.listEvents},
		{"GET", repo + "/issues/{number}/sub_issues", s.listSubIssues},
		{"PATCH", repo + "/issues/{number}", s.patchIssue},
		{"GET", repo + "/issues/comments/{id}", s.getComment},
		{"PATCH", repo + "/issues/comments/{id}", s.patchComment},
		{"DELETE", repo + "/issues/comments/{id}", s.deleteComment},
		{"GET", repo + "/issues/comments/{id}/reactions", s.listReactions},
		{"POST", repo + "/issues/comments/{id}/reactions", s.createReaction},
		{"GET", repo + "/issues/{number}/comments", s.listComments},
		{"POST", repo + "/issues/{number}/comments", s.createComment},
		{"GET", repo + "/issues/{number}/labels", s.listIssueLabels},
		{"POST", repo + "/issues/{number}/labels", s.addIssueLabels},
		{"PUT", repo + "/issues/{number}/labels", s.setIssueLabels},
		{"DELETE", repo + "/issues/{number}/labels/{label}", s.removeIssueLabel},
		{"POST", repo + "/issues/{number}/assignees", s.addAssignees},
		{"DELETE", repo + "/issues/{number}/assignees", s.removeAssignees},
		{"GET", repo + "/pulls", s.listPulls},
		{"POST", repo + "/pulls", s.createPull},
		{"GET", repo + "/pulls/{number}", s.getPull},
		{"POST", repo + "/pulls/{number}/requested_reviewers", s.requestReviewers},
		{"GET", repo + "/pulls/comments/{id}", s.getReviewComment},
		{"PATCH", repo + "/pulls/comments/{id}", s.patchReviewComment},
		{"DELETE", repo + "/pulls/comments/{id}", s.deleteReviewComment},
		{"GET", repo + "/pulls/{number}/comments", s.listReviewComments},
		{"POST", repo + "/pulls/{number}/comments", s.createReviewComment},
		{"POST", repo + "/pulls/{number}/comments/{id}/replies", s.createReviewComment},
		{"GET", repo + "/pulls/{number}/reviews", s.listReviews},
		{"POST", repo + "/pulls/{number}/reviews", s.createReview},
	}
}

// find returns the route of a request and puts the path's values into it, or nil.
func (s *wire) find(c *call) *route {
	method := c.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	path := strings.Split(c.URL.EscapedPath(), "/")
	for i := range s.table {
		if s.table[i].method == method && c.fits(strings.Split(s.table[i].pattern, "/"), path) {
			return &s.table[i]
		}
	}
	return nil
}

func (c *call) fits(pattern, path []string) bool {
	if len(pattern) != len(path) {
		return false
	}
	for i, want := range pattern {
		if name, isValue := strings.CutPrefix(want, "{"); isValue {
			value, err := url.PathUnescape(path[i])
			if err != nil || value == "" {
				return false
			}
			c.SetPathValue(strings.TrimSuffix(name, "}"), value)
		} else if want != path[i] {
			return false
		}
	}
	return true
}

// decode reads the request's body into v.
func (c *call) decode(v any) (reply, bool) {
	if err := json.Unmarshal(c.body, v); err != nil {
		return problem(http.StatusBadRequest, "Problems parsing JSON"), false
	}
	return reply{}, true
}

// visible is the repository of the path, or nil if the caller may not see it.
func (s *Server) visible(c *call) *repository {
	r := s.repos[key(c.PathValue("owner")+"/"+c.PathValue("repo"))]
	if r == nil || s.role(r, c.account) < roleRead {
		return nil
	}
	return r
}

// item is the issue or pull request of the path, or nil.
func (s *Server) item(c *call) (*repository, *issue) {
	r := s.visible(c)
	n, err := strconv.Atoi(c.PathValue("number"))
	if r == nil || err != nil || n < 1 || n > len(r.issues) {
		return r, nil
	}
	return r, r.issues[n-1]
}

// writable is item for calls that need the right to write.
func (s *Server) writable(c *call) (*repository, *issue, reply, bool) {
	r, i := s.item(c)
	if i == nil {
		return nil, nil, notFound(), false
	}
	if s.role(r, c.account) < roleTriage {
		return nil, nil, forbidden(), false
	}
	return r, i, reply{}, true
}

func notFound() reply { return problem(http.StatusNotFound, "Not Found") }
func forbidden() reply {
	return problem(http.StatusForbidden, "Resource not accessible by integration")
}
