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
	"strings"
	"sync"
	"time"
)

const maxRequest = 8 << 20

// wire is what the servers of all forges share: accounts and their tokens,
// routes, faults, the log of requests and the clock. One mutex guards it and
// the state of the forge.
type wire struct {
	dialect
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
	faults   []*armed
	log      []Request
	watch    func(Exchange)
}

// dialect is how one forge's API differs from another's below its routes. The functions run under the mutex.
type dialect struct {
	prefix    string                                        // where the API lies: "/api/v3"
	token     func(h http.Header) (token string, sent bool) // sent also where it cannot be read
	elsewhere func(c *call) (reply, bool)                   // answers for addresses that are old; may be nil
	caller    func(c *call, token string)                   // corrects who is calling; nil: the tokens' accounts are all
	header    func(now time.Time) http.Header               // of every answer
	problem   func(status int, message string) reply        // an error in the forge's own form
	refuse    func(f *Fault, now time.Time) reply           // the answer of faults that store nothing
	comment   func(id int64) *comment                       // any comment of the forge, or nil

	repository func(name string, a *account) gitRight // what an account may do with the git directory of a name
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

// serve starts the server on a free port of 127.0.0.1.
func (s *wire) serve(d dialect, table []route) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic("forgetest: " + err.Error())
	}
	s.dialect, s.table = d, table
	s.base = "http://" + listener.Addr().String()
	s.closing, s.served = make(chan struct{}), make(chan struct{})
	s.now, s.ids = time.Now, 1000
	s.accounts, s.tokens = map[string]*account{}, map[string]*account{}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(listener) // always ends with ErrServerClosed
	}()
}

// URL is the API's base, without a slash at the end.
func (s *wire) URL() string { return s.base + s.prefix }

// Host is the host of the web pages and of task keys.
func (s *wire) Host() string { return strings.TrimPrefix(s.base, "http://") }

// Close ends all connections, also those that a fault holds open.
func (s *wire) Close() {
	close(s.closing)
	_ = s.http.Close()
	<-s.served
}

// SetClock replaces the clock that stamps everything. The default is [time.Now].
func (s *wire) SetClock(now func() time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = now
}

// Ahead sets the clock apart from ours by d, which is negative for a clock that is slow.
func (s *wire) Ahead(d time.Duration) { s.SetClock(func() time.Time { return time.Now().Add(d) }) }

// Requests returns all requests so far, in the order of their arrival.
func (s *wire) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.log...)
}

// ServeHTTP answers one request.
func (s *wire) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.serveGit(w, r) {
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	before, path := s.cutPrefix(r.URL.EscapedPath())
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

// Exchange is a request and its answer.
type Exchange struct {
	Request *http.Request // its URL is without the API's prefix; the body is in Body
	Body    []byte
	Status  int
	Answer  []byte
}

// Watch has f see each exchange that no fault touched, before the answer goes
// out. What is answered 304 is seen as the 200 it stands for.
func (s *wire) Watch(f func(Exchange)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watch = f
}

func (s *wire) show(c *call, a reply) {
	s.mu.Lock()
	watch := s.watch
	s.mu.Unlock()
	if watch != nil {
		watch(Exchange{c.Request, c.body, a.status, a.bytes()})
	}
}

// cutPrefix splits an escaped path after the API's prefix, which before does not hold.
func (s *wire) cutPrefix(path string) (before, rest string) {
	if i := strings.Index(path+"/", s.prefix+"/"); i >= 0 {
		before, path = path[:i], path[i+len(s.prefix):]
	}
	if path == "" {
		path = "/"
	}
	return before, path
}

// admit notes the request and says which fault it meets. at is its place in the log.
func (s *wire) admit(c *call) (fault *Fault, at int) {
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

func (s *wire) identify(c *call) {
	token, sent := s.token(c.Header)
	c.account = s.tokens[token]
	if s.caller != nil {
		s.caller(c, token)
	}
	c.badToken = sent && c.account == nil && c.app == nil
}

// handle runs the route under the mutex.
func (s *wire) handle(c *call) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.badToken {
		return s.problem(http.StatusUnauthorized, "Bad credentials")
	}
	if c.account == nil && c.app == nil && c.Method != http.MethodGet && c.Method != http.MethodHead {
		return s.problem(http.StatusUnauthorized, "Requires authentication")
	}
	if s.elsewhere != nil {
		if moved, ok := s.elsewhere(c); ok {
			return moved
		}
	}
	if found := s.find(c); found != nil {
		return found.handle(c)
	}
	return s.problem(http.StatusNotFound, "Not Found")
}

// send writes a reply with the headers that every answer has.
func (s *wire) send(w http.ResponseWriter, c *call, at int, a reply) {
	s.mu.Lock()
	now := s.now().UTC()
	standing := s.header(now)
	s.mu.Unlock()

	h := w.Header()
	h.Set("Date", now.Format(http.TimeFormat))
	h.Set("Content-Type", "application/json; charset=utf-8")
	for name, values := range standing {
		h[name] = values
	}
	for name, values := range a.header {
		h[name] = values
	}
	data := a.bytes()
	if len(data) > 0 && a.status/100 == 2 && h.Get("Etag") == "" {
		sum := sha256.Sum256(data)
		h.Set("Etag", `"`+hex.EncodeToString(sum[:])+`"`)
	}
	known := strings.TrimPrefix(c.Header.Get("If-None-Match"), "W/")
	if (c.Method == http.MethodGet || c.Method == http.MethodHead) && a.status == http.StatusOK && known != "" && known == h.Get("Etag") {
		a.status, data = http.StatusNotModified, nil
	}
	s.mu.Lock()
	s.log[at].Status = a.status
	s.mu.Unlock()
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
