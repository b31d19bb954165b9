package world

import (
	"fmt"
	"maps"
	"slices"

	"agent/forge/forgetest"
)

// Forge is a fake forge with one private project, of which alice is a member. It is
// itself the first issue in it.
type Forge interface {
	Item
	Host() string                        // of task keys
	Open(title, body string) int         // alice opens an issue with the label, and it gets a number
	Issue(number int) Item               // one that was opened
	Key(number int) string               // its task key
	Changes() []forgetest.Change         // the requests of the project
	Fault(f forgetest.Fault)             // makes requests fail
	ClearFaults()                        // ends that
	Watch(seen func(forgetest.Exchange)) // hears of each request
	Close()

	config() string // its section of the configuration
}

// Item is one issue.
type Item interface {
	Comment(author, body string)
	Label() // gives it the label again
	Unlabel(names ...string)
	Labels() []string
	Labelled(login string) map[string]int // how often somebody gave each label
	Comments() []Comment                  // without those that the forge itself wrote
}

// Comment is one on an issue, with the agent's hidden marker if it has one.
type Comment struct {
	ID           string
	Author, Body string
}

// forges are the fakes, by the name of the driver of the real one. clone is where
// the project is cloned from if not over HTTP.
var forges = map[string]func(origin, clone string) Forge{
	"github": newGitHub,
	"gitlab": newGitLab,
}

// Forges lists the names of the kinds of forge.
func Forges() []string { return slices.Sorted(maps.Keys(forges)) }

func newForge(name, origin string, local bool) (Forge, error) {
	build, ok := forges[name]
	if !ok {
		return nil, fmt.Errorf("there is no fake of the forge %q", name)
	}
	if local {
		return build("", origin), nil
	}
	return build(origin, ""), nil
}

type gitHub struct {
	*forgetest.Server
	gitHubIssue
}

type gitHubIssue struct {
	server *forgetest.Server
	number int
}

const repository = "demo/sum"

func newGitHub(origin, clone string) Forge {
	s := forgetest.New()
	s.AddToken(Token, Bot)
	s.AddRepository(repository, forgetest.Repository{Git: origin, CloneURL: clone, Private: true})
	s.SetPermission(repository, "alice", "write")
	return gitHub{s, gitHubIssue{s, 1}}
}

func (g gitHub) Open(title, body string) int {
	return g.AddIssue(repository, title, body, "alice", Label)
}
func (g gitHub) Issue(number int) Item { return gitHubIssue{g.Server, number} }
func (g gitHub) Key(number int) string {
	return fmt.Sprintf("%s/%s/issues/%d", g.Host(), repository, number)
}
func (g gitHub) Changes() []forgetest.Change { return g.PullRequests(repository) }
func (g gitHub) Labels() []string            { return g.gitHubIssue.Labels() }
func (g gitHub) Labelled(login string) map[string]int {
	return g.gitHubIssue.Labelled(login)
}
func (g gitHub) Comments() []Comment { return g.gitHubIssue.Comments() }

func (i gitHubIssue) Comment(author, body string) {
	i.server.AddComment(repository, i.number, author, body)
}
func (i gitHubIssue) Label()                  { i.server.AddLabels(repository, i.number, Label) }
func (i gitHubIssue) Unlabel(names ...string) { i.server.RemoveLabels(repository, i.number, names...) }
func (i gitHubIssue) Labels() []string        { return i.server.Labels(repository, i.number) }

func (i gitHubIssue) Labelled(login string) map[string]int {
	return i.server.Labelled(repository, i.number, login)
}

func (i gitHubIssue) Comments() (all []Comment) {
	for _, c := range i.server.Comments(repository, i.number) {
		all = append(all, Comment{fmt.Sprint(c.ID), c.Author, c.Body})
	}
	return all
}

func (g gitHub) config() string {
	return fmt.Sprintf("github:\n  api_url: %s\n  personal_access_token: %s\n  repositories: [%s]\n  bot_name: %s\n", g.URL(), Token, repository, Bot)
}

type gitLab struct {
	*forgetest.GitLab
	gitLabIssue
}

type gitLabIssue struct {
	server *forgetest.GitLab
	iid    int
}

const project = "demo/team/sum"

func newGitLab(origin, clone string) Forge {
	s := forgetest.NewGitLab()
	s.AddToken(Token, Bot)
	s.AddProject(project, forgetest.Project{Git: origin, CloneURL: clone, Private: true})
	s.SetAccess(project, "alice", forgetest.Developer)
	return gitLab{s, gitLabIssue{s, 1}}
}

func (g gitLab) Open(title, body string) int {
	return g.AddIssue(project, title, body, "alice", Label).IID()
}
func (g gitLab) Issue(number int) Item { return gitLabIssue{g.GitLab, number} }
func (g gitLab) Key(number int) string {
	return fmt.Sprintf("%s/%s/-/issues/%d", g.Host(), project, number)
}
func (g gitLab) Changes() []forgetest.Change { return g.MergeRequestList(project) }

func (i gitLabIssue) item() *forgetest.Item       { return i.server.Issue(project, i.iid) }
func (i gitLabIssue) Comment(author, body string) { i.item().AddNote(author, body) }
func (i gitLabIssue) Label()                      { i.item().AddLabels(Label) }
func (i gitLabIssue) Unlabel(names ...string)     { i.item().RemoveLabels(names...) }
func (i gitLabIssue) Labels() []string            { return i.item().Labels() }

func (i gitLabIssue) Labelled(login string) map[string]int { return i.item().Labelled(login) }

func (i gitLabIssue) Comments() (all []Comment) {
	for _, n := range i.item().Notes() {
		if !n.System {
			all = append(all, Comment{fmt.Sprint(n.ID), n.Author, n.Body})
		}
	}
	return all
}

func (g gitLab) config() string {
	return fmt.Sprintf("gitlab:\n  api_url: %s\n  personal_access_token: %s\n  projects: [%s]\n  bot_name: %s\n", g.URL(), Token, project, Bot)
}
