package github

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"agent/forge"
	"agent/forge/rest"
)

// Driver registers GitHub and GitHub Enterprise Server.
var Driver = forge.Driver{
	Name: "github", Title: "GitHub", APIURL: "https://api.github.com",
	IsAPI: isAPI, Host: keyHost,
	Issue: forge.GitHubIssue, Change: forge.GitHubPullRequest,
	ChangeRef:   func(number int) string { return fmt.Sprintf("refs/pull/%d/head", number) },
	ProjectsKey: "repositories", ProjectForm: "owner/repo", ValidProject: validProject,
	Searches: true, Apps: true,
	Obsolete:  map[string]string{"query": "see owner, repositories and assignee"},
	Hook:      hook,
	New:       newConn,
	TokenPath: "/rate_limit", Scopes: scopes, WantScopes: []string{"repo", "public_repo"},
	LabelsPath: func(project string) string { return "/repos/" + project + "/labels" },
	LabelBody: func(l forge.Label) map[string]string {
		return map[string]string{"name": l.Name, "color": l.Color, "description": l.Description}
	},
}

func newConn(o forge.Options) (forge.Conn, error) {
	var app *App
	if o.App != nil {
		app = &App{ID: o.App.ID, KeyFile: o.App.KeyFile, InstallationID: o.App.InstallationID}
	}
	client, err := New(Config{APIURL: o.APIURL, Token: o.Token, App: app, Owner: o.Owner, Repositories: o.Projects,
		Assignee: o.Assignee, BotName: o.BotName, AllowHTTP: o.AllowHTTP, WriteInterval: o.WriteInterval,
		Disk: rest.NewDisk(o.AnswersDir, o.Secret)})
	if err != nil {
		return nil, err // a nil *Client would be no nil Conn
	}
	return client, nil
}

const apiPath = "/api/v3" // of GitHub Enterprise Server

func isAPI(apiURL string) bool {
	host := forge.HostOf(apiURL, "")
	return host == "api.github.com" || strings.HasSuffix(host, ".ghe.com") || strings.HasSuffix(host, apiPath)
}

// keyHost is the host of the web pages, with a path that precedes /api/v3.
func keyHost(apiURL string) string {
	host := forge.HostOf(apiURL, apiPath)
	if host == "api.github.com" || strings.HasSuffix(host, ".ghe.com") {
		return strings.TrimPrefix(host, "api.")
	}
	return host
}

// scopes are in the header of every answer to a classic token, empty for one without
// any; other tokens have permissions instead, and no such header.
func scopes(_ context.Context, _ forge.Get, header http.Header) ([]string, bool) {
	_, said := header["X-Oauth-Scopes"]
	return strings.FieldsFunc(header.Get("X-Oauth-Scopes"), func(r rune) bool { return r == ',' || r == ' ' }), said
}
