package openai

import "agent/llm"

// Driver registers OpenAI, and any server with the chat-completions API.
var Driver = llm.Driver{
	Name: "openai", Title: "OpenAI",
	URLKey: "base_url", URL: "https://api.openai.com/v1", Model: "gpt-4o", ContextLength: 128_000, Key: true,
	Path:  "/models",
	Hints: llm.Hints{Unreachable: "doctor.todo.model.openai"},
	New: func(o llm.Options) (llm.Provider, error) {
		return New(Config{BaseURL: o.URL, APIKey: o.APIKey, Model: o.Model, Timeout: o.Timeout, AllowHTTP: o.AllowHTTP})
	},
}
