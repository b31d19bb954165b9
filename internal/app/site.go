package app

import (
	"context"
	"net/url"
	"strings"
	"time"

	"agent/forge"
	"agent/forge/github"
	"agent/forge/gitlab"
	"agent/internal/config"
)

// Site is one configured forge.
type Site struct {
	Config config.Forge
	Client forge.Client
	Host   string                                // of its task keys
	Token  func(context.Context) (string, error) // for git
}

func (a *App) newSite(f config.Forge) (Site, error) {
	interval := time.Duration(f.WriteIntervalMS) * time.Millisecond
	if f.Kind == "gitlab" {
		client, err := gitlab.New(gitlab.Config{APIURL: f.APIURL, Token: f.Token, Projects: f.Projects,
			Assignee: f.Assignee, AllowHTTP: a.Config.AllowHTTP, WriteInterval: interval})
		if err != nil {
			return Site{}, err
		}
		return Site{f, client, client.Host(), func(context.Context) (string, error) { return f.Token, nil }}, nil
	}
	var app *github.App
	if f.App.ID != 0 {
		app = &github.App{ID: int64(f.App.ID), KeyFile: f.App.KeyFile, InstallationID: int64(f.App.InstallationID)}
	}
	client, err := github.New(github.Config{APIURL: f.APIURL, Token: f.Token, App: app, Owner: f.Owner, Repositories: f.Repositories,
		Assignee: f.Assignee, BotName: f.BotName, AllowHTTP: a.Config.AllowHTTP, WriteInterval: interval})
	if err != nil {
		return Site{}, err
	}
	return Site{f, client, client.Host(), client.Token}, nil
}

// Site finds the forge with a host.
func (a *App) Site(host string) (Site, bool) {
	for _, at := range a.Sites {
		if at.Host == host {
			return at, true
		}
	}
	return Site{}, false
}

// Projects are those that the section of the configuration names, none for all.
func (at Site) Projects() []string { return Projects(at.Config) }

// Projects are those that a forge's section names, none for all.
func Projects(f config.Forge) []string {
	if f.Kind == "gitlab" {
		return f.Projects
	}
	return f.Repositories
}

// Host is the host of a forge's task keys, for commands that need no client.
func Host(f config.Forge) string {
	u, err := url.Parse(f.APIURL)
	if err != nil {
		return f.APIURL
	}
	host, path := strings.ToLower(u.Host), strings.TrimRight(u.Path, "/")
	for _, api := range []string{"/api/v3", "/api/v4"} {
		path = strings.TrimSuffix(path, api)
	}
	if host == "api.github.com" || f.Kind == "github" && strings.HasSuffix(host, ".ghe.com") {
		host = strings.TrimPrefix(host, "api.")
	}
	return host + path
}

// Hosts are the hosts of all configured forges.
func Hosts(cfg *config.Config) []string {
	var hosts []string
	for _, f := range cfg.Forges() {
		hosts = append(hosts, Host(f))
	}
	return hosts
}
