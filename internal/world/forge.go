package world

import (
	"fmt"
	"maps"
	"slices"

	"agent/forge/forgetest"
)

// Forge is a fake forge with one private project, of which alice is a member,
// and one issue in it.
type Forge interface {
	Host() string            // of task keys
	Open(title, body string) // alice opens the issue, with the label
	Comment(author, body string)
	Label() // labels the issue again
	Labels() []string
	Comments() []Comment // without those that the forge itself wrote
	Changes() []forgetest.Change
	Close()

	config() string // its section of the configuration
}

// Comment is one on the issue, with the agent's hidden marker if it has one.
type Comment struct{ Author, Body string }

// forges are the fakes, by the name of the driver of the real one. clone is where
// the project is cloned from if not over HTTP.
var forges = map[string]func(origin, clone string) Forge{
	"github": newGitHub,
	"gitlab": newGitLab,
}

// Forges lists the names of the kinds of forge.
func Forges() []string { return slices.Sorted(maps.Keys(forges)) }

func newForge(name, origin string, local bool) (Forge, error) {
	if name == "" {
		name = "github"
	}
	build, ok := forges[name]
	if !ok {
		return nil, fmt.Errorf("there is no fake of the forge %q", name)
	}
	if local {
		return build("", origin), nil
	}
	return build(origin, ""), nil
}

type gitHub struct{ *forgetest.Server }

const repository = "demo/sum"

func newGitHub(origin, clone string) Forge {
	s := forgetest.New()
	s.AddToken(token, Bot)
	s.AddRepository(repository, forgetest.Repository{Git: origin, CloneURL: clone, Private: true})
	s.SetPermission(repository, "alice", "write")
	return gitHub{s}
}

func (g gitHub) Open(title, body string)     { g.AddIssue(repository, title, body, "alice", Label) }
func (g gitHub) Comment(author, body string) { g.AddComment(repository, 1, author, body) }
func (g gitHub) Label()                      { g.AddLabels(repository, 1, Label) }
func (g gitHub) Labels() []string            { return g.Server.Labels(repository, 1) }
func (g gitHub) Changes() []forgetest.Change { return g.PullRequests(repository) }

func (g gitHub) Comments() (all []Comment) {
	for _, c := range g.Server.Comments(repository, 1) {
		all = append(all, Comment{c.Author, c.Body})
	}
	return all
}

func (g gitHub) config() string {
	return fmt.Sprintf("github:\n  api_url: %s\n  personal_access_token: %s\n  repositories: [%s]\n  bot_name: %s\n", g.URL(), token, repository, Bot)
}

type gitLab struct {
	server *forgetest.GitLab
	issue  *forgetest.Item
}

const project = "demo/team/sum"

func newGitLab(origin, clone string) Forge {
	s := forgetest.NewGitLab()
	s.AddToken(token, Bot)
	s.AddProject(project, forgetest.Project{Git: origin, CloneURL: clone, Private: true})
	s.SetAccess(project, "alice", forgetest.Developer)
	return &gitLab{server: s}
}

func (g *gitLab) Host() string { return g.server.Host() }
func (g *gitLab) Open(title, body string) {
	g.issue = g.server.AddIssue(project, title, body, "alice", Label)
}
func (g *gitLab) Comment(author, body string) { g.issue.AddNote(author, body) }
func (g *gitLab) Label()                      { g.issue.AddLabels(Label) }
func (g *gitLab) Labels() []string            { return g.issue.Labels() }
func (g *gitLab) Changes() []forgetest.Change { return g.server.MergeRequestList(project) }
func (g *gitLab) Close()                      { g.server.Close() }

func (g *gitLab) Comments() (all []Comment) {
	for _, n := range g.issue.Notes() {
		if !n.System {
			all = append(all, Comment{n.Author, n.Body})
		}
	}
	return all
}

func (g *gitLab) config() string {
	return fmt.Sprintf("task_source: gitlab\ngitlab:\n  api_url: %s\n  personal_access_token: %s\n  projects: [%s]\n  bot_name: %s\n", g.server.URL(), token, project, Bot)
}
