package forgetest

import (
	"net/http"
	"path"
	"strings"
)

// inGroup gives the projects below a group, of sub-groups, too, that the caller sees.
// What the first part of a path names is a group unless an account is called so.
func (g *GitLab) inGroup(f func(*call, []*project) reply) func(*call) reply {
	return func(c *call) reply {
		group := key(c.PathValue("group"))
		var below []*project
		for _, p := range g.projects {
			if strings.HasPrefix(key(p.path), group+"/") && g.sees(p, c.account) {
				below = append(below, p)
			}
		}
		if len(below) == 0 || g.accounts[group] != nil {
			return gitlabProblem(http.StatusNotFound, "404 Group Not Found")
		}
		return f(c, below)
	}
}

// listGroup shows sub-groups only if it is asked to.
// https://docs.gitlab.com/api/groups/#list-projects
func (g *GitLab) listGroup(c *call, below []*project) reply {
	var shapes []object
	for _, p := range below {
		if c.URL.Query().Get("include_subgroups") == "true" || key(path.Dir(p.path)) == key(c.PathValue("group")) {
			shapes = append(shapes, g.projectShape(c, p))
		}
	}
	return numbered(c, shapes)
}

// listInGroup leaves out archived projects, as these lists do by default.
// https://docs.gitlab.com/api/issues/#list-group-issues
func (g *GitLab) listInGroup(merges bool) func(*call, []*project) reply {
	return func(c *call, below []*project) reply {
		var with []*project
		for _, p := range below {
			if !p.options.Archived && !p.without(merges) {
				with = append(with, p)
			}
		}
		return g.answerItems(c, with, merges)
	}
}
