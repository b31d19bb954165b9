package prompt

import (
	"slices"

	"agent/handlers/reply"
	"agent/llm"
	"agent/projections"
)

// Request makes the request for the next model call from the state alone.
func Request(s *projections.State) llm.Request {
	r := addressed(s)
	shown := Shown(s)
	r.Messages, r.Weights, r.Thread = shown.Messages, shown.Weights, shown.Thread
	r.Tools = Tools(s)
	if s.Protocol() == "tools" {
		r.ToolWeight = s.ToolWeight
	}
	return r
}

// Shown is the conversation as the next request has it.
func Shown(s *projections.State) projections.Shown {
	return s.Conversation.Shown(s.Protocol(), MostOfResult(s))
}

// Tools are those that the next request offers.
func Tools(s *projections.State) (offered []llm.Tool) {
	if s.Protocol() != "tools" || s.Tools == nil {
		return nil
	}
	for i, server := range s.Tools.Servers {
		for j, t := range server.Tools {
			name := reply.FunctionName(server.Name, t.Name)
			if !slices.Contains(s.Shape.Tools, name) {
				offered = append(offered, llm.Tool{Name: name, Description: t.Description, Schema: s.Schemas[i][j]})
			}
		}
	}
	return offered
}

// addressed is an empty request to the model server that is asked now, in the shape
// that was found to pass.
func addressed(s *projections.State) llm.Request {
	c := s.Config
	return llm.Request{Provider: s.Provider(), Profile: c.Profile, Shape: s.Shape.Steps, Model: c.Model, ContextLength: c.ContextLength}
}

// MostOfResult is how many bytes of one tool result a model with this window
// sees: about a quarter of the window, at three to four bytes a token.
func MostOfResult(s *projections.State) int { return max(s.WindowTokens(), 2048) }

// Estimate counts the tokens of a request as the provider is expected to.
func Estimate(s *projections.State, r llm.Request) int {
	return int(s.Usage.Scale(float64(llm.EstimateRequest(r))))
}
