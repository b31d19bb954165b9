package anthropic

import "agent/llm"

// Driver registers Anthropic, and gateways that speak its Messages API.
var Driver = llm.Driver{
	Name: "anthropic", Title: "Anthropic",
	URLKey: "base_url", URL: "https://api.anthropic.com", Model: "claude-sonnet-5-5", ContextLength: 200_000, Key: true,
	Keys:  []string{"thinking_tokens"},
	Path:  "/v1/models",
	Hints: llm.Hints{Unreachable: "doctor.todo.model.anthropic"},
	New: func(o llm.Options) (llm.Provider, error) {
		return New(Config{BaseURL: o.URL, APIKey: o.APIKey, Model: o.Model, Timeout: o.Timeout, AllowHTTP: o.AllowHTTP, Thinking: o.Thinking})
	},
}
