package app

import (
	"time"

	"agent/internal/config"
	"agent/llm"
	"agent/llm/lmstudio"
	"agent/llm/ollama"
	"agent/llm/openai"
)

// newModel makes the provider that the configuration names.
func newModel(c *config.Config) (llm.Provider, error) {
	p, timeout := c.LLM.Active(), time.Duration(c.LLM.TimeoutSeconds)*time.Second
	switch p.Name {
	case "ollama":
		return ollama.New(ollama.Config{BaseURL: p.URL, APIKey: p.APIKey, Model: p.Model, Timeout: timeout, AllowHTTP: c.AllowHTTP})
	case "lmstudio":
		return lmstudio.New(lmstudio.Config{BaseURL: p.URL, APIKey: p.APIKey, Model: p.Model, Timeout: timeout, AllowHTTP: c.AllowHTTP})
	}
	return openai.New(openai.Config{BaseURL: p.URL, APIKey: p.APIKey, Model: p.Model, Timeout: timeout, AllowHTTP: c.AllowHTTP})
}
