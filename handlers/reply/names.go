package reply

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync/atomic"

	"agent/eventlog/event"
	"agent/projections"
)

// maxName is the longest tool name that providers take.
const maxName = 64

// FunctionName is the native name of a tool: "server__tool". Where that is not
// the tool's name to the letter (characters that providers refuse, too long, an
// underscore beside the separator) it ends in a hash of it, so that no two tools
// share a name, and a tool keeps its name whatever else is offered.
func FunctionName(server, tool string) string {
	exact := server + "__" + tool
	name := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, exact)
	if name == exact && len(name) <= maxName && !strings.HasSuffix(server, "_") && !strings.HasPrefix(tool, "_") {
		return name
	}
	const hashed = 9 // characters that the hash takes
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	return name[:min(len(name), maxName-hashed)] + "_" + hex.EncodeToString(sum[:4])
}

// Names finds the tool that a model means.
type Names map[string]event.ToolRequested

// latest are the names that were asked for last: a step asks for them several times.
var latest atomic.Pointer[listed]

type listed struct {
	tools *event.ToolsListed
	names Names
}

// NamesOf lists every form in which a model may name the tools of a state. They must not
// be changed.
func NamesOf(s *projections.State) Names {
	if s.Tools == nil {
		return Names{}
	}
	if l := latest.Load(); l != nil && l.tools == s.Tools {
		return l.names
	}
	names := namesOf(s)
	latest.Store(&listed{s.Tools, names})
	return names
}

func namesOf(s *projections.State) Names {
	names := Names{}
	for _, server := range s.Tools.Servers {
		for _, t := range server.Tools {
			known := event.ToolRequested{Server: server.Name, Tool: t.Name, Again: t.ReadOnly || t.Idempotent}
			for _, form := range []string{server.Name + "/" + t.Name, FunctionName(server.Name, t.Name), server.Name + "_" + t.Name} {
				if _, taken := names[form]; !taken {
					names[form] = known
				}
			}
		}
	}
	return names
}

// Resolve gives the server and the tool of a name, or no server if it is not offered.
func (n Names) Resolve(name string) (server, tool string) {
	if known, ok := n[name]; ok {
		return known.Server, known.Tool
	}
	return "", name
}
