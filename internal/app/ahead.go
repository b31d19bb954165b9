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
	place *os.File // the directory that they began in, open so that no other one gets its number
}

// OpenAhead starts the servers of a context whose working copy is going to be in dir. It is nil where one of them
// needs the files, or an image that they may name, when it starts.
func (a *App) OpenAhead(s *projections.State, dir string) *Ahead {
	others := func(m config.MCPServer) bool { return workspace.Needs(m.Command, m.Env) && !BuiltIn(m) }
	if a.Config.Sandbox.Container.Used() || slices.ContainsFunc(a.Config.MCPServers, others) {
		return nil
	}
	place, err := os.Open(dir)
	if err != nil {
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
	if session == nil {
		return h.a.tools(now)
	}
	h.Session = nil
	defer h.place.Close()
	if !h.at(now.Workspace) {
		_ = session.Close() // nothing was done with them
		return h.a.tools(now)
	}
	return h.a.history().WithHistory(h.a.noteSums(session, now), now)
}

func (h *Ahead) at(w *event.WorkspacePrepared) bool {
	if w == nil {
		return false
	}
	began, err := h.place.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(w.Dir)
	return err == nil && os.SameFile(began, now)
}

// Drop ends the servers, if they were not taken. No tool has run, so of their caches nothing is kept.
func (h *Ahead) Drop() {
	if h.Session == nil {
		return
	}
	defer h.place.Close()
	_ = h.Close() // nothing was done with them
	ctx, cancel := context.WithTimeout(context.Background(), cachesTime)
	defer cancel()
	h.a.CloseCaches(ctx, h.state, policy.KeepNothing)
}

// cachesTime bounds the wait for another process that closes the caches of the same repository.
const cachesTime = 5 * time.Second

// taken is a session that was opened before the working copy was there. What its caches have to know of that
// is noted meanwhile.
type taken struct {
	*mcp.Session
	noted  chan struct{}
	cancel context.CancelFunc
}

// noteSums reads the sums of the repository before anybody can change them. They are noted when the servers have
// started, which have opened the caches, and other contexts may hold their lock for long.
func (a *App) noteSums(session *mcp.Session, s *projections.State) engine.Tools {
	if a.Config.MaxCacheMB == 0 || !untouched(s) {
		return session
	}
	repository, uuid, sums := a.repositoryOf(s), s.Created.UUID, caches.ReadSums(s.Workspace.Dir)
	ctx, cancel := context.WithCancel(context.Background())
	t := &taken{session, make(chan struct{}), cancel}
	go func() {
		defer close(t.noted)
		session.Start(ctx)
		if err := Caches(a.Config).NoteSums(ctx, repository, uuid, sums); err != nil {
			a.Log.Warn("less is kept of the caches", "error", err)
		}
	}()
	return t
}

// Close waits a moment for what is noted: the caches are closed next.
func (t *taken) Close() error {
	late := time.AfterFunc(cachesTime, t.cancel)
	<-t.noted
	late.Stop()
	t.cancel()
	return t.Session.Close()
}
