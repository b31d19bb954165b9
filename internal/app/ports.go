package app

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"agent/contexts"
	"agent/contexts/history"
	"agent/eventlog/event"
	"agent/handlers/engine"
	"agent/internal/config"
	"agent/internal/export"
	"agent/internal/fsx"
	"agent/internal/notify"
	"agent/internal/workspace"
	"agent/llm"
	"agent/projections"
)

func (a *App) makePorts() error {
	key, err := a.Store.Key()
	if err != nil {
		return err
	}
	a.Ports = engine.Ports{
		Model: a.Model, Store: a.Store, Redact: a.Redact, Log: a.Log, MarkerKey: key, Version: a.options.Version,
		Tools: a.tools,
		Now:   now, Sleep: sleep, Jitter: rand.Float64, Cost: a.cost, PauseFile: a.PauseSignal, Inherit: a.history().Inherit,
	}
	a.sendSpans()
	a.notify()
	return nil
}

// notify tells people what becomes of tasks, if that is configured.
func (a *App) notify() {
	if len(a.Config.Notify) == 0 {
		return
	}
	n := notify.New(notify.Options{Store: a.Store, Notify: a.Config.Notify, Redact: a.Redact, Lang: a.Language(), Log: a.Log, Version: a.options.Version})
	a.closers = append(a.closers, n)
	before := a.Ports.OnEvent
	a.Ports.OnEvent = func(ev event.Event, s *projections.State) {
		n.Saw(ev, s)
		if before != nil {
			before(ev, s)
		}
	}
}

// sendSpans lets a collector see what happens in contexts, if one is configured.
func (a *App) sendSpans() {
	t := a.Config.Telemetry
	if t.OTLPEndpoint == "" {
		return
	}
	spans := export.NewSender(export.Source{Store: a.Store, Redact: a.Redact, Version: a.options.Version, Content: t.Content},
		export.Client{Endpoint: t.OTLPEndpoint, Headers: t.Headers}, a.Log)
	a.closers = append(a.closers, spans)
	a.Ports.OnEvent = func(ev event.Event, s *projections.State) {
		if s.Created != nil {
			spans.Saw(s.Created.UUID, ev)
		}
	}
}

// tools are those of the configured servers, and those that read earlier attempts at the task.
func (a *App) tools(now *projections.State) engine.Tools {
	dir := ""
	if now.Workspace != nil {
		dir = now.Workspace.Dir
	}
	return a.history().WithHistory(a.Pool.SessionWith(dir, a.openLocal(now)), now)
}

func (a *App) history() history.Reader {
	p := a.Config.ContextInheritance.Planning
	return history.Reader{Store: a.Store, Rules: history.Rules{Plans: p.InheritPlans, Verifications: p.InheritVerifications,
		Reflections: p.InheritReflections, Patterns: p.ReuseSuccessfulPatterns, MaxPlans: p.MaxPreviousPlans}}
}

// cost is the price of a call's tokens in USD, 0 for a model without a price.
func (a *App) cost(model string, u llm.Usage) float64 { return a.Config.LLM.Price(model).Of(u) }

// PauseSignal reports whether the pause signal for everything is set.
func (a *App) PauseSignal() bool { return PauseSignal(a.Config) }

// PauseSignal reports whether the file exists that pauses everything.
func PauseSignal(cfg *config.Config) bool {
	_, err := os.Lstat(cfg.PauseResume.SignalFile)
	return cfg.PauseResume.Enabled && err == nil
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

// PortsFor completes the ports with the forge that a task is on.
func (a *App) PortsFor(at Site) engine.Ports {
	p := a.Ports
	p.Forge = at.Client
	p.Workspace = a.workspace(at)
	p.Takes = at.Takes
	p.AdoptWait = time.Duration(at.Config.AdoptWaitSeconds) * time.Second
	p.DayLimits = contexts.DayLimits{MaxTokens: a.Config.Limits.MaxTokensPerDay, MaxCostUSD: a.Config.Limits.MaxCostUSDPerDay}
	p.TaskCheck = time.Duration(a.Config.TaskStop.MinCheckIntervalSeconds) * time.Second
	if at.Config.Near() {
		p.TaskCheck = min(p.TaskCheck, time.Second) // nobody counts these requests
	}
	if !a.Config.TaskStop.Enabled {
		p.TaskCheck = -1
	}
	return p
}

func (a *App) workspace(at Site) *workspace.Copy {
	return workspace.New(workspace.Config{Root: a.Config.WorkspacesDir, InPlace: at.Config.Workspace, Needed: a.NeedsCopies(),
		MaxBytes: int64(a.Config.MaxCloneMB) << 20, Depth: a.Config.CloneDepth, Tags: a.Config.CloneTags, AllowHTTP: a.Config.AllowHTTP,
		Allow:  func(url string) error { return AllowClone(at.Config, url) },
		Freeze: a.Pool.Freeze, FreezeOthers: a.Pool.FreezeOthers, Own: a.isOwn, Forge: at.Client, Token: at.Token, Earlier: a.earlier, ChangeRef: at.Config.Driver.ChangeRef, Bot: at.Config.BotName, Redact: a.Redact})
}

// isOwn reports whether a tool server is the built-in one.
func (a *App) isOwn(server string) bool {
	return slices.ContainsFunc(a.Config.MCPServers, func(m config.MCPServer) bool {
		return m.Name == server && BuiltIn(m)
	})
}

// BuiltIn reports whether a tool server is the built-in one for working copies.
func BuiltIn(m config.MCPServer) bool {
	return len(m.Command) > 2 && m.Command[1] == "mcp" && m.Command[2] == "workspace"
}

func (a *App) earlier(s *projections.State) workspace.Unfinished {
	return workspace.Unfinished(a.history().Unfinished(s))
}

// NeedsCopies reports whether a tool server works on the working copy of a task.
func (a *App) NeedsCopies() bool {
	return slices.ContainsFunc(a.Config.MCPServers, func(m config.MCPServer) bool { return workspace.Needs(m.Command, m.Env) })
}

// Room is contexts.ErrNoRoom if there is too little room to begin a task, for its
// log or for its working copy.
func (a *App) Room() error {
	if err := a.Store.Room(); err != nil || !a.NeedsCopies() {
		return err
	}
	fsys, err := fsx.OpenOS(a.Config.WorkspacesDir)
	if err != nil {
		return fmt.Errorf("free room: %w", err)
	}
	defer fsys.Close()
	return contexts.RoomOn(fsys)
}

// CloneBase clones the commit that the work of a context began on.
func (a *App) CloneBase(ctx context.Context, s *projections.State, dir string) error {
	at, ok := a.Site(s.Created.Forge)
	if !ok {
		return fmt.Errorf("%s is not configured", s.Created.Forge)
	}
	return a.workspace(at).CloneBase(ctx, s, dir)
}
