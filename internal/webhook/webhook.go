// Package webhook listens for the hooks of forges, so that a label or a comment is looked at
// at once and not in the next round.
//
// A delivery has no effect but one: its item is looked at, as if the round had come to it.
// What is true there is read from the forge, with the rules of every round. So a delivery that
// is repeated, late or out of order costs one look at most, and one that is lost is made up for by polling.
//
// Whoever does not know the secret gets 401, and nothing of the request is kept. Bodies, connections, time
// and memory are bounded before anything is checked, and items and looks after that (see [Queue]).
package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"agent/forge"
)

const (
	maxBody        = 4 << 20  // GitHub sends less for an item, and a description on GitLab has up to 1 MiB
	maxHeld        = 32 << 20 // bytes of all bodies that are being read
	maxConnections = 256
	maxHeader      = 16 << 10
	headerTime     = 5 * time.Second
	readTime       = 20 * time.Second
	tellEvery      = time.Minute // between two lines in the log about refused deliveries
)

// Mark is the value of the header Server, by which `agent doctor` knows its own.
const Mark = "agent-webhook"

// Options of a server.
type Options struct {
	Listen            string // address and port
	Secret            string
	CertFile, KeyFile string // "": plain HTTP, as behind a proxy
	Kinds             []*forge.Hook
	// Found is called for each delivery with the right secret that is about an item. It must not block.
	Found func(kind *forge.Hook, item forge.HookItem)
	Log   *slog.Logger
}

// Server listens until it is closed.
type Server struct {
	o           Options
	http        *http.Server
	address     net.Addr
	connections atomic.Int64
	held        atomic.Int64 // bytes
	done        sync.WaitGroup

	mu      sync.Mutex
	refused int // since the last line about it
	said    time.Time
}

// Listen opens the port and serves it.
func Listen(o Options) (*Server, error) {
	if o.Secret == "" {
		return nil, errors.New("webhooks: there is no secret")
	}
	listener, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	s := &Server{o: o, address: listener.Addr()}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: readTime, IdleTimeout: readTime,
		MaxHeaderBytes: maxHeader, ConnState: s.count, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo), // strangers would fill the log
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){}} // no HTTP/2: forges do not use it for hooks
	if o.CertFile != "" {
		c := &certificate{cert: o.CertFile, key: o.KeyFile}
		if _, err := c.load(nil); err != nil {
			_ = listener.Close()
			return nil, fmt.Errorf("webhooks: %w", err)
		}
		listener = tls.NewListener(listener, &tls.Config{GetCertificate: c.load, MinVersion: tls.VersionTLS12})
	}
	s.done.Go(func() { _ = s.http.Serve(listener) }) // it ends with Close
	return s, nil
}

// Address is where the server listens.
func (s *Server) Address() string { return s.address.String() }

// Close ends the server at once.
func (s *Server) Close() {
	_ = s.http.Close()
	s.done.Wait()
}

// count closes connections over the bound.
func (s *Server) count(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if s.connections.Add(1) > maxConnections {
			_ = c.Close()
		}
	case http.StateClosed, http.StateHijacked:
		s.connections.Add(-1)
	case http.StateActive, http.StateIdle:
	}
}

// ServeHTTP takes one delivery, at any path.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Server", Mark)
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	kind := s.kindOf(r.Header)
	if kind == nil {
		s.refuse(w)
		return
	}
	body, status := s.read(r)
	defer s.held.Add(-int64(cap(body)))
	switch {
	case status != 0:
		w.WriteHeader(status)
	case !kind.Signed(r.Header, body, s.o.Secret):
		s.refuse(w)
	default:
		if item, ok := kind.Item(body); ok {
			s.o.Found(kind, item)
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

func (s *Server) kindOf(header http.Header) *forge.Hook {
	for _, kind := range s.o.Kinds {
		if kind.Belongs(header) {
			return kind
		}
	}
	return nil
}

// read reads a body. Its capacity counts as held as long as it grows and until the caller
// gives it back, so that many slow requests together have no more memory than a few.
func (s *Server) read(r *http.Request) (body []byte, status int) {
	if r.ContentLength > maxBody {
		return nil, http.StatusRequestEntityTooLarge
	}
	for {
		if len(body) == cap(body) {
			larger := max(2*cap(body), 8<<10)
			if s.held.Add(int64(larger-cap(body))) > maxHeld {
				s.held.Add(int64(cap(body) - larger))
				return body, http.StatusServiceUnavailable
			}
			grown := make([]byte, len(body), larger)
			copy(grown, body)
			body = grown
		}
		n, err := r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case len(body) > maxBody:
			return body, http.StatusRequestEntityTooLarge
		case err == io.EOF:
			return body, 0
		case err != nil:
			return body, http.StatusBadRequest
		}
	}
}

// refuse answers 401, and says from time to time how often: a secret may be set wrong.
func (s *Server) refuse(w http.ResponseWriter) {
	w.WriteHeader(http.StatusUnauthorized)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refused++; time.Since(s.said) > tellEvery {
		s.o.Log.Warn("deliveries to the webhook were refused: they are not signed with webhooks.secret", "count", s.refused)
		s.said, s.refused = time.Now(), 0
	}
}

// certificate is read again when its file has changed: certificates are renewed while the loop runs.
type certificate struct {
	cert, key string

	mu     sync.Mutex
	loaded *tls.Certificate
	time   time.Time
}

func (c *certificate) load(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	info, err := os.Stat(c.cert)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded != nil && (err != nil || info.ModTime().Equal(c.time)) {
		return c.loaded, nil
	}
	if err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		if c.loaded != nil {
			return c.loaded, nil // half of a renewal
		}
		return nil, err
	}
	c.loaded, c.time = &pair, info.ModTime()
	return c.loaded, nil
}

// Answers reports whether one of ours listens at an address, over HTTP or HTTPS.
func Answers(ctx context.Context, address string) bool {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} // only its name is asked for
	for _, scheme := range []string{"http://", "https://"} {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+address, nil)
		if err != nil {
			return false
		}
		if response, err := client.Do(request); err == nil {
			_ = response.Body.Close()
			if response.Header.Get("Server") == Mark {
				return true
			}
		}
	}
	return false
}
