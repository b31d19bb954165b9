package forgetest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// Repositories and projects that have a Git directory are served at their web
// URL with .git, by git's own server program: what it does with a clone and a
// push is what a forge does. Hooks of the repository run, so a test can protect
// a branch. The user of the basic authentication does not matter, the password
// is the token. Faults meet these requests as well; their paths end in
// .git/info/refs, .git/git-upload-pack and .git/git-receive-pack.

// gitPath is what a request of git looks like: the repository, then the service.
var gitPath = regexp.MustCompile(`^/(.+)\.git(/(?:info/refs|git-upload-pack|git-receive-pack))$`)

// maxPack bounds the body of one push.
const maxPack = 256 << 20

// gitRight is what an account may do with a repository's git directory.
type gitRight struct {
	dir         string // "": there is none
	read, write bool
}

// gitHome finds git's server program once.
var gitHome = sync.OnceValue(func() string {
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		panic("forgetest: git cannot be run: " + err.Error())
	}
	return strings.TrimSpace(string(out))
})

// serveGit answers a request of git and reports whether it was one.
func (s *wire) serveGit(w http.ResponseWriter, r *http.Request) bool {
	at := gitPath.FindStringSubmatch(r.URL.Path)
	if at == nil || s.repository == nil {
		return false
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxPack))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	inner := r.Clone(r.Context())
	if _, password, sent := r.BasicAuth(); sent {
		inner.Header.Set("Authorization", "Bearer "+password)
	}
	c := &call{Request: inner}
	fault, index := s.admit(c)
	serve := func(w http.ResponseWriter) { s.backend(w, c, at[1], at[2], body) }
	if fault == nil {
		serve(&noted{ResponseWriter: w, wire: s, at: index})
		return true
	}
	s.failGit(w, c, fault, index, serve)
	return true
}

// noted writes the status of the answer into the log of requests.
type noted struct {
	http.ResponseWriter
	wire *wire
	at   int
}

func (n *noted) WriteHeader(status int) {
	n.wire.mu.Lock()
	n.wire.log[n.at].Status = status
	n.wire.mu.Unlock()
	n.ResponseWriter.WriteHeader(status)
}

// backend checks who asks and lets git answer.
func (s *wire) backend(w http.ResponseWriter, c *call, name, service string, body []byte) {
	s.mu.Lock()
	right := s.repository(name, c.account)
	login := ""
	if c.account != nil {
		login = c.account.login
	}
	s.mu.Unlock()
	pushes := service == "/git-receive-pack" || c.URL.Query().Get("service") == "git-receive-pack"
	switch {
	case c.badToken, login == "" && (pushes || !right.read):
		w.Header().Set("WWW-Authenticate", `Basic realm="forgetest"`)
		http.Error(w, "Invalid username or token.", http.StatusUnauthorized)
		return
	case right.dir == "" || !right.read:
		http.Error(w, "Repository not found.", http.StatusNotFound)
		return
	case pushes && !right.write:
		http.Error(w, "Permission to "+name+".git denied to "+login+".", http.StatusForbidden)
		return
	}
	inner := c.Request.Clone(context.WithoutCancel(c.Context())) // what has begun is finished, whoever goes away
	inner.URL.Path = "/" + filepath.Base(right.dir) + service
	inner.Body, inner.ContentLength, inner.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	inner.Header.Del("Authorization")
	(&cgi.Handler{Path: filepath.Join(gitHome(), "git-http-backend"), Dir: right.dir, Env: []string{
		"PATH=" + os.Getenv("PATH"), "GIT_PROJECT_ROOT=" + filepath.Dir(right.dir), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=" + login,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "HOME=/dev/null", "GIT_PROTOCOL=" + c.Header.Get("Git-Protocol"),
	}}).ServeHTTP(w, inner)
}

// failGit does what a fault wants. Of what stores, git has done its part.
func (s *wire) failGit(w http.ResponseWriter, c *call, f *Fault, at int, serve func(http.ResponseWriter)) {
	switch f.Kind {
	case Store500, Store502HTML, StoreGarbled:
		serve(&unheard{header: http.Header{}})
		s.send(w, c, at, s.problem(http.StatusInternalServerError, "Server Error"))
	case StoreDrop, StoreSlow:
		serve(&unheard{header: http.Header{}})
		s.wait(c, f.Delay)
		panic(http.ErrAbortHandler)
	case Drop:
		panic(http.ErrAbortHandler)
	case Answer:
		s.send(w, c, at, reply{status: f.Status, raw: []byte(f.Body), header: f.Header})
	case Slow:
		s.wait(c, f.Delay)
		if c.Context().Err() != nil { // whoever asked is gone
			panic(http.ErrAbortHandler)
		}
		serve(&noted{ResponseWriter: w, wire: s, at: at})
	default:
		s.mu.Lock()
		a := s.refuse(f, s.now())
		s.mu.Unlock()
		s.send(w, c, at, a)
	}
}

// unheard is an answer that nobody gets.
type unheard struct{ header http.Header }

func (u *unheard) Header() http.Header         { return u.header }
func (u *unheard) Write(p []byte) (int, error) { return len(p), nil }
func (u *unheard) WriteHeader(int)             {}

// lacksBranch reports whether a git directory has no such branch.
func lacksBranch(dir, branch string) bool {
	if dir == "" {
		return false // nothing is known of its branches
	}
	p := exec.Command("git", "--git-dir="+dir, "show-ref", "--verify", "--quiet", "refs/heads/"+branch)
	return p.Run() != nil
}
