// Package cli is what the commands share: the flags of all, where and how they print,
// exit codes, and the wiring of run and loop. Each command is a file of cmd/agent.
package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"agent/contexts"
	"agent/internal/app"
	"agent/internal/config"
	"agent/internal/i18n"
	"agent/internal/term"
)

// Env is what one command line works with.
type Env struct {
	ConfigPath  string // --config
	ContextsDir string // --contexts
	JSON        bool   // --json, of the commands that have it
	Getenv      func(string) string
	Out, Err    io.Writer

	// Known once the configuration is loaded.
	SignalFile string    // the pause signal, if it is set
	Hosts      []string  // of the configured forges
	Lang       i18n.Lang // of what is printed
}

// Flags defines the flags of all commands.
func (e *Env) Flags(flags *pflag.FlagSet) {
	flags.StringVar(&e.ConfigPath, "config", "", "configuration file (default $CONFIG_FILE, then ~/.config/agent/config.yaml)")
	flags.StringVar(&e.ContextsDir, "contexts", "", "directory of the contexts (default: contexts_dir of the configuration)")
}

// JSONFlag gives a command --json.
func (e *Env) JSONFlag(cmd *cobra.Command, usage string) {
	cmd.Flags().BoolVar(&e.JSON, "json", false, usage)
}

// LoadConfig reads the configuration with the flags on top.
func (e *Env) LoadConfig(opts ...config.Option) (*config.Config, error) {
	opts = append(opts, config.Override(func(c *config.Config) {
		if e.ContextsDir != "" {
			c.ContextsDir = e.ContextsDir
			c.Cluster.NATS.URLs = nil // of another directory the cluster knows nothing
		}
	}))
	cfg, warnings, err := config.Load(e.ConfigPath, e.Getenv, opts...)
	for _, w := range warnings {
		e.Problem("warning: " + w.String())
	}
	if err == nil {
		e.Hosts, e.Lang = app.Hosts(cfg), app.Language(cfg)
		if app.PauseSignal(cfg) {
			e.SignalFile = cfg.PauseResume.SignalFile
		}
	}
	return cfg, err
}

// OpenStore opens the contexts for commands that only look (readOnly) or also write.
func (e *Env) OpenStore(readOnly bool) (*contexts.Store, error) {
	cfg, err := e.LoadConfig(config.Offline())
	if err != nil {
		return nil, err
	}
	return e.OpenAs(cfg, readOnly)
}

// OpenAs opens the contexts to look, which makes nothing, or to work.
// A directory that was named on the command line must be there.
func (e *Env) OpenAs(cfg *config.Config, readOnly bool) (*contexts.Store, error) {
	if _, err := os.Lstat(cfg.ContextsDir); e.ContextsDir != "" && errors.Is(err, fs.ErrNotExist) {
		return nil, &app.StoreError{Err: fmt.Errorf("contexts_dir: the directory %s, named by --contexts: %w", cfg.ContextsDir, fs.ErrNotExist)}
	}
	if readOnly {
		return app.OpenReadOnly(cfg, e.Warning)
	}
	return app.OpenStore(cfg, e.Warning)
}

// Options are those of the application.
func (e *Env) Options() app.Options {
	return app.Options{Version: Version(), ConfigPath: e.ConfigPath, Stderr: e.Err, Terminal: term.Of(e.Err).Terminal}
}
