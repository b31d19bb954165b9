package openai

import (
	"agent/llm"
	"agent/llm/httpx"
)

// Driver registers OpenAI, and any server with the chat-completions API.
var Driver = llm.Driver{
	Name: "openai", Title: "OpenAI",
	URLKey: "base_url", URL: "https://api.openai.com/v1", Model: "gpt-4o", ContextLength: 128_000, Key: true,
	Keys:  []string{"api_version", "auth", "api"},
	Path:  "/models",
	Hints: llm.Hints{Unreachable: "doctor.todo.model.openai"},
	Profile: func(o llm.Options) string {
		if o.Profile != "" && o.Profile != "auto" {
			return o.Profile
		}
		return llm.ProfileFor(httpx.Host(o.URL), o.Model).Name
	},
	New: func(o llm.Options) (llm.Provider, error) {
		api := ""
		if o.API == llm.APIResponses {
			api = o.API
		}
		return New(Config{BaseURL: o.URL, APIKey: o.APIKey, Model: o.Model, Timeout: o.Timeout, AllowHTTP: o.AllowHTTP,
			Profile: o.Profile, API: api, APIVersion: o.Version, Auth: o.Auth})
	},
}
