// Package github is the adapter of [forge.Client] for github.com and GitHub
// Enterprise Server, over its REST API.
//
// It holds no truth, only caches that can be read again: the token's account,
// for five minutes what a repository is, which labels exist, an App's token
// until shortly before its end, answers of which is asked each time whether
// they changed, long threads, and rate limits that are used up.
//
// Invariants: nothing is retried; writes are serialised and keep a distance
// from each other; the token goes to the configured host only, and no request
// at all goes elsewhere; redirects are followed for reads, on the same host;
// of Link headers only the page number is used.
//
// Errors are as the port says. A write that ends with the context's own error
// may have been done, like one that is [forge.Ambiguous].
package github

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/google/go-github/v89/github"

	"agent/forge"
	"agent/forge/rest"
	"agent/internal/lazyregexp"
)

const (
	pageSize   = 100   // the API's largest page
	maxComment = 65536 // characters, by the API's own message
	timeout    = 30 * time.Second
	cacheFor   = 5 * time.Minute
	userAgent  = "agent"
)

// Config says where to go and as whom. The token's account is found by asking.
type Config struct {
	APIURL        string            // "https://api.github.com", "https://git.example.com/api/v3"
	Token         string            // secret; empty if App is set
	App           *App              // whose installation's tokens are used; nil if Token is set
	Owner         string            // whose repositories are searched for tasks if Repositories is empty
	Repositories  []string          // "owner/repo"
	Assignee      string            // if set, only tasks of this login
	BotName       string            // login of the token's account, for tokens that may not ask who they are; an App may
	WriteInterval time.Duration     // least time between the starts of two writes
	Timeout       time.Duration     // of one request; 0 is 30 seconds
	AllowHTTP     bool              // permits http to hosts that are not loopback
	Transport     http.RoundTripper // nil: one of our own, with the proxy of the environment
	Disk          *rest.Disk        // keeps answers and used-up limits for later processes; may be nil
}

// Client is one GitHub with one token. Its methods may be called from any goroutine.
type Client struct {
	cfg       Config
	host      string
	api       *github.Client
	transport http.RoundTripper
	tokens    source
	answers   *rest.Conditional
	threads   *rest.Threads
	pace      rest.Pacer
	now       func() time.Time
	labels    rest.Labels // lower-case owner/repo/label that are known to exist

	mu    sync.Mutex
	me    *forge.Account
	repos map[string]cached // by lower-case owner/repo

	owners map[string]ownersList // by lower-case login
}

type cached struct {
	repo *github.Repository
	at   time.Time
}

var _ forge.Client = (*Client)(nil)

// Names that may go into a URL or a search. GitHub allows no others.
var (
	loginPattern   = lazyregexp.New(`^[A-Za-z0-9_-]+(\[bot\])?$`)
	projectPattern = lazyregexp.New(`^[A-Za-z0-9_-]+/[A-Za-z0-9._-]+$`)
)

// New checks the configuration; it sends nothing.
func New(cfg Config) (*Client, error) {
	base, err := rest.CheckURL("github", "https://api.github.com", cfg.APIURL, cfg.AllowHTTP)
	if err != nil {
		return nil, err
	}
	if err := cfg.check(); err != nil {
		return nil, err
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, timeout)
	if cfg.Transport == nil {
		cfg.Transport = rest.NewTransport()
	}
	guard := &rest.Guard{Next: cfg.Transport, Base: base, Sign: unsigned, Timeout: cfg.Timeout}
	tokens, err := cfg.tokens(base, guard)
	if err != nil {
		return nil, err
	}
	client := guard.Client()
	limits := rest.NewLimits(&signed{next: guard, base: base, tokens: tokens},
		rest.LimitsConfig{Disk: cfg.Disk, Who: cfg.who(base), Used: usedUp, Of: limitsOf})
	answers := rest.NewConditional(limits, cfg.Disk)
	client.Transport = answers
	root := base.String() + "/"
	api, err := github.NewClient(
		github.WithHTTPClient(client),
		github.WithURLs(&root, &root),
		github.WithUserAgent(userAgent),
		github.WithDisableRateLimitCheck(), // it would refuse calls by itself for up to an hour
	)
	if err != nil {
		return nil, fmt.Errorf("github client: %w", err)
	}
	return &Client{
		cfg: cfg, host: keyHost(base.String()), api: api, transport: cfg.Transport, tokens: tokens, answers: answers, threads: rest.NewThreads(cfg.Disk), now: time.Now,
		pace:  rest.NewPacer(cfg.WriteInterval),
		repos: map[string]cached{}, owners: map[string]ownersList{},
	}, nil
}

func (c Config) check() error {
	if c.Token == "" && c.App == nil {
		return fmt.Errorf("github: the token is empty")
	}
	if c.Token != "" && c.App != nil {
		return fmt.Errorf("github: a token and an app are set: one of them is enough")
	}
	for _, name := range c.Repositories {
		if !validProject(name) {
			return fmt.Errorf("github: repository %q is not owner/repo", name)
		}
	}
	if len(c.Repositories) == 0 && c.Owner == "" {
		return fmt.Errorf("github: neither owner nor repositories are set")
	}
	for _, login := range []string{c.Owner, c.Assignee, c.BotName} {
		if login != "" && !loginPattern.MatchString(login) {
			return fmt.Errorf("github: %q is not a login", login)
		}
	}
	return nil
}

func (c Config) tokens(base *url.URL, guard http.RoundTripper) (source, error) {
	if c.App == nil {
		return fixed(c.Token), nil
	}
	return newInstallation(*c.App, base, guard)
}

func validProject(name string) bool {
	return projectPattern.MatchString(name) && !strings.HasSuffix(name, "/.") && !strings.HasSuffix(name, "/..")
}

// Host is the host of the client's task keys.
func (c *Client) Host() string { return c.host }

// Close ends idle connections. The client can still be used.
func (c *Client) Close() {
	if t, ok := c.transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// MaxComment is the longest comment body in characters.
func (c *Client) MaxComment() int { return maxComment }

// project checks that the key belongs here and returns its two names.
func (c *Client) project(op string, key forge.TaskKey) (owner, repo string, err error) {
	if key.Host != c.host || !key.IsGitHub() || !validProject(key.Project) {
		return "", "", invalid(op, fmt.Sprintf("%s is not a task of %s", key, c.host))
	}
	return key.Owner(), key.Repo(), nil
}
