package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"agent/forge"
	"agent/forge/viamcp"
	"agent/internal/config"
	"agent/mcp"
)

// throughServer lets a forge's tasks or comments come through the tool server
// that has its name, where the configuration says so.
func (a *App) throughServer(at Site) Site {
	f := at.Config
	if f.TasksVia != "mcp" && f.CommentsVia != "mcp" {
		return at
	}
	at.Client = viamcp.New(at.Client, &serverTools{a.Pool.Agent(), f.Kind}, viamcp.Config{Tasks: f.TasksVia == "mcp",
		Comments: f.CommentsVia == "mcp", Kinds: []forge.Kind{f.Driver.Issue, f.Driver.Change}, Host: at.Host, Projects: f.Projects})
	return at
}

// servesForge reports whether a tool server is there for a forge's tasks or comments
// and for nothing else. The model gets tools of such a server only by name: it has
// many, and some write.
func servesForge(forges []config.Forge, m config.MCPServer) bool {
	return len(m.Allow) == 0 && slices.ContainsFunc(forges, func(f config.Forge) bool {
		return f.Kind == m.Name && (f.TasksVia == "mcp" || f.CommentsVia == "mcp")
	})
}

// serverTools are the tools of one server, for package viamcp.
type serverTools struct {
	session *mcp.Session
	server  string
}

func (t *serverTools) Tools(ctx context.Context) ([]string, error) {
	for _, s := range t.session.List(ctx) {
		if s.Name != t.server {
			continue
		}
		if s.Err != "" && len(s.Tools) == 0 {
			return nil, errors.New(s.Err)
		}
		var names []string
		for _, tool := range s.Tools {
			names = append(names, tool.Name)
		}
		return names, nil
	}
	return nil, fmt.Errorf("there is no tool server %q", t.server)
}

func (t *serverTools) Call(ctx context.Context, tool string, args map[string]any) (string, error) {
	data, err := json.Marshal(args)
	if err != nil {
		return "", err
	}
	result, err := t.session.Call(ctx, t.server, tool, data)
	if err == nil && result.IsError {
		err = fmt.Errorf("%s: %s", tool, result.Text)
	}
	return result.Text, err
}
