package handlers

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"agent/eventlog/event"
	"agent/llm"
	"agent/projections"
)

// maxCalls is how many calls of one reply are performed.
const maxCalls = 8

// maxName is the longest tool name that providers take.
const maxName = 64

// FunctionName is the native name of a tool: "server__tool", with characters
// that providers refuse replaced, and cut with a hash where it is too long.
func FunctionName(server, tool string) string {
	name := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, server+"__"+tool)
	if len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return name[:maxName-9] + "_" + hex.EncodeToString(sum[:4])
}

// nameTable finds the tool that a model means.
type nameTable map[string]event.ToolRequested

func toolNames(s *projections.State) nameTable {
	names := nameTable{}
	if s.Tools == nil {
		return names
	}
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

// resolve gives the server and the tool of a name, or no server if it is not offered.
func (n nameTable) resolve(name string) (server, tool string) {
	if known, ok := n[name]; ok {
		return known.Server, known.Tool
	}
	return "", name
}

func callIntent(s *projections.State, c Call) *event.ToolRequested {
	return &event.ToolRequested{
		Reply: s.Work.ReplySeq, Index: c.Index, CallID: c.ID, Server: c.Server, Tool: c.Tool,
		Args: event.T(c.Args), Again: toolNames(s)[c.Server+"/"+c.Tool].Again,
	}
}

// Refuse says why a call is not performed. An empty kind means that it is.
func Refuse(s *projections.State, c *event.ToolRequested) (kind, message string) {
	var args map[string]json.RawMessage
	switch {
	case c.Need == "" && s.Planned() && !mayCall(s, 1):
		return "not_offered", "no tool can be called in this phase; reply as its message says"
	case c.Index >= maxCalls:
		return "too_many", fmt.Sprintf("only the first %d calls of a reply are performed; make this one again", maxCalls)
	case c.Server == "":
		return "unknown_tool", fmt.Sprintf("there is no tool %q; the tools are: %s", c.Tool, strings.Join(offeredNames(s), ", "))
	case spilled(s, c) > 0:
		return "too_large", fmt.Sprintf("the arguments are %d bytes long; the most is %d", spilled(s, c), event.MaxText)
	case json.Unmarshal([]byte(c.Args.Inline), &args) != nil:
		return "bad_arguments", "the arguments are not a JSON object"
	case repeatedID(s, c):
		return "bad_arguments", "two calls of the reply had the same id; only the first was performed"
	}
	return "", ""
}

// spilled gives the size of arguments that are too long for a line, else 0. Of
// those the reply holds head and tail only.
func spilled(s *projections.State, c *event.ToolRequested) int64 {
	if s.Work.Reply == nil || c.Index >= len(s.Work.Reply.Calls) {
		return 0
	}
	if args := s.Work.Reply.Calls[c.Index].Args; args.Spilled() {
		return args.Size
	}
	return 0
}

func repeatedID(s *projections.State, c *event.ToolRequested) bool {
	if s.Work.Reply == nil || c.Index >= len(s.Work.Reply.Calls) {
		return false
	}
	id := s.Work.Reply.Calls[c.Index].ID
	for _, earlier := range s.Work.Reply.Calls[:c.Index] {
		if id != "" && earlier.ID == id {
			return true
		}
	}
	return false
}

func offeredNames(s *projections.State) []string {
	var names []string
	if s.Tools == nil {
		return nil
	}
	for _, server := range s.Tools.Servers {
		for _, t := range server.Tools {
			name := server.Name + "/" + t.Name
			if s.Protocol() == "tools" {
				name = FunctionName(server.Name, t.Name)
			}
			names = append(names, name)
		}
	}
	return names
}

// buildRequest makes the request for the next model call from the state alone.
func buildRequest(s *projections.State) llm.Request {
	protocol := s.Protocol()
	r := llm.Request{Model: s.Config.Model, ContextLength: s.Config.ContextLength, Messages: s.Conversation.Messages(protocol, mostOfResult(s)), Weights: s.Conversation.Weights(mostOfResult(s))}
	if protocol == "tools" && s.Tools != nil {
		r.ToolWeight = s.ToolWeight
		for _, server := range s.Tools.Servers {
			for _, t := range server.Tools {
				r.Tools = append(r.Tools, llm.Tool{Name: FunctionName(server.Name, t.Name), Description: t.Description, Schema: t.Schema})
			}
		}
	}
	return r
}

// mostOfResult is how many bytes of one tool result a model with this window
// sees: about a quarter of the window, at three to four bytes a token.
func mostOfResult(s *projections.State) int { return max(s.Config.ContextLength, 2048) }

// estimate counts the tokens of a request as the provider is expected to.
func estimate(s *projections.State, r llm.Request) int {
	return int(s.Usage.Scale(float64(llm.EstimateRequest(r))))
}
