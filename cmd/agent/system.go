package main

import (
	"fmt"
	"os"
	"sync"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/handlers/engine"
	"agent/internal/app"
	"agent/internal/config"
	"agent/internal/workspace"
	"agent/projections"
)

// system is the wired program, with what rounds add to it.
type system struct {
	*app.App
	swept sync.Once // old working copies
}

// loadConfig reads the configuration with the flags on top.
func (a *cli) loadConfig(opts ...config.Option) (*config.Config, error) {
	opts = append(opts, config.Override(func(c *config.Config) {
		if a.contexts != "" {
			c.ContextsDir = a.contexts
		}
	}))
	cfg, warnings, err := config.Load(a.config, os.Getenv, opts...)
	for _, w := range warnings {
		fmt.Fprintln(a.err, "agent: warning: "+w.String())
	}
	if err == nil {
		a.hosts = app.Hosts(cfg)
		if app.PauseSignal(cfg) {
			a.signalFile = cfg.PauseResume.SignalFile
		}
	}
	return cfg, err
}

// openStore opens the contexts for commands that only look (readOnly) or also write.
func (a *cli) openStore(readOnly bool) (*contexts.Store, error) {
	cfg, err := a.loadConfig(config.Offline())
	if err != nil {
		return nil, err
	}
	return openAs(cfg, readOnly, func(err error) { fmt.Fprintln(a.err, "agent: warning: "+err.Error()) })
}

// openAs opens the contexts to look, which makes nothing, or to work.
func openAs(cfg *config.Config, readOnly bool, warn func(error)) (*contexts.Store, error) {
	if readOnly {
		return app.OpenReadOnly(cfg, warn)
	}
	return app.OpenStore(cfg, warn)
}

func (a *cli) options() app.Options {
	return app.Options{Version: version(), ConfigPath: a.config, Stderr: a.err, Terminal: isTerminal(a.err)}
}

// assemble makes the whole program. Whoever gets it closes it.
func (a *cli) assemble() (*system, error) {
	cfg, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	s, err := app.New(cfg, a.options())
	if err != nil {
		return nil, err
	}
	return &system{App: s}, nil
}

// portsFor are the ports for one task.
func (s *system) portsFor(at app.Site, task string) engine.Ports {
	p := s.PortsFor(at)
	p.OnEvent = func(ev event.Event) { s.logEvent(task, ev) }
	return p
}

// discard removes the working copy of a context whose work was published.
func (s *system) discard(state *projections.State) {
	if err := workspace.Discard(s.Config.WorkspacesDir, state); err != nil {
		s.Log.Warn("working copy could not be removed", "error", err)
	}
}

// sweep discards what a process left that was killed after the end of a
// context. Only logs of contexts that are done are read for it.
func (s *system) sweep() {
	left, err := os.ReadDir(s.Config.WorkspacesDir)
	if err != nil {
		return // none was made yet
	}
	for _, dir := range left {
		if place, err := s.Store.Place(dir.Name()); err != nil || place != contexts.Completed {
			continue
		}
		state, err := engine.ReadState(s.Store, dir.Name())
		if err == nil && state.Created != nil {
			s.discard(state)
		}
	}
}
