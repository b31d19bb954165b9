package forgetest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Project holds the properties of a project. The zero value is public.
type Project struct {
	Private       bool
	Internal      bool   // visible to everybody with an account
	Archived      bool   // read-only
	NoIssues      bool   // without issues
	NoMerges      bool   // without merge requests
	CloneURL      string // default: the web URL with .git
	Git           string // a bare repository that is served there
	DefaultBranch string // default: main
	Files         map[string]string
}

// AddProject makes the project with this path, "group/sub-group/name", and returns its id.
func (g *GitLab) AddProject(path string, options Project) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !strings.Contains(path, "/") || g.named(path) != nil {
		panic(fmt.Sprintf("forgetest: project %q has no group or exists", path))
	}
	if options.DefaultBranch == "" {
		options.DefaultBranch = "main"
	}
	p := &project{id: g.nextID(), path: path, options: options, made: g.stamp(), levels: map[string]int{}}
	g.projects = append(g.projects, p)
	return p.id
}

// RenameProject gives a project another path. Reads of the old one are redirected.
func (g *GitLab) RenameProject(path, to string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.mustProject(path)
	p.former, p.path = append(p.former, p.path), to
}

// SetDefaultBranch names another branch, as a person does who renames it.
func (g *GitLab) SetDefaultBranch(path, branch string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mustProject(path).options.DefaultBranch = branch
}

// MoveIssue moves an issue to another project as login: there it is a new one with its
// text, notes and labels; the old one is closed and names its id.
// https://docs.gitlab.com/api/issues/#move-an-issue
func (g *GitLab) MoveIssue(old *Item, path, login string) *Item {
	g.mu.Lock()
	defer g.mu.Unlock()
	p, by := g.mustProject(path), g.account(login)
	var labels []string
	for _, l := range old.i.labels {
		labels = append(labels, l.name)
	}
	i := g.open(p, old.i.title, old.i.body, old.i.author, labels, nil)
	for _, n := range old.i.notes {
		copied := *n
		copied.id = g.nextID()
		i.notes = append(i.notes, &copied)
	}
	g.tell(i, by, fmt.Sprintf("moved from %s#%d", old.p.path, old.i.iid))
	g.tell(old.i, by, fmt.Sprintf("moved to %s#%d", p.path, i.iid))
	old.i.moved = i.id
	g.setState(old.i, "closed")
	return &Item{g: g, p: p, i: i}
}

// RemoveProject deletes a project with all it holds.
func (g *GitLab) RemoveProject(path string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.mustProject(path)
	g.projects = slices.DeleteFunc(g.projects, func(other *project) bool { return other == p })
}

// SetAccess makes login a member of the project with a level; [NoAccess] makes it a stranger.
func (g *GitLab) SetAccess(path, login string, level int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mustProject(path).levels[key(g.account(login).login)] = level
}

// AccountID is the id of an account, which is made if there is none.
func (g *GitLab) AccountID(login string) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.account(login).id
}

// AddLabel makes a label of the project.
func (g *GitLab) AddLabel(path, name, colour string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ensure(g.mustProject(path), name).color = colour
}

// ProjectLabels returns the labels of the project, in the order they were made, as name, colour and description.
func (g *GitLab) ProjectLabels(path string) [][3]string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all [][3]string
	for _, l := range g.mustProject(path).labels {
		all = append(all, [3]string{l.name, l.color, l.description})
	}
	return all
}

// AddIssue opens an issue. An empty author is a deleted account.
func (g *GitLab) AddIssue(path, title, body, author string, labels ...string) *Item {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.mustProject(path)
	return &Item{g: g, p: p, i: g.open(p, title, body, g.account(author), labels, nil)}
}

// AddMergeRequest opens a merge request between two branches of the project.
func (g *GitLab) AddMergeRequest(path, title, body, author, source, target string, labels ...string) *Item {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.mustProject(path)
	m := &merge{source: source, target: target, sourceProject: p.id}
	return &Item{g: g, p: p, i: g.open(p, title, body, g.account(author), labels, m)}
}

// Issue is an issue that exists.
func (g *GitLab) Issue(path string, iid int) *Item { return g.lookup(path, iid, false) }

// MergeRequest is a merge request that exists.
func (g *GitLab) MergeRequest(path string, iid int) *Item { return g.lookup(path, iid, true) }

// MergeRequestList returns all merge requests of the project, oldest first.
func (g *GitLab) MergeRequestList(path string) (all []Change) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, i := range g.mustProject(path).merges {
		c := Change{Number: i.iid, Title: i.title, Body: i.body, Head: i.merge.source, Base: i.merge.target, Draft: i.draft()}
		for _, a := range i.merge.reviewers {
			c.Reviewers = append(c.Reviewers, a.login)
		}
		all = append(all, c)
	}
	return all
}

// MergeRequests is how many merge requests the project has.
func (g *GitLab) MergeRequests(path string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.mustProject(path).merges)
}

func (g *GitLab) lookup(path string, iid int, merges bool) *Item {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.mustProject(path)
	list := p.list(merges)
	if iid < 1 || iid > len(list) {
		panic(fmt.Sprintf("forgetest: no item %d in %s", iid, path))
	}
	return &Item{g: g, p: p, i: list[iid-1]}
}

func (g *GitLab) mustProject(path string) *project {
	if p := g.named(path); p != nil {
		return p
	}
	panic(fmt.Sprintf("forgetest: no project %q", path))
}

// named takes a path, in any case, or an id.
func (g *GitLab) named(name string) *project {
	for _, p := range g.projects {
		if strings.EqualFold(p.path, name) || strconv.FormatInt(p.id, 10) == name {
			return p
		}
	}
	return nil
}

func (p *project) list(merges bool) []*item {
	if merges {
		return p.merges
	}
	return p.issues
}

func (g *GitLab) open(p *project, title, body string, author *account, labels []string, m *merge) *item {
	at := g.stamp()
	i := &item{
		id: g.nextID(), iid: len(p.list(m != nil)) + 1, title: title, body: body, author: author,
		state: "opened", made: at, updated: at, merge: m,
	}
	for _, name := range labels {
		l := g.ensure(p, name)
		i.labels = append(i.labels, l)
		i.labelled = append(i.labelled, labelled{id: g.nextID(), label: l, by: author, at: at})
	}
	if m != nil {
		p.merges = append(p.merges, i)
	} else {
		p.issues = append(p.issues, i)
	}
	return i
}
