package prompt

import (
	"slices"

	"agent/handlers/reply"
	"agent/llm"
	"agent/projections"
)

// Request makes the request for the next model call from the state alone.
func Request(s *projections.State) llm.Request {
	protocol := s.Protocol()
	r := addressed(s)
	r.Messages, r.Weights = s.Conversation.Messages(protocol, MostOfResult(s)), s.Conversation.Weights(MostOfResult(s))
	if protocol == "tools" && s.Tools != nil {
		r.ToolWeight = s.ToolWeight
		for i, server := range s.Tools.Servers {
			for j, t := range server.Tools {
				name := reply.FunctionName(server.Name, t.Name)
				if !slices.Contains(s.Shape.Tools, name) {
					r.Tools = append(r.Tools, llm.Tool{Name: name, Description: t.Description, Schema: s.Schemas[i][j]})
				}
			}
		}
	}
	return r
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
