package forgetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

const maxRequest = 8 << 20

// Server is one forge. Its methods may be called from any goroutine.
type Server struct {
	base    string // http://127.0.0.1:port
	http    *http.Server
	table   []route
	closing chan struct{}
	served  chan struct{}

	mu       sync.Mutex
	now      func() time.Time
	ids      int64
	accounts map[string]*account // by lower-case login
	tokens   map[string]*account
	repos    map[string]*repository // by lower-case owner/name
	order    []*repository
	faults   []*armed
	log      []Request
}

// Request is one request as it arrived, without its credentials.
type Request struct {
	Method string
	Path   string // without the API's prefix
	Query  url.Values
	Body   string
	Login  string // "" without a known token
	Status int    // 0 if the connection was dropped or the answer is still due
}

// New starts a server on a free port of 127.0.0.1.
func New() *Server {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic("forgetest: " + err.Error())
	}
	s := &Server{
		base:     "http://" + listener.Addr().String(),
		closing:  make(chan struct{}),
		served:   make(chan struct{}),
		now:      time.Now,
		ids:      1000,
		accounts: map[string]*account{},
		tokens:   map[string]*account{},
		repos:    map[string]*repository{},
	}
	s.table = s.routes()
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(listener) // always ends with ErrServerClosed
	}()
	return s
}

// URL is the API's base, without a slash at the end.
func (s *Server) URL() string { return s.base + "/api/v3" }

// Host is the host of the web pages and of task keys.
func (s *Server) Host() string { return strings.TrimPrefix(s.base, "http://") }

// Close ends all connections, also those that a fault holds open.
func (s *Server) Close() {
	close(s.closing)
	_ = s.http.Close()
	<-s.served
}

// SetClock replaces the clock that stamps everything. The default is [time.Now].
func (s *Server) SetClock(now func() time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = now
}

// Requests returns all requests so far, in the order of their arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.log...)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	before, path := cutPrefix(r.URL.EscapedPath())
	inner := r.Clone(r.Context())
	inner.URL.RawPath = path
	inner.URL.Path, _ = url.PathUnescape(path)
	c := &call{Request: inner, body: body, web: s.base + before, api: strings.TrimSuffix(s.base+r.URL.EscapedPath(), path)}
	if path == "/" {
		c.api = s.base + strings.TrimSuffix(r.URL.EscapedPath(), "/")
	}

	fault, at := s.admit(c)
	s.perform(w, c, fault, at)
}

// cutPrefix splits an escaped path after "/api/v3". before has no "/api/v3".
func cutPrefix(path string) (before, rest string) {
	const marker = "/api/v3"
	if i := strings.Index(path+"/", marker+"/"); i >= 0 {
		before, path = path[:i], path[i+len(marker):]
	}
	if path == "" {
		path = "/"
	}
	return before, path
}

// admit notes the request and says which fault it meets. at is its place in the log.
func (s *Server) admit(c *call) (fault *Fault, at int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.identify(c)
	login := ""
	if c.account != nil {
		login = c.account.login
	}
	s.log = append(s.log, Request{
		Method: c.Method, Path: c.URL.Path, Query: c.URL.Query(), Body: string(c.body), Login: login,
	})
	return s.match(c), len(s.log) - 1
}

func (s *Server) identify(c *call) {
	header := c.Header.Get("Authorization")
	scheme, token, _ := strings.Cut(header, " ")
	known := strings.EqualFold(scheme, "bearer") || strings.EqualFold(scheme, "token")
	if known {
		c.account = s.tokens[token]
	}
	c.badToken = header != "" && c.account == nil
}

// handle runs the route under the mutex.
func (s *Server) handle(c *call) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.badToken {
		return problem(http.StatusUnauthorized, "Bad credentials")
	}
	if c.account == nil && c.Method != http.MethodGet && c.Method != http.MethodHead {
		return problem(http.StatusUnauthorized, "Requires authentication")
	}
	if found := s.find(c); found != nil {
		return found.handle(c)
	}
	return notFound()
}

// send writes a reply with the headers that every answer has.
func (s *Server) send(w http.ResponseWriter, c *call, at int, a reply) {
	s.mu.Lock()
	now := s.now().UTC()
	s.log[at].Status = a.status
	s.mu.Unlock()

	h := w.Header()
	h.Set("Date", now.Format(http.TimeFormat))
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("X-Github-Media-Type", "github.v3; format=json")
	h.Set("X-Oauth-Scopes", "repo")
	h.Set("X-Ratelimit-Limit", "5000")
	h.Set("X-Ratelimit-Remaining", "4999")
	h.Set("X-Ratelimit-Used", "1")
	h.Set("X-Ratelimit-Reset", strconv.FormatInt(now.Add(time.Hour).Unix(), 10))
	for name, values := range a.header {
		h[name] = values
	}
	data := a.bytes()
	if a.status == http.StatusOK && (c.Method == http.MethodGet || c.Method == http.MethodHead) {
		sum := sha256.Sum256(data)
		tag := `"` + hex.EncodeToString(sum[:]) + `"`
		h.Set("Etag", tag)
		if strings.TrimPrefix(c.Header.Get("If-None-Match"), "W/") == tag {
			a.status, data = http.StatusNotModified, nil
		}
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(data) // the client may be gone
}

// reply is an answer before it is sent. A nil body is an empty one; raw wins over body.
type reply struct {
	status int
	body   any
	raw    []byte
	header http.Header
}

func (a reply) bytes() []byte {
	if a.raw != nil {
		return a.raw
	}
	if a.body == nil {
		return nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(a.body); err != nil {
		panic("forgetest: " + err.Error())
	}
	return b.Bytes()
}

func ok(body any) reply      { return reply{status: http.StatusOK, body: body} }
func created(body any) reply { return reply{status: http.StatusCreated, body: body} }
func noContent() reply       { return reply{status: http.StatusNoContent} }

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
