package mcp

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"agent/internal/sandbox"
)

// freezeTime bounds the attempt to stop the processes of a server.
const freezeTime = 2 * time.Second

// Freeze stops every process of the servers that were started for a workspace,
// until thaw is called, so that its files can be read while nobody changes them.
// A server that cannot be stopped is killed, and started again by the next call.
// If it cannot be killed either the error says so, and the files must not be read.
//
// Servers that all workspaces share are stopped too, unless a sandbox keeps them
// out of this one.
func (p *Pool) Freeze(ctx context.Context, workspace string) (thaw func(), err error) {
	return p.FreezeOthers(ctx, workspace, "")
}

// FreezeOthers is Freeze without the server of that name. It is for after a call of the
// built-in one: what a call of it has started is gone when it returns, and it does nothing by itself.
func (p *Pool) FreezeOthers(ctx context.Context, workspace, server string) (thaw func(), err error) {
	p.mu.Lock()
	var slots []*slot
	for s := range p.sessions {
		if s.workspace == workspace {
			slots = append(slots, s.own...)
		}
	}
	p.mu.Unlock()
	for _, s := range p.shared {
		if s != nil && s.mayTouch(workspace) {
			slots = append(slots, s)
		}
	}
	var all []func()
	thaw = func() {
		for _, one := range all {
			one()
		}
	}
	for _, s := range slots {
		if server != "" && s.config.Name == server {
			continue
		}
		one, err := s.freeze(ctx)
		if err != nil {
			thaw()
			return nil, &Error{Kind: Died, Server: s.config.Name, Message: err.Error()}
		}
		all = append(all, one)
	}
	return thaw, nil
}

// mayTouch reports whether a server can change a workspace.
func (s *slot) mayTouch(workspace string) bool {
	p, boxed := s.config.policy(nil, s.options)
	if _, lack := p.Check(); !boxed || lack != nil {
		return true
	}
	return slices.ContainsFunc(p.Write, func(dir string) bool { return within(workspace, dir) || within(dir, workspace) })
}

// frozen counts those who want a server stopped. A server that is shared may be
// stopped for several workspaces at once, and goes on when the last is done.
type frozen struct {
	sync.Mutex
	by   int
	thaw func()
}

// freeze stops the processes of a server that runs.
func (s *slot) freeze(ctx context.Context) (thaw func(), err error) {
	s.frozen.Lock()
	defer s.frozen.Unlock()
	if s.frozen.by == 0 {
		if s.frozen.thaw, err = s.stopAll(ctx); err != nil {
			return nil, err
		}
	}
	s.frozen.by++
	return sync.OnceFunc(func() {
		s.frozen.Lock()
		defer s.frozen.Unlock()
		if s.frozen.by--; s.frozen.by == 0 {
			s.frozen.thaw()
		}
	}), nil
}

func (s *slot) stopAll(ctx context.Context) (thaw func(), err error) {
	c, err := s.running(ctx)
	if err != nil || c == nil || c.process == nil {
		return func() {}, err
	}
	thaw, err = sandbox.Freeze(c.process.cmd.Process.Pid, freezeTime)
	if err == nil {
		return thaw, nil
	}
	c.process.kill()
	if c.process.state().Signaled() {
		return nil, errors.New("its processes can be neither stopped nor killed")
	}
	return func() {}, nil
}

// running is the server's connection if there is one that may do something. It waits for a start that goes on, but
// not for that of the built-in server: as long as nobody has called it, it does nothing by itself.
func (s *slot) running(ctx context.Context) (*connection, error) {
	s.mu.Lock()
	starting := s.starting
	s.mu.Unlock()
	if starting != nil && s.config.builtIn() {
		return nil, nil
	}
	if starting != nil {
		select {
		case <-starting.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.config.builtIn() && s.current != nil && !s.current.called.Load() {
		return nil, nil
	}
	return s.current, nil
}
