package app

import (
	"time"

	"agent/internal/config"
	"agent/llm"
)

// newModel makes the provider that the configuration names.
func newModel(c *config.Config) (llm.Provider, error) {
	p := c.LLM.Active()
	return p.Driver.New(llm.Options{URL: p.URL, APIKey: p.APIKey, Model: p.Model,
		Timeout: time.Duration(c.LLM.TimeoutSeconds) * time.Second, AllowHTTP: c.AllowHTTP})
}
