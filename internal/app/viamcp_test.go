package app

import (
	"testing"

	"agent/internal/config"
)

// TestServesForge: a server of a forge has more than a hundred tools, writes included. The
// model gets those of them that somebody named.
func TestServesForge(t *testing.T) {
	for name, tt := range map[string]struct {
		forge  config.Forge
		server config.MCPServer
		want   bool
	}{
		"tasks":            {config.Forge{Kind: "github", TasksVia: "mcp", CommentsVia: "api"}, config.MCPServer{Name: "github"}, true},
		"comments":         {config.Forge{Kind: "gitlab", TasksVia: "api", CommentsVia: "mcp"}, config.MCPServer{Name: "gitlab"}, true},
		"both, some named": {config.Forge{Kind: "github", TasksVia: "mcp", CommentsVia: "mcp"}, config.MCPServer{Name: "github", Allow: []string{"search_code"}}, false},
		"neither":          {config.Forge{Kind: "github", TasksVia: "api", CommentsVia: "api"}, config.MCPServer{Name: "github"}, false},
		"another server":   {config.Forge{Kind: "github", TasksVia: "mcp"}, config.MCPServer{Name: "workspace"}, false},
		"another forge":    {config.Forge{Kind: "github", TasksVia: "mcp"}, config.MCPServer{Name: "gitlab"}, false},
	} {
		if got := servesForge([]config.Forge{tt.forge}, tt.server); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
