package forgetest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

func (g *GitLab) getSelf(c *call) reply {
	if c.account == nil {
		return gitlabProblem(http.StatusUnauthorized, "")
	}
	return ok(c.ownUser(c.account))
}

func (g *GitLab) listUsers(c *call) reply {
	if c.account == nil {
		return gitlabForbidden()
	}
	name, search := c.URL.Query().Get("username"), strings.ToLower(c.URL.Query().Get("search"))
	var found []object
	for _, a := range g.people() {
		if (name == "" || strings.EqualFold(name, a.login)) && strings.Contains(key(a.login), search) {
			found = append(found, c.basicUser(a).(object))
		}
	}
	return numbered(c, found)
}

// people are all accounts in the order of their ids.
func (g *GitLab) people() []*account {
	var all []*account
	for _, a := range g.accounts {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b *account) int { return int(a.id - b.id) })
	return all
}

func (g *GitLab) userOf(c *call) *account {
	for _, a := range g.accounts {
		if strconv.FormatInt(a.id, 10) == c.PathValue("user") {
			return a
		}
	}
	return nil
}

func (g *GitLab) getUser(c *call) reply {
	a := g.userOf(c)
	if a == nil {
		return gitlabProblem(http.StatusNotFound, "404 User Not Found")
	}
	return ok(c.fullUser(a))
}

func (g *GitLab) listProjects(c *call) reply {
	search := strings.ToLower(c.URL.Query().Get("search"))
	var found []object
	for _, p := range g.projects {
		if g.sees(p, c.account) && strings.Contains(strings.ToLower(p.path), search) {
			found = append(found, g.projectShape(c, p))
		}
	}
	return numbered(c, found)
}

func (g *GitLab) getProject(c *call, p *project) reply { return ok(g.projectShape(c, p)) }

func (g *GitLab) listMembers(c *call, p *project) reply {
	var found []object
	for _, a := range g.people() {
		if g.level(p, a) > NoAccess {
			found = append(found, g.memberShape(c, p, a))
		}
	}
	return numbered(c, found)
}

func (g *GitLab) getMember(c *call, p *project) reply {
	a := g.userOf(c)
	if a == nil || g.level(p, a) == NoAccess {
		return gitlabProblem(http.StatusNotFound, "404 Not found")
	}
	return ok(g.memberShape(c, p, a))
}
