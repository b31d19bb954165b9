// Package gitlab is the adapter of [forge.Client] for gitlab.com and
// self-managed GitLabs, over their REST API, version 4.
//
// It holds no truth, only caches that can be read again: the token's account,
// for five minutes what a project is, which labels exist, whose login is whose,
// and answers that are
// used again only when the server says that they still hold.
//
// Invariants: nothing is retried, the library's retries and its rate limiter
// are off; writes are serialised and keep a distance from each other; labels
// change in one request that names only what is added and removed; the rest is
// that of package rest. Of Link headers nothing is used.
//
// Errors are as the port says. A write that ends with the context's own error
// may have been done, like one that is [forge.Ambiguous].
package gitlab

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"gitlab.com/gitlab-org/api/client-go/v2"

	"agent/forge"
	"agent/forge/rest"
	"agent/internal/lazyregexp"
)

const (
	pageSize   = 100       // the API's largest page
	maxComment = 1_000_000 // characters
	timeout    = 30 * time.Second
	cacheFor   = 5 * time.Minute
	apiPath    = "/api/v4"
)

// Config says where to go and as whom. The token's account is found by asking.
type Config struct {
	APIURL        string            // "https://gitlab.com/api/v4", "https://git.example.com/prefix/api/v4"
	Token         string            // secret: a personal, project or group access token
	Projects      []string          // "group/sub-group/project" or the numeric id
	Assignee      string            // if set, only tasks of this login
	WriteInterval time.Duration     // least time between the starts of two writes
	Timeout       time.Duration     // of one request; 0 is 30 seconds
	AllowHTTP     bool              // permits http to hosts that are not loopback
	Transport     http.RoundTripper // nil: one of our own, with the proxy of the environment
	Disk          *rest.Disk        // keeps answers and used-up limits for later processes; may be nil
}

// Client is one GitLab with one token. Its methods may be called from any goroutine.
type Client struct {
	cfg       Config
	web       string // "https://host/prefix"
	host      string // the same without its scheme
	api       *gitlab.Client
	transport http.RoundTripper
	answers   *rest.Conditional
	threads   *rest.Threads
	pace      rest.Pacer
	now       func() time.Time
	labels    rest.Labels // lower-case path, then the label's exact name: those that are known to exist

	mu       sync.Mutex
	me       *forge.Account
	projects map[string]cached     // by lower-case path or id
	groups   map[string]groupsList // by lower-case path
	seen     map[string]int64      // ids of authors by lower-case login
	bots     map[int64]bool        // whether an account is one, by id
	alone    time.Time             // until when projects are asked one by one

	turns turns
}

type cached struct {
	project *gitlab.Project
	at      time.Time
}

var (
	_ forge.Client  = (*Client)(nil)
	_ forge.InTurns = (*Client)(nil)
)

var loginPattern = lazyregexp.New(`^[\p{L}\p{N}_][\p{L}\p{N}_.-]*$`)

// New checks the configuration; it sends nothing.
func New(cfg Config) (*Client, error) {
	base, err := rest.CheckURL("gitlab", "https://gitlab.com/api/v4", cfg.APIURL, cfg.AllowHTTP)
	if err != nil {
		return nil, err
	}
	if err := cfg.check(); err != nil {
		return nil, err
	}
	base.Host = strings.ToLower(base.Host)
	prefix := strings.TrimSuffix(base.Path, apiPath)
	base.Path = prefix + apiPath
	cfg.Timeout = cmp.Or(cfg.Timeout, timeout)
	if cfg.Transport == nil {
		cfg.Transport = rest.NewTransport()
	}
	sign := func(h http.Header) { h.Set("Private-Token", cfg.Token) }
	guard := &rest.Guard{Next: cfg.Transport, Base: base, Sign: sign, Timeout: cfg.Timeout}
	limits := rest.NewLimits(guard, rest.LimitsConfig{Disk: cfg.Disk, Who: rest.Who(base, cfg.Token), Used: usedUp, Of: limitsOf})
	client, answers := guard.Client(), rest.NewConditional(limits, cfg.Disk)
	client.Transport = answers
	api, err := gitlab.NewAuthSourceClient(gitlab.Unauthenticated{}, // guard knows the token, the library need not
		gitlab.WithHTTPClient(client),
		gitlab.WithBaseURL(base.String()),
		gitlab.WithUserAgent("agent"),
		gitlab.WithoutRetries(),
		gitlab.WithCustomLimiter(unlimited{}),
	)
	if err != nil {
		return nil, fmt.Errorf("gitlab client: %w", err)
	}
	return &Client{
		cfg: cfg, web: base.Scheme + "://" + base.Host + prefix, host: base.Host + prefix,
		api: api, transport: cfg.Transport, answers: answers, threads: rest.NewThreads(cfg.Disk), now: time.Now, pace: rest.NewPacer(cfg.WriteInterval),
		projects: map[string]cached{}, groups: map[string]groupsList{}, seen: map[string]int64{}, bots: map[int64]bool{},
	}, nil
}

// unlimited stands for the library's rate limiter, which would hold requests back on its own.
type unlimited struct{}

func (unlimited) Wait(context.Context) error { return nil }

func (c Config) check() error {
	if c.Token == "" {
		return fmt.Errorf("gitlab: the token is empty")
	}
	if len(c.Projects) == 0 {
		return fmt.Errorf("gitlab: no projects are set")
	}
	for _, name := range c.Projects {
		if _, isID := projectID(name); !isID && !validProject(name) {
			return fmt.Errorf("gitlab: project %q is neither group/project nor a number", name)
		}
	}
	if c.Assignee != "" && !loginPattern.MatchString(c.Assignee) {
		return fmt.Errorf("gitlab: %q is not a login", c.Assignee)
	}
	return nil
}

func projectID(name string) (int64, bool) {
	id, err := strconv.ParseInt(name, 10, 64)
	return id, err == nil && id > 0 && strconv.FormatInt(id, 10) == name
}

// validProject accepts what can be a path with namespace, in any script.
func validProject(path string) bool {
	parts := strings.Split(path, "/")
	for _, p := range parts {
		if p == "" || p == "." || p == ".." || p == "-" || strings.ContainsAny(p, `\?#%`) || strings.ContainsFunc(p, outside) {
			return false
		}
	}
	return len(parts) >= 2
}

func outside(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || r == unicode.ReplacementChar
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

// check says whether the key belongs here.
func (c *Client) check(op string, key forge.TaskKey) error {
	known := key.Kind == forge.GitLabIssue || key.Kind == forge.GitLabMergeRequest
	if key.Host != c.host || !known || !validProject(key.Project) || key.Number <= 0 {
		return rest.Invalid(op, fmt.Sprintf("%s is not a task of %s", key, c.host))
	}
	return nil
}

// Me is the account the token belongs to. The answer is cached.
func (c *Client) Me(ctx context.Context) (forge.Account, error) {
	c.mu.Lock()
	known := c.me
	c.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	const op = "get the token's account"
	user, err := one(c, ctx, op, func(with gitlab.RequestOptionFunc) (*gitlab.User, *gitlab.Response, error) {
		return c.api.Users.CurrentUser(with)
	})
	if err != nil {
		return forge.Account{}, err
	}
	if user.ID <= 0 || user.Username == "" {
		return forge.Account{}, rest.Unreadable(op, rest.Reading)
	}
	me := account(user.ID, user.Username, user.Bot)
	c.mu.Lock()
	c.me = &me
	c.mu.Unlock()
	return me, nil
}

func account(id int64, login string, bot bool) forge.Account {
	if login == "" {
		return forge.Account{Login: "ghost"}
	}
	a := forge.Account{Login: login, Bot: bot || forge.GitLabIssue.IsMachine(login)}
	if id > 0 {
		a.ID = strconv.FormatInt(id, 10)
	}
	return a
}

// meet notes the id of an author.
func (c *Client) meet(id int64, login string) {
	if id > 0 && login != "" {
		c.mu.Lock()
		c.seen[strings.ToLower(login)] = id
		c.mu.Unlock()
	}
}
