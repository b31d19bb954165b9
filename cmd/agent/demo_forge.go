package main

import (
	"fmt"
	"strings"

	"agent/forge/forgetest"
)

// demoForge is the forge of the demo, with the one issue that it is about.
type demoForge interface {
	config() string // its section of config.yaml
	open(title, body string)
	say(author, body string)
	label()
	labels() []string
	remarks() []remark
	requests() []forgetest.Change
	close()
}

// remark is what somebody wrote on the issue.
type remark struct{ author, body string }

const (
	demoToken = "demo-token-0123456789"
	demoBot   = "demo-bot"
	demoLabel = "coding agent"
)

func newDemoForge(kind, origin string) demoForge {
	if kind == "gitlab" {
		g := &demoGitLab{server: forgetest.NewGitLab()}
		g.server.AddToken(demoToken, demoBot)
		g.server.AddProject("demo/team/sum", forgetest.Project{Git: origin, Private: true})
		g.server.SetAccess("demo/team/sum", "alice", forgetest.Developer)
		return g
	}
	g := &demoGitHub{server: forgetest.New()}
	g.server.AddToken(demoToken, demoBot)
	g.server.AddRepository("demo/sum", forgetest.Repository{Git: origin, Private: true})
	g.server.SetPermission("demo/sum", "alice", "write")
	return g
}

type demoGitHub struct{ server *forgetest.Server }

func (g *demoGitHub) config() string {
	return fmt.Sprintf("github:\n  api_url: %s\n  personal_access_token: %s\n  repositories: [demo/sum]\n  bot_name: %s\n", g.server.URL(), demoToken, demoBot)
}

func (g *demoGitHub) open(title, body string) {
	g.server.AddIssue("demo/sum", title, body, "alice", demoLabel)
}
func (g *demoGitHub) say(author, body string)      { g.server.AddComment("demo/sum", 1, author, body) }
func (g *demoGitHub) label()                       { g.server.AddLabels("demo/sum", 1, demoLabel) }
func (g *demoGitHub) labels() []string             { return g.server.Labels("demo/sum", 1) }
func (g *demoGitHub) requests() []forgetest.Change { return g.server.PullRequests("demo/sum") }
func (g *demoGitHub) close()                       { g.server.Close() }

func (g *demoGitHub) remarks() []remark {
	var all []remark
	for _, c := range g.server.Comments("demo/sum", 1) {
		all = append(all, remark{c.Author, unmarked(c.Body)})
	}
	return all
}

type demoGitLab struct {
	server *forgetest.GitLab
	issue  *forgetest.Item
}

func (g *demoGitLab) config() string {
	return fmt.Sprintf("task_source: gitlab\ngitlab:\n  api_url: %s\n  personal_access_token: %s\n  projects: [demo/team/sum]\n  bot_name: %s\n", g.server.URL(), demoToken, demoBot)
}

func (g *demoGitLab) open(title, body string) {
	g.issue = g.server.AddIssue("demo/team/sum", title, body, "alice", demoLabel)
}
func (g *demoGitLab) say(author, body string) { g.issue.AddNote(author, body) }
func (g *demoGitLab) label()                  { g.issue.AddLabels(demoLabel) }
func (g *demoGitLab) labels() []string        { return g.issue.Labels() }
func (g *demoGitLab) requests() []forgetest.Change {
	return g.server.MergeRequestList("demo/team/sum")
}
func (g *demoGitLab) close() { g.server.Close() }

func (g *demoGitLab) remarks() []remark {
	var all []remark
	for _, n := range g.issue.Notes() {
		if !n.System {
			all = append(all, remark{n.Author, unmarked(n.Body)})
		}
	}
	return all
}

// unmarked leaves out the hidden marker, as a browser does.
func unmarked(body string) string {
	text, _, _ := strings.Cut(body, "\n\n<!-- agent ")
	return text
}
