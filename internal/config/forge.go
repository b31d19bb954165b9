package config

import (
	"slices"
	"time"

	"agent/forge"
)

// Forges is a list of forges that may also be written as one mapping.
type Forges []Forge

// Forge is one host of a kind of forge.
type Forge struct {
	Driver forge.Driver `yaml:"-"`
	Kind   string       `yaml:"-"` // the driver's name

	// Address of the API.
	APIURL string `yaml:"api_url" env:"*"`
	// Access token. It must be able to read and write issues, repository contents and pull or merge requests.
	Token string `yaml:"personal_access_token" env:"*"`
	// Command that prints the token, instead of `personal_access_token`: `[pass, show, forge]`. It runs without a shell when the program starts, for at most 30 seconds.
	TokenCommand []string `yaml:"token_command"`
	App          App      `yaml:"app"`
	// Search the labelled items of this owner if no list of projects is given. The forge's search index lags behind.
	Owner string `yaml:"owner"`
	// Projects to look for tasks in.
	Projects []string `yaml:"projects"`
	// Login of the agent's account.
	BotName string `yaml:"bot_name" env:"*"`
	// Only take items assigned to this login.
	Assignee string `yaml:"assignee"`
	// Label that makes an item a task.
	BotLabel string `yaml:"bot_label" default:"coding agent" init:"yes"`
	// More labels that make an item a task, for example `[task:misc, task:dogfooding]`.
	TriggerLabels []string `yaml:"trigger_labels"`
	// Label while the agent works.
	ProcessingLabel string `yaml:"processing_label" default:"coding agent processing"`
	// Label of a finished task.
	DoneLabel string `yaml:"done_label" default:"coding agent done"`
	// Label of a paused task.
	PausedLabel string `yaml:"paused_label" default:"coding agent paused"`
	// Label of a task that a person stopped.
	StoppedLabel string `yaml:"stopped_label" default:"coding agent stopped"`
	// Label of a failed task. Empty: none.
	FailedLabel string `yaml:"failed_label" default:"coding agent failed"`
	// Label of a task that waits for an answer.
	AwaitingLabel string `yaml:"awaiting_label" default:"coding agent awaiting response"`
	// Local repository to work in, in place: no clone, no branch, no push, one context at a time.
	Workspace string `yaml:"workspace" path:"abs"`
	// More places that the forge may have repositories cloned from: hosts like `git.example.com` (with the port if it is not 443, with `http://` for http) and directories of this machine. They get the token. Every other address than the forge's own is refused.
	CloneFrom []string `yaml:"clone_from"`
	// Commands per project that prepare a working copy, like `{my-org/my-repo: [[npm, ci], [make, deps]]}`. Each is a list of arguments. They run before the first model call and again after a crash, through `run_command` of the first server that has it, in its sandbox and with its timeout. The model sees their output; a failing one does not end the task.
	SetupCommands map[string][][]string `yaml:"setup_commands"`
	// `mcp`: find tasks through the MCP server of the same name (`github` or `gitlab`). Needs the list of projects.
	TasksVia string `yaml:"tasks_via" default:"api" oneof:"api|mcp"`
	// `mcp`: read comments through that MCP server. The agent still writes through the API, which needs the token.
	CommentsVia string `yaml:"comments_via" default:"api" oneof:"api|mcp"`
	// Least time between two writes, in milliseconds. On loopback 0 unless set.
	WriteIntervalMS int `yaml:"write_interval_ms" default:"1000" max:"3600000"`

	// Directory of the tasks: Markdown files, see docs/files.md. On a local disk.
	Directory string `yaml:"directory" path:"abs"`
	// Name of the directory in the keys of its tasks, as `inbox` in `files/inbox/tasks/12`. Empty: the last part of its path.
	Name string `yaml:"name"`
	// Repository that the agent works on: a local path, or a URL that needs no token. Empty: the git repository that the directory lies in.
	Repository string `yaml:"repository" path:"repository"`
	// Push the branch of a change to that repository. Otherwise the work ends as a patch beside the log.
	Push bool `yaml:"push"`

	AdoptWaitSeconds int `yaml:"-"` // adopt_wait_seconds, or 0 for a loopback host if that is not set
}

// App is an app that acts instead of an account.
type App struct {
	// Id of an app that is used instead of a token. 0: none.
	ID int `yaml:"id"`
	// Private key of the app as PEM, mode 0600.
	KeyFile string `yaml:"key_file" path:"abs"`
	// Id of the app's installation.
	InstallationID int `yaml:"installation_id"`
}

// Keys that only kinds with a server have, and those that only local kinds have.
var (
	remoteKeys = []string{"api_url", "personal_access_token", "token_command", "app", "owner", "projects", "assignee", "clone_from", "tasks_via", "comments_via", "write_interval_ms"}
	localKeys  = []string{"directory", "name", "repository", "push"}
)

// keyName is how this kind of forge names a key, "" if it has none such.
func (f Forge) keyName(key string) string {
	switch {
	case f.Driver.Local && slices.Contains(remoteKeys, key), !f.Driver.Local && slices.Contains(localKeys, key):
		return ""
	case key == "projects":
		return f.Driver.ProjectsKey
	case key == "app" && !f.Driver.Apps:
		return ""
	}
	return key
}

// Env is the variable that sets a key of the first entry of the section.
func (f Forge) Env(key string) string { return f.Driver.Env(key) }

// Triggers are the labels that make an item a task.
func (f Forge) Triggers() []string { return append([]string{f.BotLabel}, f.TriggerLabels...) }

// Host is the host of the forge's task keys.
func (f Forge) Host() string {
	if f.Driver.Local {
		return f.Driver.Host(f.Name)
	}
	return f.Driver.Host(f.APIURL)
}

// Near reports whether the forge is this machine: nobody counts what is asked of it.
func (f Forge) Near() bool { return f.Driver.Local || Loopback(f.APIURL) }

// Options are what the driver makes a client from.
func (f Forge) Options(allowHTTP bool) forge.Options {
	o := forge.Options{APIURL: f.APIURL, Token: f.Token, Owner: f.Owner, Projects: f.Projects, Assignee: f.Assignee,
		Directory: f.Directory, Name: f.Name, Repository: f.Repository, Push: f.Push, BotName: f.BotName, AllowHTTP: allowHTTP, WriteInterval: time.Duration(f.WriteIntervalMS) * time.Millisecond}
	if f.App.ID != 0 {
		o.App = &forge.App{ID: int64(f.App.ID), KeyFile: f.App.KeyFile, InstallationID: int64(f.App.InstallationID)}
	}
	return o
}
