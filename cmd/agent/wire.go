package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"agent/contexts"
	"agent/contexts/history"
	"agent/eventlog/event"
	"agent/forge"
	"agent/forge/github"
	"agent/forge/gitlab"
	"agent/handlers/engine"
	"agent/internal/config"
	"agent/internal/fsx"
	"agent/internal/logging"
	"agent/internal/redact"
	"agent/llm"
	"agent/mcp"
	"agent/projections"
)

// site is one configured forge.
type site struct {
	config config.Forge
	client forge.Client
	host   string                                // of its task keys
	token  func(context.Context) (string, error) // for git
}

// system is everything that a command which works on tasks needs. It is the
// only place where adapters are made.
type system struct {
	config  *config.Config
	store   *contexts.Store
	sites   []site
	model   llm.Provider
	pool    *mcp.Pool
	log     *slog.Logger
	redact  *redact.Redactor
	ports   engine.Ports // without the forge, which depends on the task
	prompt  string       // text of system_prompt_file
	prompts string       // that replace embedded ones of the planning mode, see event.Planning

	swept   sync.Once // old working copies
	closers []io.Closer
}

// loadConfig reads the configuration with the flags on top.
func (a *app) loadConfig(opts ...config.Option) (*config.Config, error) {
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
		a.hosts = hostNames(cfg)
		if signalStands(cfg) {
			a.signalFile = cfg.PauseResume.SignalFile
		}
	}
	return cfg, err
}

// openStore opens the contexts for commands that only look (readOnly) or also write.
func (a *app) openStore(readOnly bool) (*contexts.Store, error) {
	cfg, err := a.loadConfig(config.Offline())
	if err != nil {
		return nil, err
	}
	return openAs(cfg, readOnly, func(err error) { fmt.Fprintln(a.err, "agent: warning: "+err.Error()) })
}

// openAs opens the contexts to look, which makes nothing, or to work.
func openAs(cfg *config.Config, readOnly bool, warn func(error)) (*contexts.Store, error) {
	if readOnly {
		return openLook(cfg, warn)
	}
	return openStore(cfg, false, warn)
}

func openStore(cfg *config.Config, readOnly bool, warn func(error)) (*contexts.Store, error) {
	fsys, err := fsx.OpenOS(cfg.ContextsDir)
	if err != nil {
		return nil, &placeError{fmt.Errorf("contexts_dir: %w", err)}
	}
	return contexts.Open(fsys, contexts.Options{Now: time.Now, Warn: warn, Dir: cfg.ContextsDir, ReadOnly: readOnly})
}

// assemble makes the whole system. Whoever gets it closes it.
func (a *app) assemble() (*system, error) {
	cfg, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	s := &system{config: cfg, redact: redact.New(cfg.Secrets())}
	if err := s.build(a); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *system) build(a *app) (err error) {
	log, closer, err := logging.New(logging.Options{Dir: s.config.Log.Dir, Level: s.config.Log.Level, Stderr: a.err,
		Terminal: isTerminal(a.err), Debug: os.Getenv("DEBUG") != "", Redactor: s.redact})
	if err != nil {
		return err
	}
	s.log = log
	s.closers = append(s.closers, closer)
	if s.store, err = openStore(s.config, false, func(err error) { log.Warn(err.Error()) }); err != nil {
		return err
	}
	if err = s.connect(a); err != nil {
		return err
	}
	if s.config.SystemPromptFile != "" {
		if s.prompt, err = readPrompt(s.config.SystemPromptFile); err != nil {
			return codeError{config.ExitCode, fmt.Errorf("system_prompt_file: %w", err)}
		}
	}
	if dir := s.config.Planning.PromptsDir; dir != "" {
		if s.prompts, err = readPrompts(dir); err != nil {
			return codeError{config.ExitCode, fmt.Errorf("planning.prompts_dir: %w", err)}
		}
	}
	return s.makePorts()
}

// largestPrompt is how many bytes a system prompt may have.
const largestPrompt = 128 << 10

func readPrompt(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > largestPrompt {
		return "", fmt.Errorf("%s must be a file of at most %d bytes", path, largestPrompt)
	}
	text, err := os.ReadFile(path)
	return string(text), err
}

func (s *system) connect(a *app) error {
	s.pool = mcp.NewPool(serverConfigs(s.config.MCPServers), mcp.Options{Version: version(), MaxResult: maxResult,
		Stderr: func(server, line string) { s.log.Debug(line, "server", server) },
		Warn:   func(server, text string) { s.log.Warn(text, "server", server) },
		Deny:   s.denied(a)})
	s.closers = append(s.closers, s.pool)
	for _, f := range s.config.Forges() {
		at, err := s.newSite(f)
		if err != nil {
			return err
		}
		if at, err = s.throughServer(at); err != nil {
			return err
		}
		s.sites = append(s.sites, at)
	}
	model, err := newModel(s.config)
	if err != nil {
		return err
	}
	s.model = model
	return nil
}

// denied are the trees that no tool may read, wherever they lie.
func (s *system) denied(a *app) []string {
	all := []string{s.config.ContextsDir, s.config.WorkspacesDir, s.config.Log.Dir}
	if path, exists := config.Path(a.config, os.Getenv); exists {
		if path, err := filepath.Abs(path); err == nil {
			all = append(all, path)
		}
	}
	return all
}

// maxResult bounds the result of a tool, in bytes. It fits into one message of a server.
const maxResult = 12 << 20

func (s *system) newSite(f config.Forge) (site, error) {
	interval := time.Duration(f.WriteIntervalMS) * time.Millisecond
	if f.Kind == "gitlab" {
		client, err := gitlab.New(gitlab.Config{APIURL: f.APIURL, Token: f.Token, Projects: f.Projects,
			Assignee: f.Assignee, AllowHTTP: s.config.AllowHTTP, WriteInterval: interval})
		if err != nil {
			return site{}, err
		}
		return site{f, client, client.Host(), func(context.Context) (string, error) { return f.Token, nil }}, nil
	}
	var app *github.App
	if f.App.ID != 0 {
		app = &github.App{ID: int64(f.App.ID), KeyFile: f.App.KeyFile, InstallationID: int64(f.App.InstallationID)}
	}
	client, err := github.New(github.Config{APIURL: f.APIURL, Token: f.Token, App: app, Owner: f.Owner, Repositories: f.Repositories,
		Assignee: f.Assignee, BotName: f.BotName, AllowHTTP: s.config.AllowHTTP, WriteInterval: interval})
	if err != nil {
		return site{}, err
	}
	return site{f, client, client.Host(), client.Token}, nil
}

func serverConfigs(servers []config.MCPServer) []mcp.ServerConfig {
	var out []mcp.ServerConfig
	for _, m := range servers {
		out = append(out, serverConfig(m))
	}
	return out
}

func serverConfig(m config.MCPServer) mcp.ServerConfig {
	return mcp.ServerConfig{Name: m.Name, Command: m.Command, Env: m.Env, SystemPrompt: m.SystemPrompt,
		Allow: m.Allow, Timeout: time.Duration(m.TimeoutSeconds) * time.Second, URL: m.URL, Headers: m.Headers,
		Sandbox: m.Sandbox, Network: m.Network, Write: m.SandboxWrite, Read: m.SandboxRead}
}

func (s *system) makePorts() error {
	key, err := s.store.Key()
	if err != nil {
		return err
	}
	s.ports = engine.Ports{
		Model: s.model, Store: s.store, Redact: s.redact, Log: s.log, MarkerKey: key, Version: version(),
		Tools: s.tools,
		Now:   time.Now, Sleep: sleep, Jitter: rand.Float64, Cost: s.cost, PauseFile: s.pauseFile, Inherit: s.history().Inherit,
	}
	return nil
}

// tools are those of the configured servers, and those that look into earlier goes at the task.
func (s *system) tools(now *projections.State) engine.Tools {
	dir := ""
	if now.Place != nil {
		dir = now.Place.Dir
	}
	return s.history().Beside(s.pool.Session(dir), now)
}

func (s *system) history() history.Reader {
	p := s.config.ContextInheritance.Planning
	return history.Reader{Store: s.store, Rules: history.Rules{Plans: p.InheritPlans, Verifications: p.InheritVerifications,
		Reflections: p.InheritReflections, Patterns: p.ReuseSuccessfulPatterns, MaxPlans: p.MaxPreviousPlans}}
}

// portsFor completes the ports with the forge that a task lives on.
func (s *system) portsFor(at site, task string) engine.Ports {
	p := s.ports
	p.Forge = at.client
	p.Workspace = &workingCopy{system: s, site: at}
	p.OnEvent = func(ev event.Event) { s.logEvent(task, ev) }
	p.AdoptWait = time.Duration(at.config.AdoptWaitSeconds) * time.Second
	p.DayLimits = contexts.DayLimits{MaxTokens: s.config.Limits.MaxTokensPerDay, MaxCostUSD: s.config.Limits.MaxCostUSDPerDay}
	p.TaskCheck = time.Duration(s.config.TaskStop.MinCheckIntervalSeconds) * time.Second
	if config.Loopback(at.config.APIURL) {
		p.TaskCheck = min(p.TaskCheck, time.Second) // nobody counts these requests
	}
	if !s.config.TaskStop.Enabled {
		p.TaskCheck = -1
	}
	return p
}

func (s *system) siteOf(host string) (site, bool) {
	for _, at := range s.sites {
		if at.host == host {
			return at, true
		}
	}
	return site{}, false
}

func (s *system) hosts() []string {
	var hosts []string
	for _, at := range s.sites {
		hosts = append(hosts, at.host)
	}
	return hosts
}

func (s *system) cost(model string, u llm.Usage) float64 {
	price := s.config.LLM.Prices[model]
	const million = 1e6
	fresh := float64(u.Prompt - u.Cached)
	return (fresh*price.Input + float64(u.Cached)*price.Cached + float64(u.Completion)*price.Output) / million
}

func (s *system) pauseFile() bool {
	if !s.config.PauseResume.Enabled {
		return false
	}
	_, err := os.Lstat(s.config.PauseResume.SignalFile)
	return err == nil
}

func (s *system) close() {
	for i := len(s.closers) - 1; i >= 0; i-- {
		_ = s.closers[i].Close() // nothing durable hangs on it
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
