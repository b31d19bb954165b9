// Package webui serves the contexts of a store as web pages, for people to look at: a list,
// a context that grows while it runs, two beside each other, and what all of them took.
//
// It only reads. It answers GET and HEAD and nothing else, keeps no state but caches, and
// every page is made on the server. It listens on loopback; anywhere else it demands a
// certificate and a token ([Options]). A request must name a host that the server has, and
// come from its own pages or from nowhere, so that a page of others cannot read it, also
// not by a name that leads to loopback. Times, connections, watchers and pages are bounded.
package webui

import (
	"context"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"agent/contexts"
	"agent/internal/redact"
	"agent/internal/report"
)

// Options say where a server listens and who may look.
type Options struct {
	Address   string // host:port; port 0 is any
	Cert, Key string // files; needed beyond loopback
	Version   string // of the program
	Token     string // needed beyond loopback; empty: everybody on this machine may look
}

// Bounds of a server.
const (
	mostConnections = 256
	mostWatchers    = 200 // in all
	leastToken      = 16  // characters
)

// Server serves pages.
type Server struct {
	source report.Source
	clean  func(string) string
	o      Options
	cert   *tls.Certificate
	lists  later[[]report.Listed]
	seen   contexts.Seen
	gauges cache[[]byte]
	hubs   hubs

	statsMu sync.Mutex
	stats   map[string]*sums
	adding  sync.Mutex // held while logs are added up
}

// New checks the options.
func New(source report.Source, o Options) (*Server, error) {
	s := &Server{source: source, o: o}
	var secrets []string
	if source.Config != nil {
		secrets = source.Config.Secrets()
	}
	redactor := redact.New(secrets)
	s.clean = func(text string) string { plain, _ := redactor.String(text); return plain }
	host, port, err := net.SplitHostPort(o.Address)
	if err != nil {
		return nil, fmt.Errorf("%q is not HOST:PORT", o.Address)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return nil, fmt.Errorf("%q is not a port", port)
	}
	if (o.Cert == "") != (o.Key == "") {
		return nil, errors.New("a certificate and its key belong together")
	}
	if !loopback(host) && (o.Cert == "" || o.Token == "") {
		return nil, fmt.Errorf("%s is not loopback: others could look. That needs a token and a certificate", o.Address)
	}
	if o.Token != "" && len(o.Token) < leastToken {
		return nil, fmt.Errorf("the token has fewer than %d characters", leastToken)
	}
	if o.Cert != "" {
		cert, err := tls.LoadX509KeyPair(o.Cert, o.Key)
		if err != nil {
			return nil, err
		}
		s.cert = &cert
	}
	s.hubs.server = s
	return s, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Serve listens until ctx ends. ready is told the address of the first page.
func (s *Server) Serve(ctx context.Context, ready func(url string)) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.o.Address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: s.Handler(listener.Addr().String()), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10, BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)} // who connects is no news
	address := url.URL{Scheme: "http", Host: listener.Addr().String(), Path: "/"}
	listener = netutil.LimitListener(listener, mostConnections)
	if s.cert != nil {
		address.Scheme = "https"
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{*s.cert}, MinVersion: tls.VersionTLS12})
	}
	stopped := context.AfterFunc(ctx, func() { server.Close() })
	defer stopped()
	ready(address.String())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Handler answers requests to a server that listens at address.
func (s *Server) Handler(address string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.list)
	mux.HandleFunc("GET /c/{uuid}", s.context)
	mux.HandleFunc("GET /c/{uuid}/e/{seq}", s.event)
	mux.HandleFunc("GET /c/{uuid}/live", s.live)
	mux.HandleFunc("GET /compare", s.compare)
	mux.HandleFunc("GET /stats", s.statistics)
	mux.HandleFunc("GET /metrics", s.metrics)
	for name, text := range assets {
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) { serveAsset(w, name, text) })
	}
	return s.guard(address, mux)
}

// guard lets nobody in who may not look.
func (s *Server) guard(address string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if p := recover(); p != nil && p != http.ErrAbortHandler {
				slog.Error("a page could not be made", "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
				http.Error(w, "this page cannot be made", http.StatusInternalServerError)
			}
		}()
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "this server only shows", http.StatusMethodNotAllowed)
		case !s.knows(r.Host, address):
			http.Error(w, "this server has another name", http.StatusMisdirectedRequest)
		case !s.fromHere(r):
			http.Error(w, "the request comes from another site", http.StatusForbidden)
		case !s.allowed(w, r):
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// knows tells whether a request names a host that this server has. A page of others
// whose name leads here does not.
func (s *Server) knows(host, address string) bool {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), map[bool]string{true: "443", false: "80"}[s.cert != nil]
	}
	listens, listensAt, err := net.SplitHostPort(address)
	if err != nil || port != listensAt {
		return false
	}
	if loopback(listens) {
		return loopback(name)
	}
	if name == listens {
		return true
	}
	return s.cert != nil && s.cert.Leaf != nil && s.cert.Leaf.VerifyHostname(name) == nil
}

// fromHere tells whether a request was caused by a page of ours, or by a person.
func (s *Server) fromHere(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" {
		scheme := "http"
		if s.cert != nil {
			scheme = "https"
		}
		return origin == scheme+"://"+r.Host
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return slices.Contains([]string{"", "same-origin", "none"}, site) || r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

const cookie = "agent-token"

// allowed tells whether a request has the token. With ?token=… a browser gets it as a
// cookie, and goes on without it in the address.
func (s *Server) allowed(w http.ResponseWriter, r *http.Request) bool {
	if s.o.Token == "" {
		return true
	}
	if given := r.URL.Query().Get("token"); given != "" && s.isToken(given) {
		http.SetCookie(w, &http.Cookie{Name: cookie, Value: s.o.Token, Path: "/", HttpOnly: true, Secure: s.cert != nil, SameSite: http.SameSiteStrictMode})
		http.Redirect(w, r, r.URL.Path, http.StatusSeeOther)
		return false
	}
	if c, err := r.Cookie(cookie); err == nil && s.isToken(c.Value) {
		return true
	}
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && s.isToken(bearer) {
		return true
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	http.Error(w, "a token is needed: open the address that ends in ?token=…", http.StatusUnauthorized)
	return false
}

func (s *Server) isToken(given string) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(s.o.Token)) == 1
}
