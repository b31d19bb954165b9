// Package config reads the operator's configuration: one YAML file, overridden
// by environment variables, overridden by flags.
//
// The file comes from --config, $CONFIG_FILE, $XDG_CONFIG_HOME/agent/config.yaml
// or ~/.config/agent/config.yaml, and never from a working copy: whoever writes
// it chooses which programs run. Text values may hold ${VAR} and
// ${VAR:-default}; $$ is a dollar sign.
//
// All problems of a file are collected into one [Error], each with its line. No
// message ever holds a value, because any value may be a secret in the wrong
// place; keys and names of variables are shown, values are not. Sections that
// are not in use (another provider, a forge that is not in task_source) may name
// variables that do not exist.
package config

import "slices"

// Strings is a list that may also be written as a single text.
type Strings []string

// Config is the effective configuration. Paths are absolute after [Load].
type Config struct {
	TaskSource       Strings `yaml:"task_source" oneof:"github|gitlab"`
	ContextsDir      string  `yaml:"contexts_dir"`
	WorkspacesDir    string  `yaml:"workspaces_dir"`
	MaxCloneMB       int     `yaml:"max_clone_mb"` // MiB that a clone may take; 0: no bound
	Language         string  `yaml:"language" oneof:"auto|ja|en"`
	Workers          int     `yaml:"workers" min:"1" max:"256"`
	MaxLLMProcessNum int     `yaml:"max_llm_process_num" min:"1"`
	Limits           Limits  `yaml:"limits"`
	SystemPromptFile string  `yaml:"system_prompt_file"` // empty: the embedded one
	AdoptWaitSeconds int     `yaml:"adopt_wait_seconds"` // as configured; Forge.AdoptWaitSeconds is what counts
	AllowHTTP        bool    `yaml:"allow_http"`

	LLM        LLM         `yaml:"llm"`
	MCPServers []MCPServer `yaml:"mcp_servers"`
	GitHub     Forges      `yaml:"github"`
	GitLab     Forges      `yaml:"gitlab"`

	NewCommentHandling NewCommentHandling `yaml:"new_comment_handling"`
	CommentHandling    CommentHandling    `yaml:"comment_handling"`
	ContextStorage     ContextStorage     `yaml:"context_storage"`
	ContextInheritance ContextInheritance `yaml:"context_inheritance"`
	Planning           Planning           `yaml:"planning"`
	PauseResume        PauseResume        `yaml:"pause_resume"`
	TaskStop           TaskStop           `yaml:"task_stop"`
	ChangeRequests     ChangeRequests     `yaml:"change_requests"`
	ProjectAgentRules  ProjectAgentRules  `yaml:"project_agent_rules"`
	FileListContext    FileListContext    `yaml:"file_list_context"`
	Loop               Loop               `yaml:"loop"`
	Log                Log                `yaml:"log"`

	inserted []string          // values that ${…} put into mcp_servers
	replaced map[string]string // path → variable that won over the file
}

// Replaced names the environment variable whose value stands at a path (like
// "github[0].personal_access_token") instead of another one of the file, or "".
func (c *Config) Replaced(path string) string { return c.replaced[path] }

// Limits bound spending; 0 means none. Reaching one pauses the task.
type Limits struct {
	MaxTokens        int     `yaml:"max_tokens"`
	MaxCostUSD       float64 `yaml:"max_cost_usd"`
	MaxMinutes       int     `yaml:"max_minutes"`
	MaxTokensPerDay  int     `yaml:"max_tokens_per_day"`
	MaxCostUSDPerDay float64 `yaml:"max_cost_usd_per_day"`
}

// LLM says which model is asked and how.
type LLM struct {
	Provider       string           `yaml:"provider" oneof:"openai|ollama|lmstudio"`
	Protocol       string           `yaml:"protocol" oneof:"auto|json|tools"`
	TimeoutSeconds int              `yaml:"timeout_seconds" min:"1" max:"86400"`
	Prices         map[string]Price `yaml:"prices"`
	OpenAI         OpenAI           `yaml:"openai"`
	Ollama         Ollama           `yaml:"ollama"`
	LMStudio       LMStudio         `yaml:"lmstudio"`
}

// Price is in USD per million tokens.
type Price struct {
	Input  float64 `yaml:"input"`
	Cached float64 `yaml:"cached"`
	Output float64 `yaml:"output"`
}

// OpenAI is OpenAI or a server that speaks its API.
type OpenAI struct {
	BaseURL       string `yaml:"base_url"`
	APIKey        string `yaml:"api_key"`
	Model         string `yaml:"model"`
	ContextLength int    `yaml:"context_length" min:"1024"`
}

// Ollama is a server that speaks Ollama's native API.
type Ollama struct {
	Endpoint      string `yaml:"endpoint"`
	Model         string `yaml:"model"`
	ContextLength int    `yaml:"context_length" min:"1024"`
}

// LMStudio is a local LM Studio server.
type LMStudio struct {
	BaseURL       string `yaml:"base_url"`
	Model         string `yaml:"model"`
	ContextLength int    `yaml:"context_length" min:"1024"`
}

// Provider is the part of the llm section that is in use.
type Provider struct {
	Name, URL, APIKey, Model string
	ContextLength            int // tokens
}

// Active is the provider in use.
func (l LLM) Active() Provider {
	switch l.Provider {
	case "ollama":
		return Provider{l.Provider, l.Ollama.Endpoint, "", l.Ollama.Model, l.Ollama.ContextLength}
	case "lmstudio":
		return Provider{l.Provider, l.LMStudio.BaseURL, "", l.LMStudio.Model, l.LMStudio.ContextLength}
	}
	return Provider{l.Provider, l.OpenAI.BaseURL, l.OpenAI.APIKey, l.OpenAI.Model, l.OpenAI.ContextLength}
}

// MCPServer is one tool server: either a command or a url.
type MCPServer struct {
	Name           string            `yaml:"mcp_server_name"`
	Command        []string          `yaml:"command"` // argv, no shell
	URL            string            `yaml:"url"`
	Headers        map[string]string `yaml:"headers"`
	Env            map[string]string `yaml:"env"`
	SystemPrompt   string            `yaml:"system_prompt"`
	Allow          []string          `yaml:"allow"` // tool names offered to the model; empty: all
	TimeoutSeconds int               `yaml:"timeout_seconds" min:"1" max:"86400"`
	Sandbox        string            `yaml:"sandbox" oneof:"auto|required|off"`
	Network        string            `yaml:"network" oneof:"on|off"` // of the sandbox
	SandboxWrite   []string          `yaml:"sandbox_write"`          // trees that the sandbox lets it change, beside the working copy
	SandboxRead    []string          `yaml:"sandbox_read"`           // trees and files that it lets it read, beside toolchains
}

// Forges is a list of forges that may also be written as one mapping.
type Forges []Forge

// Forge is one GitHub or GitLab host.
type Forge struct {
	Kind            string   `yaml:"-"` // github | gitlab
	APIURL          string   `yaml:"api_url"`
	Token           string   `yaml:"personal_access_token"`
	App             App      `yaml:"app"` // GitHub: instead of a token
	Owner           string   `yaml:"owner"`
	Repositories    []string `yaml:"repositories"` // GitHub: owner/repo
	Projects        []string `yaml:"projects"`     // GitLab: paths or ids
	BotName         string   `yaml:"bot_name"`
	Assignee        string   `yaml:"assignee"`
	BotLabel        string   `yaml:"bot_label"`
	TriggerLabels   []string `yaml:"trigger_labels"` // further labels that make a task
	ProcessingLabel string   `yaml:"processing_label"`
	DoneLabel       string   `yaml:"done_label"`
	PausedLabel     string   `yaml:"paused_label"`
	StoppedLabel    string   `yaml:"stopped_label"`
	FailedLabel     string   `yaml:"failed_label"` // empty: none
	AwaitingLabel   string   `yaml:"awaiting_label"`
	Workspace       string   `yaml:"workspace"` // a local repository to work in, in place

	SetupCommands map[string][][]string `yaml:"setup_commands"` // project → commands that make its working copy ready, as arguments

	TasksVia         string `yaml:"tasks_via" oneof:"api|mcp"`
	CommentsVia      string `yaml:"comments_via" oneof:"api|mcp"`
	WriteIntervalMS  int    `yaml:"write_interval_ms" max:"3600000"`
	AdoptWaitSeconds int    `yaml:"-"` // adopt_wait_seconds, or 0 for a loopback host if that is not set
}

// Triggers are the labels that make an item a task.
func (f Forge) Triggers() []string { return append([]string{f.BotLabel}, f.TriggerLabels...) }

// App is a GitHub App that acts instead of an account. ID 0 means none.
type App struct {
	ID             int    `yaml:"id"`
	KeyFile        string `yaml:"key_file"` // its private key as PEM, mode 0600
	InstallationID int    `yaml:"installation_id"`
}

// Forges lists the forges in use, in the order of task_source.
func (c *Config) Forges() []Forge {
	var all []Forge
	for _, source := range c.TaskSource {
		all = append(all, *c.section(source)...)
	}
	return all
}

func (c *Config) section(source string) *Forges {
	switch source {
	case "github":
		return &c.GitHub
	case "gitlab":
		return &c.GitLab
	}
	return &Forges{}
}

// uses tells whether a forge section is in use.
func (c *Config) uses(source string) bool { return slices.Contains(c.TaskSource, source) }
