package rounds

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"agent/internal/app"
	"agent/internal/config"
	"agent/internal/git"
	"agent/internal/scratch"
	"agent/internal/workspace"
	"agent/llm"
	"agent/mcp"
)

// listingTime bounds the question which models there are. It decides nothing if
// it is not answered in time.
const listingTime = 10 * time.Second

// ready checks the machine once a look, before its first task is touched: with the servers
// that were started for the task, nil for none. The error is a *Fault.
func (r *round) ready(ctx context.Context, tools *app.Ahead) error {
	r.mu.Lock()
	once := r.checked
	r.mu.Unlock()
	once.Do(func() {
		f := r.preflight(ctx, tools)
		r.mu.Lock()
		r.sound = f == nil && ctx.Err() == nil
		r.mu.Unlock()
		if f != nil && ctx.Err() == nil {
			r.halt(f)
		}
	})
	if f := r.halted(); f != nil {
		return f
	}
	return ctx.Err()
}

// preflight looks for a fault of the machine. What cannot be found out is none.
func (r *round) preflight(ctx context.Context, tools *app.Ahead) *Fault {
	if r.clones() {
		if err := workspace.MakeRoot(r.Config.WorkspacesDir); err != nil {
			return &Fault{"workspaces_dir", r.text("fault.workspaces", err), r.text("fault.todo.workspaces"), false}
		}
	}
	if err := r.Room(); err != nil {
		return r.faultOf(err)
	}
	go r.FindPrograms(ctx) // the first task waits for what is missing of that
	ofGit, ofModel := make(chan *Fault, 1), make(chan *Fault, 1)
	go func() { ofGit <- r.checkGit(ctx) }() // each takes a while
	go func() { ofModel <- r.checkModel(ctx) }()
	ofServers := r.checkServers(ctx, tools)
	return cmp.Or(<-ofGit, <-ofModel, ofServers)
}

// checkGit wants a git that can do what clones need, where there are any.
func (r *round) checkGit(ctx context.Context) *Fault {
	if !r.clones() {
		return nil
	}
	if _, err := git.Version(ctx); err != nil {
		return r.noGit(err)
	}
	return nil
}

// clones reports whether tasks are worked on in clones.
func (r *round) clones() bool {
	return r.NeedsCopies() && slices.ContainsFunc(r.Sites, func(at app.Site) bool { return at.Config.Workspace == "" })
}

func (r *round) noGit(err error) *Fault {
	return &Fault{"git", r.text("doctor.nogit", err), r.text("doctor.todo.git", git.Oldest[0], git.Oldest[1]), false}
}

// checkModel lists the models, which costs nothing. Only a refused key is a fault:
// not every server has such a list, and an outage is waited for by each task.
func (r *round) checkModel(ctx context.Context) *Fault {
	model, can := r.Model.(llm.Checker)
	if !can {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, listingTime)
	defer cancel()
	_, err := model.Check(ctx)
	var failed *llm.Error
	if !errors.As(err, &failed) || failed.Status != http.StatusUnauthorized && failed.Status != http.StatusForbidden {
		return nil
	}
	return &Fault{"model", r.text("fault.model", r.Config.LLM.Active().URL, failed.Message), r.text("fault.todo.model.auth", r.modelKeys()...), false}
}

// cachesPatience is how long an item waits for the servers of its task. Their caches may be large, and are copied first.
const cachesPatience = 2 * time.Second

// checkServers waits for the tool servers that were started for the task, or starts those of working copies on an
// empty directory.
func (r *round) checkServers(ctx context.Context, tools *app.Ahead) *Fault {
	if len(r.Config.MCPServers) == 0 {
		return nil
	}
	r.Pool.Retry()
	if tools != nil {
		start, started := tools.Start, make(chan []mcp.Server, 1)
		go func() { started <- start(ctx) }()
		select {
		case servers := <-started:
			return r.tried(servers)
		case <-time.After(cachesPatience):
		}
	}
	dir, remove, err := scratch.Dir(scratch.Preflight)
	if err != nil {
		return &Fault{"room", r.text("fault.room", err), r.text("fault.todo.temp"), false}
	}
	defer remove()
	session := r.Pool.Session(dir)
	defer session.Close()
	return r.tried(session.Start(ctx))
}

// tried is the fault of the first server that is needed and did not start.
func (r *round) tried(servers []mcp.Server) *Fault {
	for _, s := range servers {
		if s.Required && s.Err != "" {
			return r.serverFault(s.Name, s.Err, s.Temporary)
		}
	}
	return nil
}

func (r *round) serverFault(name, reason string, temporary bool) *Fault {
	i := slices.IndexFunc(r.Config.MCPServers, func(m config.MCPServer) bool { return m.Name == name })
	if i >= 0 && r.Config.MCPServers[i].URL != "" {
		return &Fault{"server", r.text("fault.server", name, reason), r.text("fault.todo.server.url", name), true}
	}
	return &Fault{"server", r.text("fault.server", name, reason), r.text("doctor.todo.server", name), temporary}
}
