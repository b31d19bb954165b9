package handlers

import (
	"encoding/json"
	"fmt"
	"strings"

	"agent/eventlog/event"
	"agent/handlers/reply"
	"agent/projections"
)

// maxCalls is how many calls of one reply are performed.
const maxCalls = 8

func callIntent(s *projections.State, c reply.Call) *event.ToolRequested {
	return &event.ToolRequested{
		Reply: s.Work.ReplySeq, Index: c.Index, CallID: c.ID, Server: c.Server, Tool: c.Tool,
		Args: event.T(c.Args), Again: reply.NamesOf(s)[c.Server+"/"+c.Tool].Again,
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

func offeredNames(s *projections.State) []string {
	var names []string
	if s.Tools == nil {
		return nil
	}
	for _, server := range s.Tools.Servers {
		for _, t := range server.Tools {
			name := server.Name + "/" + t.Name
			if s.Protocol() == "tools" {
				name = reply.FunctionName(server.Name, t.Name)
			}
			names = append(names, name)
		}
	}
	return names
}
