// Package app wires the program together. It is the only place that constructs
// adapters from the configuration: clients of forges, the model provider, the
// pool of tool servers, and the store of contexts.
//
// [New] makes everything that working on tasks needs. Commands that only read
// open the store alone, with [OpenStore] or [OpenReadOnly].
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"agent/contexts"
	"agent/handlers/engine"
	"agent/internal/cluster"
	"agent/internal/config"
	"agent/internal/container"
	"agent/internal/logging"
	"agent/internal/redact"
	"agent/llm"
	"agent/mcp"
)

// App holds the adapters. Whoever makes one closes it.
type App struct {
	Config  *config.Config
	Store   *contexts.Store
	Cluster *cluster.Member // nil: this machine works alone
	Sites   []Site          // in the order of the configuration
	Model   llm.Provider
	Pool    *mcp.Pool
	Log     *slog.Logger
	Redact  *redact.Redactor
	Ports   engine.Ports // without those that depend on the task: forge, workspace, limits

	SystemPrompt    string // text of system_prompt_file, "" for the embedded one
	PlanningPrompts string // see event.Planning.Prompts, "" for the embedded ones

	CachesOf string // directory that the caches are for; "": the task's project
	lookedUp sync.Once
	found    string // programs that commands find
	images   *container.Images

	options  Options
	readOnly bool // nothing is written anywhere
	closers  []io.Closer
}

// Options say what the configuration does not.
type Options struct {
	Version    string
	ConfigPath string      // "" if no configuration file was named
	Stderr     io.Writer   // for warnings of the log
	Terminal   bool        // Stderr is a terminal
	Bus        cluster.Bus // of the cluster, instead of one to the configured servers; nil: that one
}

// New makes everything. Errors are those of the configuration (*[config.Error]),
// of the store (*[StoreError]), or of an adapter that cannot be made.
func New(cfg *config.Config, o Options) (*App, error) {
	a := &App{Config: cfg, Redact: redact.New(cfg.Secrets()), options: o}
	a.images = Images(cfg)
	if err := a.build(); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// NewReadOnly makes what a look at the forges and the contexts needs: adapters,
// but neither a log of the program nor ports.
func NewReadOnly(cfg *config.Config, store *contexts.Store, o Options) *App {
	return &App{Config: cfg, Store: store, Redact: redact.New(cfg.Secrets()), Log: slog.New(slog.DiscardHandler), options: o, readOnly: true,
		Ports: engine.Ports{Now: now}}
}

func (a *App) build() (err error) {
	lacks := make(chan error, 1)
	go func() { lacks <- a.checkSandboxes() }() // it tries one
	log, closer, err := logging.New(logging.Options{Dir: a.Config.Log.Dir, Level: a.Config.Log.Level, Stderr: a.options.Stderr,
		Terminal: a.options.Terminal, Debug: os.Getenv("DEBUG") != "", NoColor: os.Getenv("NO_COLOR") != "", Redactor: a.Redact})
	if err != nil {
		return err
	}
	a.Log, a.images.Log = log, log
	a.closers = append(a.closers, closer)
	if err = a.openStore(); err != nil {
		return err
	}
	if err = errors.Join(<-lacks, a.Connect()); err != nil {
		return err
	}
	if a.Config.SystemPromptFile != "" {
		if a.SystemPrompt, err = ReadPrompt(a.Config.SystemPromptFile); err != nil {
			return &PromptError{fmt.Errorf("system_prompt_file: %w", err)}
		}
	}
	if dir := a.Config.Planning.PromptsDir; dir != "" {
		if a.PlanningPrompts, err = ReadPrompts(dir); err != nil {
			return &PromptError{fmt.Errorf("planning.prompts_dir: %w", err)}
		}
	}
	return a.makePorts()
}

// openStore opens the contexts, as a worker of the cluster if there is one.
func (a *App) openStore() (err error) {
	warn := func(err error) { a.Log.Warn(err.Error()) }
	if !a.Config.Cluster.Shared() {
		a.Store, err = OpenStore(a.Config, warn)
		return err
	}
	var leave func() error
	if a.Store, a.Cluster, leave, err = joinStore(a.Config, a.options, a.Config.Workers, warn); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	var mirror sync.WaitGroup
	mirror.Go(func() { _ = a.Store.Mirror(ctx) })
	a.closers = append(a.closers, closer(func() {
		stop()
		mirror.Wait()
		if err := leave(); err != nil {
			a.Log.Warn("the cluster takes over when the lease has run out", "error", err)
		}
	}))
	return nil
}

// ProgramVersion is the version of this program.
func (a *App) ProgramVersion() string { return a.options.Version }

// Close closes tool servers and the log.
func (a *App) Close() {
	for i := len(a.closers) - 1; i >= 0; i-- {
		_ = a.closers[i].Close() // nothing durable hangs on it
	}
}
