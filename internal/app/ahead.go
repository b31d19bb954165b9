package app

import (
	"context"
	"os"
	"slices"
	"time"

	"agent/eventlog/event"
	"agent/handlers/engine"
	"agent/handlers/policy"
	"agent/internal/caches"
	"agent/internal/config"
	"agent/internal/workspace"
	"agent/mcp"
	"agent/projections"
)

// Ahead are the tool servers of a context that may be begun. They start in the place of its working copy, which is
// empty: the built-in server looks at nothing before it is called.
type Ahead struct {
	*mcp.Session // nil: once it was taken

	a     *App
	state *projections.State
	place os.FileInfo // the directory that they began in
}

// OpenAhead starts the servers of a context whose working copy is going to be in dir. It is nil where one of them
// needs the files, or an image that they may name, when it starts.
func (a *App) OpenAhead(s *projections.State, dir string) *Ahead {
	others := func(m config.MCPServer) bool { return workspace.Needs(m.Command, m.Env) && !BuiltIn(m) }
	place, err := os.Stat(dir)
	if err != nil || a.Config.Sandbox.Container.Used() || slices.ContainsFunc(a.Config.MCPServers, others) {
		return nil
	}
	s.Apply(event.Event{Seq: s.Seq + 1, Body: &event.WorkspacePrepared{Dir: dir}})
	h := &Ahead{Session: a.Pool.SessionWith(dir, a.openLocal(s)), a: a, state: s, place: place}
	h.WarmUp()
	return h
}

// Tools are those of the servers that were started, if the working copy is in the directory that they began in.
// Later, and where it is another one, they are those of new servers.
func (h *Ahead) Tools(now *projections.State) engine.Tools {
	session := h.Session
	h.Session = nil
	switch {
	case session == nil:
		return h.a.tools(now)
	case !h.at(now.Workspace):
		_ = session.Close() // nothing was done with them
		return h.a.tools(now)
	}
	h.a.noteSums(now)
	return h.a.history().WithHistory(session, now)
}

func (h *Ahead) at(w *event.WorkspacePrepared) bool {
	if w == nil {
		return false
	}
	dir, err := os.Stat(w.Dir)
	return err == nil && os.SameFile(dir, h.place)
}

// Drop ends the servers, if they were not taken. No tool has run, so of their caches nothing is kept.
func (h *Ahead) Drop() {
	if h.Session == nil {
		return
	}
	_ = h.Close() // nothing was done with them
	ctx, cancel := context.WithTimeout(context.Background(), cachesTime)
	defer cancel()
	h.a.CloseCaches(ctx, h.state, policy.KeepNothing)
}

// cachesTime bounds the wait for another process that closes the caches of the same repository.
const cachesTime = 5 * time.Second

// noteSums is for caches that were opened before the working copy was there.
func (a *App) noteSums(s *projections.State) {
	if a.Config.MaxCacheMB == 0 || !untouched(s) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), cachesTime)
	defer cancel()
	if err := Caches(a.Config).NoteSums(ctx, a.repositoryOf(s), s.Created.UUID, caches.ReadSums(s.Workspace.Dir)); err != nil {
		a.Log.Warn("less is kept of the caches", "error", err)
	}
}
