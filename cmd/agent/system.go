package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"agent/contexts"
	"agent/internal/app"
	"agent/internal/config"
	"agent/internal/i18n"
	"agent/internal/sanitize"
)

// loadConfig reads the configuration with the flags on top.
func (a *cli) loadConfig(opts ...config.Option) (*config.Config, error) {
	opts = append(opts, config.Override(func(c *config.Config) {
		if a.contexts != "" {
			c.ContextsDir = a.contexts
		}
	}))
	cfg, warnings, err := config.Load(a.config, a.getenv, opts...)
	for _, w := range warnings {
		fmt.Fprintln(a.err, "agent: warning: "+w.String())
	}
	if err == nil {
		a.hosts, a.lang = app.Hosts(cfg), app.Language(cfg)
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
	return a.openAs(cfg, readOnly)
}

// openAs opens the contexts to look, which makes nothing, or to work.
// A directory that was named on the command line must be there.
func (a *cli) openAs(cfg *config.Config, readOnly bool) (*contexts.Store, error) {
	if _, err := os.Lstat(cfg.ContextsDir); a.contexts != "" && errors.Is(err, fs.ErrNotExist) {
		return nil, &app.StoreError{Err: fmt.Errorf("contexts_dir: the directory %s, named by --contexts: %w", cfg.ContextsDir, fs.ErrNotExist)}
	}
	if readOnly {
		return app.OpenReadOnly(cfg, a.warning)
	}
	return app.OpenStore(cfg, a.warning)
}

func (a *cli) options() app.Options {
	return app.Options{Version: version(), ConfigPath: a.config, Stderr: a.err, Terminal: isTerminal(a.err)}
}

func (a *cli) text(id i18n.ID, args ...any) string { return i18n.Text(a.lang, id, args...) }

// warning prints one about a context or the configuration.
func (a *cli) warning(err error) {
	fmt.Fprintln(a.err, "agent: warning: "+sanitize.Terminal(err.Error()))
}
