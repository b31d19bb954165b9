package llm

import (
	"strings"
	"time"
)

// Driver is one kind of model server: all that differs between kinds outside of
// [Provider]. Each adapter exports one, and package registry lists them. Code
// elsewhere asks the driver and never compares names.
type Driver struct {
	Name  string // "ollama": value of llm.provider, name of its section llm.<name>
	Title string // "Ollama", for people

	URLKey        string   // key of the server's address in the section: "base_url"
	URL           string   // default of that key
	Model         string   // default of model; empty: the operator must name one
	ContextLength int      // default of context_length, in tokens
	Key           bool     // the section has an api_key; only a loopback server may do without its value
	Keys          []string // further keys of the section that not every kind has

	HostEnv string // variable that tells the server itself where to listen, "" if there is none

	FixURL func(string) string // completes an address that people shorten; nil: nothing to complete
	Path   string              // what a check asks first, below the address: "/models". For hints
	Hints  Hints

	// Profile names the profile that fits a server, see [Profiles]; nil: the kind has one way only.
	Profile func(Options) string

	New func(Options) (Provider, error) // checks the options; sends nothing. Usually also a [Checker]
}

// Options are what a provider of any kind is made from.
type Options struct {
	URL       string
	APIKey    string // secret
	Model     string
	Timeout   time.Duration // of a whole call
	AllowHTTP bool          // http also to hosts that are not loopback
	Profile   string        // name of a profile; "auto" or empty: what fits
	API       string        // which API is used, of kinds with several
	Version   string        // of the API, where the address names one
	Auth      string        // how the key is sent, of kinds with several ways
	Thinking  int           // tokens of thinking to ask for, of kinds where it is asked for; 0: none
	Window    int           // tokens of the model's window
}

// Hints are ids of texts in package i18n that say what to do about a failed
// check. Empty ones are replaced by general texts.
type Hints struct {
	Unreachable string // no arguments
	Absent      string // argument: the model's name
	NotFound    string // the address is wrong; argument: its key
}

// Env is the environment variable that sets a key of the section:
// "OPENAI_API_KEY" for "api_key".
func (d Driver) Env(key string) string { return strings.ToUpper(d.Name + "_" + key) }

// KeyEnv is the variable of api_key, "" for servers that take no key.
func (d Driver) KeyEnv() string {
	if !d.Key {
		return ""
	}
	return d.Env("api_key")
}

// URLPath is the configuration path of the address: "llm.openai.base_url".
func (d Driver) URLPath() string { return "llm." + d.Name + "." + d.URLKey }
