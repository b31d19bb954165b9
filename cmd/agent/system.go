package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/handlers/engine"
	"agent/internal/app"
	"agent/internal/config"
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

// portsFor completes the ports with the forge that a task lives on.
func (s *system) portsFor(at app.Site, task string) engine.Ports {
	p := s.Ports
	p.Forge = at.Client
	p.Workspace = &workingCopy{system: s, site: at}
	p.OnEvent = func(ev event.Event) { s.logEvent(task, ev) }
	p.AdoptWait = time.Duration(at.Config.AdoptWaitSeconds) * time.Second
	p.DayLimits = contexts.DayLimits{MaxTokens: s.Config.Limits.MaxTokensPerDay, MaxCostUSD: s.Config.Limits.MaxCostUSDPerDay}
	p.TaskCheck = time.Duration(s.Config.TaskStop.MinCheckIntervalSeconds) * time.Second
	if config.Loopback(at.Config.APIURL) {
		p.TaskCheck = min(p.TaskCheck, time.Second) // nobody counts these requests
	}
	if !s.Config.TaskStop.Enabled {
		p.TaskCheck = -1
	}
	return p
}
