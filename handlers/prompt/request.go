package prompt

import (
	"agent/handlers/reply"
	"agent/llm"
	"agent/projections"
)

// Request makes the request for the next model call from the state alone.
func Request(s *projections.State) llm.Request {
	protocol := s.Protocol()
	r := llm.Request{Model: s.Config.Model, ContextLength: s.Config.ContextLength, Messages: s.Conversation.Messages(protocol, MostOfResult(s)), Weights: s.Conversation.Weights(MostOfResult(s))}
	if protocol == "tools" && s.Tools != nil {
		r.ToolWeight = s.ToolWeight
		for _, server := range s.Tools.Servers {
			for _, t := range server.Tools {
				r.Tools = append(r.Tools, llm.Tool{Name: reply.FunctionName(server.Name, t.Name), Description: t.Description, Schema: t.Schema})
			}
		}
	}
	return r
}

// MostOfResult is how many bytes of one tool result a model with this window
// sees: about a quarter of the window, at three to four bytes a token.
func MostOfResult(s *projections.State) int { return max(s.WindowTokens(), 2048) }

// Estimate counts the tokens of a request as the provider is expected to.
func Estimate(s *projections.State, r llm.Request) int {
	return int(s.Usage.Scale(float64(llm.EstimateRequest(r))))
}
