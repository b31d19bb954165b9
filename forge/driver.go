package forge

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Driver is one kind of forge: all that differs between kinds outside of
// [Client]. Each adapter exports one, and package registry lists them. Code
// elsewhere asks the driver and never compares names.
type Driver struct {
	Name   string // "github": section of the configuration, value of task_source, name of its MCP server
	Title  string // "GitHub", for people
	APIURL string // default of api_url

	// Local marks a kind whose tasks lie in a directory of this machine. It has no API and
	// no token: APIURL, IsAPI and what is for `agent doctor` are empty.
	Local bool

	// IsAPI reports whether an API URL looks like one of this kind. It is a guess
	// for `agent init`; two kinds may both say yes.
	IsAPI func(apiURL string) bool
	// Host is the host of the task keys for an API URL, without a connection:
	// "github.com" for "https://api.github.com". A Local kind is given the name of the directory.
	Host func(apiURL string) string

	Issue, Change Kind                    // kinds of its task keys
	ChangeRef     func(number int) string // git ref of the head of a change, also one from a fork

	ProjectsKey  string            // configuration key of the list of projects: "repositories"
	ProjectForm  string            // how a project is written: "owner/repo"
	ValidProject func(string) bool // whether a name can be that of a project
	QuickActions bool              // lines of comments that begin with a slash are commands to the forge itself
	Searches     bool              // tasks are searched for if no project is listed
	Apps         bool              // an App can act instead of a token
	LabelForbids string            // characters that no label may hold
	Obsolete     map[string]string // keys of the section that earlier programs had, and what to see instead ("": nothing)

	New  func(Options) (Conn, error) // checks the options; sends nothing
	Hook *Hook                       // nil if it tells nothing by itself

	// The rest is for `agent doctor` and `agent init --create-labels`. Paths begin
	// with a slash and are below the API URL.

	TokenPath  string                                                                     // GET with any valid token is 200; the headers tell the clock and the rate limit
	Scopes     func(ctx context.Context, get Get, tokenPath http.Header) ([]string, bool) // scopes of the token; false if the forge does not say. tokenPath is the header of that answer
	WantScopes []string                                                                   // one of these is enough
	LabelsPath func(project string) string                                                // GET below it, by escaped name; POST to make one: 201
	LabelBody  func(Label) map[string]string                                              // JSON body of that POST
}

// Options are what a client of any kind is made from. Kinds ignore what they
// do not know.
type Options struct {
	APIURL        string
	Token         string // secret; empty if App is set
	App           *App
	Owner         string   // whose projects are searched if Projects is empty
	Projects      []string // as Driver.ValidProject accepts them
	Assignee      string   // if set, only tasks of this login
	BotName       string   // login of the token's account
	AllowHTTP     bool     // http also to hosts that are not loopback
	WriteInterval time.Duration
	AnswersDir    string            // keeps answers for later processes; "": nothing is kept
	Secret        func(string) bool // whether a text holds a secret; nil: none does

	// Of kinds that are Local.
	Directory  string // of the tasks, absolute
	Name       string // of the directory, in task keys
	Repository string // local path or URL; "": the one that the directory lies in
	Push       bool   // changes are pushed there
	Operator   string // whose a task is that names no author
	ReadOnly   bool   // nothing is written
}

// App is an application that is installed on the forge and acts instead of a token.
type App struct {
	ID             int64
	KeyFile        string // its private key as PEM, readable by its owner only
	InstallationID int64
}

// Conn is a client with what is needed beside it. A Driver makes one.
type Conn interface {
	Client
	Host() string                              // of its task keys
	Token(ctx context.Context) (string, error) // valid now, for git
	Close()                                    // ends idle connections
}

// Get reads a path below the API URL with the token. A status other than 200 is no error.
type Get func(ctx context.Context, path string) (status int, body []byte, err error)

// Env is the environment variable that sets a key of the first entry of the
// section: "GITHUB_API_URL" for "api_url".
func (d Driver) Env(key string) string { return strings.ToUpper(d.Name + "_" + key) }

// TokenEnv is the variable of personal_access_token.
func (d Driver) TokenEnv() string { return d.Env("personal_access_token") }

// HostOf is the lower-case host of a URL, and its path without apiPath: what
// most kinds have as the host of their task keys.
func HostOf(apiURL, apiPath string) string {
	u, err := url.Parse(apiURL)
	if err != nil {
		return apiURL
	}
	return strings.ToLower(u.Host) + strings.TrimSuffix(strings.TrimRight(u.Path, "/"), apiPath)
}
