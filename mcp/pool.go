package mcp

import (
	"context"
	"errors"
	"os"
	"sync"
)

// Options is what a Pool needs besides its servers. The zero value works.
type Options struct {
	Executable string                    // this binary: runs supervisors and replaces "agent" as first word of a command; default os.Executable
	Stderr     func(server, line string) // gets what servers write to standard error, and notes of ours; must not block
	Getenv     func(string) string       // default os.Getenv
	Version    string                    // ours, told to servers
	Secret     func(text string) bool    // reports whether a setting of a toolchain holds a secret; default: none does
	MaxResult  int                       // bytes of text handed back whole; default 8 MiB
	Deny       []string                  // trees that no sandbox lets read, wherever they lie: configuration, contexts
	Unnamed    []string                  // directories that a sandbox lets read only as far as sandbox_read or a command names what is in them
	Warn       func(server, text string) // is told what the sandbox of a server lacks here; default Stderr
}

func (o Options) withDefaults() Options {
	if o.Executable == "" {
		o.Executable, _ = os.Executable()
	}
	if o.Stderr == nil {
		o.Stderr = func(string, string) {}
	}
	if o.Warn == nil {
		o.Warn = o.Stderr
	}
	if o.Secret == nil {
		o.Secret = func(string) bool { return false }
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Version == "" {
		o.Version = "0"
	}
	if o.MaxResult <= 0 {
		o.MaxResult = 8 << 20
	}
	return o
}

// Pool holds the servers of one process. It is safe for concurrent use.
type Pool struct {
	options Options
	configs []ServerConfig
	shared  []*slot // by config; nil where a server is started per workspace

	mu       sync.Mutex
	closed   bool
	sessions map[*Session]struct{}
}

// NewPool makes a pool of servers, none of which is started yet.
func NewPool(configs []ServerConfig, o Options) *Pool {
	p := &Pool{options: o.withDefaults(), configs: configs, sessions: make(map[*Session]struct{})}
	names := make(map[string]bool)
	for _, c := range configs {
		var s *slot
		lack := p.lacksSandbox(c)
		switch {
		case names[c.Name]:
			s = brokenSlot(c, "another server has this name")
		case lack != nil:
			s = brokenSlot(c, "its sandbox is required, but "+lack.Error())
		case !c.perWorkspace():
			s = newSlot(c, p.options)
		}
		names[c.Name] = true
		p.shared = append(p.shared, s)
	}
	return p
}

// lacksSandbox says why a server cannot have the sandbox that it requires. For
// one that does not require it, it warns.
func (p *Pool) lacksSandbox(c ServerConfig) error {
	_, lack, _ := c.CheckSandbox()
	if lack != nil && c.Sandbox == "auto" {
		p.options.Warn(c.Name, "its sandbox is not complete: "+lack.Error())
		return nil
	}
	return lack
}

// Session is a view of the pool for the model in one context. Servers that mention
// {workspace} are started for this session only.
func (p *Pool) Session(workspace string) *Session {
	return p.open(&Session{pool: p, workspace: workspace})
}

// SessionWith is a Session whose servers with a sandbox have something beside the workspace. open is called
// before the first of them starts, and again if it failed.
func (p *Pool) SessionWith(workspace string, open func(context.Context) (Local, error)) *Session {
	var mu sync.Mutex
	var opened *Local
	return p.open(&Session{pool: p, workspace: workspace, local: func(ctx context.Context) (Local, error) {
		mu.Lock()
		defer mu.Unlock()
		if opened == nil {
			local, err := open(ctx)
			if err != nil {
				return local, err
			}
			opened = &local
		}
		return *opened, nil
	}})
}

// Agent is a view of the pool for the agent itself: each tool of the shared
// servers, whatever the model may use.
func (p *Pool) Agent() *Session { return p.open(&Session{pool: p, whole: true}) }

func (p *Pool) open(s *Session) *Session {
	for i, c := range p.configs {
		one := p.shared[i]
		if one == nil {
			one = newWorkspaceSlot(c, s, p.options)
			s.own = append(s.own, one)
		}
		s.servers = append(s.servers, one)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		closeSlots(s.own)
	}
	p.sessions[s] = struct{}{}
	return s
}

// Retry lets shared servers that failed too often be started again.
func (p *Pool) Retry() {
	for _, s := range p.shared {
		if s != nil {
			s.retry()
		}
	}
}

func newWorkspaceSlot(c ServerConfig, s *Session, o Options) *slot {
	if s.workspace == "" {
		return brokenSlot(c, "it needs a workspace and there is none")
	}
	c.opened = s.local
	return newSlot(c.in(s.workspace), o)
}

// Close ends all servers in parallel and everything they have started. It may
// be called twice; calls in flight end with Died.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	var all []*slot
	for s := range p.sessions {
		all = append(all, s.own...)
	}
	p.mu.Unlock()
	for _, s := range p.shared {
		if s != nil {
			all = append(all, s)
		}
	}
	closeSlots(all)
	return nil
}

func (p *Pool) forget(s *Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sessions, s)
}

func closeSlots(servers []*slot) {
	var all sync.WaitGroup
	for _, s := range servers {
		all.Go(s.close)
	}
	all.Wait()
}

var errClosed = errors.New("it is closed")
