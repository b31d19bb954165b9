package config

import "agent/llm"

// LLM says which model is asked and how.
type LLM struct {
	// Which section below is used. Required if the file has only the section of another provider.
	Provider string `yaml:"provider" oneof:"@providers" env:"LLM_PROVIDER"`
	// How tools are called. `tools`: native function calling. `json`: one JSON object per reply. `auto`: tools, and JSON once the server has refused tools.
	Protocol string `yaml:"protocol" default:"auto" oneof:"auto|json|tools" env:"FUNCTION_CALLING" init:"yes"`
	// Timeout of one model call, in seconds.
	TimeoutSeconds int                  `yaml:"timeout_seconds" default:"600" min:"1" max:"86400" init:"yes"`
	Prices         map[string]Price     `yaml:"prices"`
	Sections       map[string]*Provider `yaml:",inline"` // one for each registered kind
}

// Price is in USD per million tokens. The key is the name of a model.
type Price struct {
	// USD per million prompt tokens.
	Input float64 `yaml:"input"`
	// USD per million cached prompt tokens.
	Cached float64 `yaml:"cached"`
	// USD per million completion tokens.
	Output float64 `yaml:"output"`
}

// Provider is the section of one kind of model server.
type Provider struct {
	Driver llm.Driver `yaml:"-"`
	Name   string     `yaml:"-"` // of the driver

	// Address of the server.
	URL string `yaml:"url" env:"*"`
	// API key. May be empty on loopback only.
	APIKey string `yaml:"api_key" env:"*"`
	// Name of the model.
	Model string `yaml:"model" env:"*"`
	// Context window of the model, in tokens.
	ContextLength int `yaml:"context_length" min:"1024"`
}

// keyName is how this kind of server names a key, "" if it has none such.
func (p Provider) keyName(key string) string {
	switch {
	case key == "url":
		return p.Driver.URLKey
	case key == "api_key" && !p.Driver.Key:
		return ""
	}
	return key
}

// Env is the variable that sets a key of the section.
func (p Provider) Env(key string) string { return p.Driver.Env(key) }

// Active is the section in use, the zero value but for its name if the kind is unknown.
func (l LLM) Active() Provider {
	if p := l.Sections[l.Provider]; p != nil {
		return *p
	}
	return Provider{Name: l.Provider}
}
