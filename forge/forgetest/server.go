package forgetest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Server is one GitHub. Its methods may be called from any goroutine.
type Server struct {
	wire
	repos  map[string]*repository // by lower-case owner/name
	former map[string]*repository // by lower-case names that they had before
	moves  map[string]place       // where issues were transferred, by their former address
	order  []*repository
	apps   []*app
	ends   map[string]time.Time // of tokens that end by themselves
}

// New starts a GitHub on a free port of 127.0.0.1.
func New() *Server {
	s := &Server{repos: map[string]*repository{}, ends: map[string]time.Time{}, former: map[string]*repository{}, moves: map[string]place{}}
	s.serve(dialect{
		prefix: "/api/v3", token: bearer, caller: s.caller, header: standing, problem: problem, refuse: refusal, comment: s.anyComment,
		repository: s.gitRight, elsewhere: s.elsewhere,
	}, s.routes())
	return s
}

// bearer reads the token of an Authorization header.
func bearer(h http.Header) (token string, sent bool) {
	header := h.Get("Authorization")
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "bearer") && !strings.EqualFold(scheme, "token") {
		token = ""
	}
	return token, header != ""
}

// caller knows Apps, which have no account, and that their tokens end.
func (s *Server) caller(c *call, token string) {
	c.app = s.proven(token)
	end, ofApp := s.ends[token]
	if c.ofApp = ofApp; ofApp && !s.now().Before(end) {
		c.account = nil
	}
}

func standing(now time.Time) http.Header {
	return http.Header{
		"X-Github-Media-Type":   {"github.v3; format=json"},
		"X-Github-Request-Id":   {fmt.Sprintf("%X", now.UnixNano())},
		"X-Oauth-Scopes":        {"repo"},
		"X-Ratelimit-Limit":     {"5000"},
		"X-Ratelimit-Resource":  {"core"},
		"X-Ratelimit-Remaining": {"4999"},
		"X-Ratelimit-Used":      {"1"},
		"X-Ratelimit-Reset":     {strconv.FormatInt(now.Add(time.Hour).Unix(), 10)},
	}
}

func (s *Server) gitRight(name string, a *account) gitRight {
	r := s.repos[key(name)]
	if r == nil {
		return gitRight{}
	}
	role := s.role(r, a)
	return gitRight{dir: r.options.Git, read: role >= roleRead, write: role >= roleWrite}
}

func (s *Server) anyComment(id int64) *comment {
	for _, r := range s.order {
		if _, m := r.comment(id); m != nil {
			return m
		}
	}
	return nil
}

func problem(status int, message string) reply {
	return reply{status: status, body: object{
		"message": message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status),
	}}
}

// unprocessable is a validation error about one field.
func unprocessable(resource, field, code, message string) reply {
	return reply{status: http.StatusUnprocessableEntity, body: object{
		"message": "Validation Failed", "documentation_url": "https://docs.github.com/rest",
		"errors": []object{{"resource": resource, "field": field, "code": code, "message": message}},
	}}
}

// unprocessableText is the other form of a validation error, which some calls have.
func unprocessableText(message string) reply {
	return reply{status: http.StatusUnprocessableEntity, body: object{
		"message": "Unprocessable Entity", "documentation_url": "https://docs.github.com/rest", "errors": []string{message},
	}}
}
