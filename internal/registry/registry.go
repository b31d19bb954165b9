// Package registry lists the kinds of forges and of model servers that this
// program knows. To add one, write its adapter with a Driver and add a line here.
//
// The tables change in tests only, before anything else runs.
package registry

import (
	"slices"

	"agent/forge"
	"agent/forge/files"
	"agent/forge/github"
	"agent/forge/gitlab"
	"agent/llm"
	"agent/llm/anthropic"
	"agent/llm/lmstudio"
	"agent/llm/ollama"
	"agent/llm/openai"
)

// Forges are the kinds of forges; the first is the default.
var Forges = []forge.Driver{
	github.Driver,
	gitlab.Driver,
	files.Driver,
}

// Providers are the kinds of model servers; the first is the default.
var Providers = []llm.Driver{
	openai.Driver,
	ollama.Driver,
	lmstudio.Driver,
	anthropic.Driver,
}

// Forge finds a kind of forge by its name.
func Forge(name string) (forge.Driver, bool) {
	i := slices.IndexFunc(Forges, func(d forge.Driver) bool { return d.Name == name })
	if i < 0 {
		return forge.Driver{}, false
	}
	return Forges[i], true
}

// Provider finds a kind of model server by its name.
func Provider(name string) (llm.Driver, bool) {
	i := slices.IndexFunc(Providers, func(d llm.Driver) bool { return d.Name == name })
	if i < 0 {
		return llm.Driver{}, false
	}
	return Providers[i], true
}

// ForgeOfURL guesses the kind of forge from an API URL; if none fits, it is the default.
func ForgeOfURL(apiURL string) forge.Driver {
	i := slices.IndexFunc(Forges, func(d forge.Driver) bool { return !d.Local && d.IsAPI(apiURL) })
	return Forges[max(i, 0)]
}

// ForgeNames are the names in the order of the table.
func ForgeNames() []string {
	names := make([]string, len(Forges))
	for i, d := range Forges {
		names[i] = d.Name
	}
	return names
}

// RemoteForges are the names of those that are reached over the network.
func RemoteForges() (names []string) {
	for _, d := range Forges {
		if !d.Local {
			names = append(names, d.Name)
		}
	}
	return names
}

// ProviderNames are the names in the order of the table.
func ProviderNames() []string {
	names := make([]string, len(Providers))
	for i, d := range Providers {
		names[i] = d.Name
	}
	return names
}
