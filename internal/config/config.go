// Package config reads the operator's configuration: one YAML file, overridden
// by environment variables, overridden by flags.
//
// The file comes from --config, $CONFIG_FILE, $XDG_CONFIG_HOME/agent/config.yaml
// or ~/.config/agent/config.yaml, and never from a working copy: whoever writes
// it chooses which programs run. Text values may hold ${VAR} and
// ${VAR:-default}; $$ is a dollar sign.
//
// The structs are the table of keys. Their tags are read at run time:
//
//	yaml     key; `,inline` is a map whose keys are the kinds of package registry
//	default  value if the key is absent, words of a list separated by spaces
//	env      variable that wins over the file; `*` is named by the kind: OLLAMA_MODEL
//	min max  bounds of a number; without them 0 and 1e12
//	oneof    allowed words; @forges and @providers are the registered kinds
//	path     `abs`: a file or directory, made absolute; `repository`: the same, or a URL
//	init     `yes`: `agent init` writes the key with its default, see [Starter]
//
// The comment of a field is its meaning in docs/configuration.md, which
// `go test ./internal/config -update` writes.
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
	// Where tasks come from: the names of one or more forges; `files` is a directory of Markdown files.
	TaskSource Strings `yaml:"task_source" oneof:"@forges" env:"TASK_SOURCE"`
	// Logs and everything computed from them. Not on NFS, SMB or FUSE: their locks cannot be trusted.
	ContextsDir string `yaml:"contexts_dir" default:"$XDG_STATE_HOME/agent/contexts" path:"abs"`
	// Clones, one per context.
	WorkspacesDir string `yaml:"workspaces_dir" default:"$XDG_STATE_HOME/agent/workspaces" path:"abs"`
	// Largest new clone in MiB, history and files together. A larger one fails the task. 0: no limit.
	MaxCloneMB int `yaml:"max_clone_mb" default:"4096"`
	// Caches of tools (Go, npm, pip, cargo, ccache, Gradle, and those in the XDG cache directory), for servers with a sandbox. Each repository has its own. Empty: `caches` beside `workspaces_dir`.
	CachesDir string `yaml:"caches_dir" path:"abs"`
	// Largest cache of a repository in MiB. What was used last is kept. 0: nothing is kept from one context to the next.
	MaxCacheMB int `yaml:"max_cache_mb" default:"2048"`
	// Commits of history in a new clone. 0: all. `git_log`, `git_blame` and calls that name an older commit fetch 500 more, on the agent's side, with its token: commands get neither.
	CloneDepth int `yaml:"clone_depth" default:"1" min:"0"`
	// Fetch tags with a new clone. Tags on commits that are fetched later always come along.
	CloneTags bool `yaml:"clone_tags"`
	// Language of everything people read. `auto`: the language of the task.
	Language string `yaml:"language" default:"auto" oneof:"auto|ja|en"`
	// Contexts worked on at the same time, by all processes of this store together.
	Workers int `yaml:"workers" default:"2" min:"1" max:"256" init:"yes"`
	// Model calls per context. At the limit the agent ends the task and says so in a comment.
	MaxLLMProcessNum int    `yaml:"max_llm_process_num" default:"1000" min:"1" init:"yes"`
	Limits           Limits `yaml:"limits"`
	// Replies in a row that ask for the same tool call with the same arguments. At this number the task pauses until a person resumes it.
	RepeatedCallLimit int `yaml:"repeated_call_limit" default:"5" min:"2"`
	// File with a system prompt that replaces the built-in one.
	SystemPromptFile string `yaml:"system_prompt_file" path:"abs"`
	// How long the forge may take to show a new comment, in seconds. Used when the answer to a post was lost. On loopback 0 unless set.
	AdoptWaitSeconds int `yaml:"adopt_wait_seconds" default:"10"` // as configured; Forge.AdoptWaitSeconds is what counts
	// File of variables for `${…}` and for the variables below: one name and value a line, as for a shell, mode 0600. `${CREDENTIALS_DIRECTORY}/NAME` is a credential of systemd. Variables of the environment win. Relative to this file. Tool servers get them by `env` only.
	EnvFile string `yaml:"env_file" path:"abs"`
	// Allow plain http to other hosts than this machine.
	AllowHTTP bool `yaml:"allow_http"`

	LLM           LLM                `yaml:"llm"`
	MCPServers    []MCPServer        `yaml:"mcp_servers"`
	Sandbox       Sandbox            `yaml:"sandbox"`
	ForgeSections map[string]*Forges `yaml:",inline"` // one for each registered kind

	NewCommentHandling NewCommentHandling `yaml:"new_comment_handling"`
	CommentHandling    CommentHandling    `yaml:"comment_handling"`
	Commands           Commands           `yaml:"commands"`
	ContextStorage     ContextStorage     `yaml:"context_storage"`
	ContextInheritance ContextInheritance `yaml:"context_inheritance"`
	Planning           Planning           `yaml:"planning"`
	PauseResume        PauseResume        `yaml:"pause_resume"`
	TaskStop           TaskStop           `yaml:"task_stop"`
	ChangeRequests     ChangeRequests     `yaml:"change_requests"`
	ProjectAgentRules  ProjectAgentRules  `yaml:"project_agent_rules"`
	FileListContext    FileListContext    `yaml:"file_list_context"`
	Loop               Loop               `yaml:"loop"`
	Webhooks           Webhooks           `yaml:"webhooks"`
	Notify             []Notification     `yaml:"notify"`
	Log                Log                `yaml:"log"`
	Telemetry          Telemetry          `yaml:"telemetry"`
	Cluster            Cluster            `yaml:"cluster"`

	inserted []string          // values that ${…} put into mcp_servers and notify
	replaced map[string]string // path → variable that won over the file
	sources  sources
}

// Limits bound spending; 0 means none. Reaching one pauses the task.
type Limits struct {
	// Tokens per context, prompt and completion together. 0: no limit, here and below.
	MaxTokens int `yaml:"max_tokens" init:"yes"`
	// USD per context. Needs `llm.prices`.
	MaxCostUSD float64 `yaml:"max_cost_usd" init:"yes"`
	// Minutes of work per context, pauses excluded.
	MaxMinutes int `yaml:"max_minutes" init:"yes"`
	// Tokens per day (UTC) over all contexts.
	MaxTokensPerDay int `yaml:"max_tokens_per_day" init:"yes"`
	// USD per day (UTC) over all contexts. Needs `llm.prices`.
	MaxCostUSDPerDay float64 `yaml:"max_cost_usd_per_day" init:"yes"`
}

// Replaced names the environment variable that set a path (like
// "github[0].personal_access_token") instead of another value in the file, or "".
func (c *Config) Replaced(path string) string { return c.replaced[path] }

// Forges lists the forges in use, in the order of task_source.
func (c *Config) Forges() []Forge {
	var all []Forge
	for _, source := range c.TaskSource {
		all = append(all, c.Section(source)...)
	}
	return all
}

// Section is the section of a kind of forge, in use or not. Nil for an unknown kind.
func (c *Config) Section(kind string) Forges {
	if s := c.ForgeSections[kind]; s != nil {
		return *s
	}
	return nil
}

// uses reports whether a forge section is in use.
func (c *Config) uses(source string) bool { return slices.Contains(c.TaskSource, source) }
