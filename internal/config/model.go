package config

import (
	"slices"
	"time"

	"agent/llm"
)

// LLM says which model is asked and how.
type LLM struct {
	// Which section below is used. Required if the file has only the section of another provider.
	Provider string `yaml:"provider" oneof:"@providers" env:"LLM_PROVIDER"`
	// How tools are called. `tools`: native function calling. `json`: one JSON object per reply. `auto`: tools, and JSON once the server has refused tools.
	Protocol string `yaml:"protocol" default:"auto" oneof:"auto|json|tools" env:"FUNCTION_CALLING" init:"yes"`
	// Shape of requests to the server. `auto`: what fits its host or its model, see docs/models.md; what is refused is learned. Only for `openai`.
	Profile string `yaml:"profile" default:"auto" oneof:"@profiles" env:"LLM_PROFILE"`
	// Other providers, in order, that are asked when the one above is out of service. Their sections say how. The next run begins with the first one again.
	Fallback Strings `yaml:"fallback" oneof:"@providers" env:"LLM_FALLBACK"`
	// Timeout of one model call, in seconds.
	TimeoutSeconds int                  `yaml:"timeout_seconds" default:"600" min:"1" max:"86400" init:"yes"`
	Prices         map[string]Price     `yaml:"prices"`
	Sections       map[string]*Provider `yaml:",inline"` // one for each registered kind
}

// Price is in USD per million tokens. The key is the name of a model.
type Price struct {
	// USD per million prompt tokens. A price here stands before the list of known models in the program.
	Input float64 `yaml:"input"`
	// USD per million cached prompt tokens.
	Cached float64 `yaml:"cached"`
	// USD per million completion tokens.
	Output float64 `yaml:"output"`
}

// Price of a model, of the configuration or else of the list; zero if there is none.
func (l LLM) Price(model string) llm.Price {
	if p, ok := l.Prices[model]; ok {
		return llm.Price{Input: p.Input, Cached: p.Cached, Output: p.Output}
	}
	p, _ := llm.PriceOf(model)
	return p
}

// Provider is the section of one kind of model server.
type Provider struct {
	Driver llm.Driver `yaml:"-"`
	Name   string     `yaml:"-"` // of the driver

	// Address of the server.
	URL string `yaml:"url" env:"*"`
	// API key. May be empty on loopback only.
	APIKey string `yaml:"api_key" env:"*"`
	// Command that prints the key, instead of `api_key`, as `token_command` of a forge.
	APIKeyCommand []string `yaml:"api_key_command"`
	// Name of the model.
	Model string `yaml:"model" env:"*"`
	// Context window of the model, in tokens.
	ContextLength int `yaml:"context_length" min:"1024"`
	// Version of Azure's API, like `2024-10-21`. Then the address is that of the resource, and `model` names a deployment. Empty: no Azure, or its v1 API.
	APIVersion string `yaml:"api_version" env:"*"`
	// How the key is sent: `bearer`, or `api-key` for the header that Azure takes it in.
	Auth string `yaml:"auth" default:"bearer" oneof:"bearer|api-key" env:"*"`
	// Which API is used. `chat`: chat completions, and the Responses API for models that need it for tools. `responses`: the Responses API always.
	API string `yaml:"api" default:"chat" oneof:"chat|responses" env:"*"`
	// Tokens of thinking to ask for, at least 1024. 0: do not ask; newer models think all the same. Models that take no budget think as they need to.
	ThinkingTokens int `yaml:"thinking_tokens" min:"0" env:"*"`
}

// extra are the keys that only the kinds have which say so.
var extra = []string{"api_version", "auth", "api", "thinking_tokens"}

// keyName is how this kind of server names a key, "" if it has none such.
func (p Provider) keyName(key string) string {
	switch {
	case key == "url":
		return p.Driver.URLKey
	case (key == "api_key" || key == "api_key_command") && !p.Driver.Key, slices.Contains(extra, key) && !slices.Contains(p.Driver.Keys, key):
		return ""
	}
	return key
}

// Env is the variable that sets a key of the section.
func (p Provider) Env(key string) string { return p.Driver.Env(key) }

// Options are what the provider of the section is made from.
func (c *Config) Options(p Provider) llm.Options {
	return llm.Options{URL: p.URL, APIKey: p.APIKey, Model: p.Model, Timeout: time.Duration(c.LLM.TimeoutSeconds) * time.Second,
		AllowHTTP: c.AllowHTTP, Profile: c.profile(p), API: p.API, Version: p.APIVersion, Auth: p.Auth, Thinking: p.ThinkingTokens, Window: p.ContextLength}
}

// profile is that of the configuration for the provider in use. Others find theirs.
func (c *Config) profile(p Provider) string {
	if p.Name != c.LLM.Provider {
		return ""
	}
	return c.LLM.Profile
}

// Profile names the shape of requests to a provider, "" if its kind has one only.
func (c *Config) Profile(p Provider) string {
	if p.Driver.Profile == nil {
		return ""
	}
	return p.Driver.Profile(c.Options(p))
}

// Uses reports whether a provider is in use, or is to be when another one fails.
func (l LLM) Uses(name string) bool { return name == l.Provider || slices.Contains(l.Fallback, name) }

// Others are the sections that are asked when the one in use is out of service.
func (l LLM) Others() (all []Provider) {
	for _, name := range l.Fallback {
		if p := l.Sections[name]; p != nil && name != l.Provider {
			all = append(all, *p)
		}
	}
	return all
}

// Active is the section in use, the zero value but for its name if the kind is unknown.
func (l LLM) Active() Provider {
	if p := l.Sections[l.Provider]; p != nil {
		return *p
	}
	return Provider{Name: l.Provider}
}
