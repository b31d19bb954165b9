package config

import (
	"context"
	"slices"
	"strings"
	"testing"

	"agent/forge"
	"agent/internal/registry"
	"agent/llm"
)

// toyForge is a kind of forge that nobody knows, made from one that exists.
func toyForge() forge.Driver {
	d := registry.Forges[0]
	d.Name, d.Title, d.APIURL, d.ProjectsKey, d.Apps = "toyforge", "Toy Forge", "https://toy.example.com/api", "toys", false
	d.ProjectForm, d.ValidProject = "toy:name", func(name string) bool { return strings.HasPrefix(name, "toy:") }
	d.Host = func(apiURL string) string { return forge.HostOf(apiURL, "/api") }
	d.Obsolete = map[string]string{"dolls": "see toys"}
	return d
}

// toyModel answers with the options it was made from.
type toyModel struct{ options llm.Options }

func (m toyModel) Complete(context.Context, llm.Request) (llm.Reply, error) {
	return llm.Reply{Text: m.options.URL + " " + m.options.Model + " " + m.options.APIKey}, nil
}

var toyProvider = llm.Driver{Name: "toymodel", Title: "Toy Model", URLKey: "socket", URL: "https://model.example.com", ContextLength: 2048, Key: true,
	New: func(o llm.Options) (llm.Provider, error) { return toyModel{o}, nil }}

// registerToys adds the two for one test, as a line in the registry would.
func registerToys(t *testing.T) {
	t.Helper()
	forges, providers := registry.Forges, registry.Providers
	t.Cleanup(func() { registry.Forges, registry.Providers = forges, providers })
	registry.Forges = append(slices.Clone(forges), toyForge())
	registry.Providers = append(slices.Clone(providers), toyProvider)
}

// A new kind of forge and a new kind of model server need one registration
// each: sections, keys, defaults, variables, checks and messages follow.
func TestToys(t *testing.T) {
	registerToys(t)
	c := mustLoad(t, `
task_source: [toyforge, github]
github: {owner: o, personal_access_token: tok-github-1}
toyforge:
  - {personal_access_token: tok-file, toys: ["toy:a", "toy:b"], setup_commands: {"toy:a": [[make]]}}
  - {personal_access_token: tok-2, toys: ["toy:c"], api_url: "http://127.0.0.1:1/api"}
llm: {provider: toymodel, toymodel: {model: m, api_key: "${K}"}}
`, map[string]string{"K": "key-toy-1", "TOYFORGE_PERSONAL_ACCESS_TOKEN": "tok-env", "TOYMODEL_SOCKET": "https://m2.example.com"})
	forges := c.Forges()
	if len(forges) != 3 || forges[0].Kind != "toyforge" || forges[0].APIURL != "https://toy.example.com/api" || forges[0].Token != "tok-env" || forges[0].DoneLabel != "coding agent done" {
		t.Fatalf("%d forges, the first is %s at %s", len(forges), forges[0].Kind, forges[0].APIURL)
	}
	if forges[0].Host() != "toy.example.com" || forges[1].WriteIntervalMS != 0 || !slices.Equal(forges[0].Projects, []string{"toy:a", "toy:b"}) {
		t.Errorf("host %s, interval %d, projects %v", forges[0].Host(), forges[1].WriteIntervalMS, forges[0].Projects)
	}
	if c.Replaced("toyforge[0].personal_access_token") != "TOYFORGE_PERSONAL_ACCESS_TOKEN" {
		t.Error("the variable replaced a value")
	}
	if got := c.Secrets(); !slices.Contains(got, "tok-env") || !slices.Contains(got, "key-toy-1") {
		t.Errorf("%d secrets", len(got))
	}
	p := c.LLM.Active()
	model, err := p.Driver.New(llm.Options{URL: p.URL, Model: p.Model, APIKey: p.APIKey})
	if err != nil {
		t.Fatal(err)
	}
	if reply, err := model.Complete(t.Context(), llm.Request{}); err != nil || reply.Text != "https://m2.example.com m key-toy-1" || p.ContextLength != 2048 {
		t.Errorf("%q, %v, window %d", reply.Text, err, p.ContextLength)
	}
	var paths []string
	for _, k := range Keys() {
		paths = append(paths, k.Path)
	}
	if !slices.Contains(paths, "toyforge.toys") || slices.Contains(paths, "toyforge.app.id") || !slices.Contains(paths, "llm.toymodel.socket") {
		t.Error("the table of keys lacks them")
	}
}

func TestToysAreChecked(t *testing.T) {
	registerToys(t)
	for text, want := range map[string]string{
		"toyforge: {repositories: [a/b]}":                              `unknown key "repositories": did you mean "toys"?`,
		"toyforge: {app: {id: 1}}":                                     `unknown key "app"`,
		"task_source: toyforge\ntoyforge: {toys: [a/b]}":               ":2: toyforge.toys: each must be written as toy:name",
		"task_source: toyforge\ntoyforge: {toys: ['toy:a']}":           "set it, or the environment variable TOYFORGE_PERSONAL_ACCESS_TOKEN",
		"llm: {provider: toymodel, toymodel: {base_url: 'https://x'}}": `unknown key "base_url": did you mean "socket"?`,
		"llm: {toymodel: {model: m}}":                                  "llm.toymodel is set but llm.provider is openai: set provider: toymodel",
		"llm: {provider: toymodl}":                                     `did you mean "toymodel"?`,
		"task_source: [toyforg]":                                       `did you mean "toyforge"?`,
	} {
		if _, _, err := load(t, text, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, warnings, _ := load(t, "toyforge: {dolls: 1, toys: ['toy:a']}\n"+github, nil); len(warnings) != 1 || !strings.Contains(warnings[0].Text, "toyforge.dolls no longer does anything: see toys") {
		t.Errorf("%v", warnings)
	}
}
