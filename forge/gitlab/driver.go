package gitlab

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"agent/forge"
	"agent/forge/rest"
	"agent/internal/lazyregexp"
)

// Driver registers gitlab.com and self-managed GitLabs.
var Driver = forge.Driver{
	Name: "gitlab", Title: "GitLab", APIURL: "https://gitlab.com/api/v4",
	IsAPI: isAPI,
	Host:  func(apiURL string) string { return forge.HostOf(apiURL, apiPath) },
	Issue: forge.GitLabIssue, Change: forge.GitLabMergeRequest,
	ChangeRef:   func(number int) string { return fmt.Sprintf("refs/merge-requests/%d/head", number) },
	ProjectsKey: "projects", ProjectForm: "group/project", ValidProject: nameOrID,
	LabelForbids: ",", QuickActions: true, // /approve approves the merge request
	Obsolete: map[string]string{"query": "see projects and assignee", "project_id": "see projects",
		"discussion_per_page": "", "discussion_max_pages": "", "mr_notes_per_page": "", "mr_notes_max_pages": ""},
	Hook:      hook,
	New:       newConn,
	TokenPath: "/user", Scopes: scopes, WantScopes: []string{"api"},
	LabelsPath: func(project string) string { return "/projects/" + url.PathEscape(project) + "/labels" },
	LabelBody: func(l forge.Label) map[string]string {
		return map[string]string{"name": l.Name, "color": "#" + l.Color, "description": l.Description}
	},
}

func newConn(o forge.Options) (forge.Conn, error) {
	client, err := New(Config{APIURL: o.APIURL, Token: o.Token, Projects: o.Projects, Assignee: o.Assignee,
		AllowHTTP: o.AllowHTTP, WriteInterval: o.WriteInterval, Disk: rest.NewDisk(o.AnswersDir, o.Secret)})
	if err != nil {
		return nil, err // a nil *Client would be no nil Conn
	}
	return client, nil
}

// Token is the configured one, for git.
func (c *Client) Token(context.Context) (string, error) { return c.cfg.Token, nil }

func isAPI(apiURL string) bool {
	return strings.Contains(apiURL, "gitlab") || strings.HasSuffix(strings.TrimRight(apiURL, "/"), apiPath)
}

// project is compiled at its first use: with its classes of letters it takes long.
var project = lazyregexp.New(`^([0-9]+|[\pL\pN_][\pL\pN_.-]*(/[\pL\pN_][\pL\pN_.-]*)+)$`)

func nameOrID(name string) bool { return project.MatchString(name) }

// scopes asks for them. Project and group access tokens answer as well; job tokens and
// a GitLab before 15.5 do not.
func scopes(ctx context.Context, get forge.Get, _ http.Header) ([]string, bool) {
	var self struct {
		Scopes []string `json:"scopes"`
	}
	status, body, err := get(ctx, "/personal_access_tokens/self")
	if err != nil || status != http.StatusOK || json.Unmarshal(body, &self) != nil {
		return nil, false
	}
	return self.Scopes, true
}
