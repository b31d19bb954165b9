package forgetest

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

func (g *GitLab) routes() []route {
	const one = "/projects/{project}"
	all := []route{
		{"GET", "/version", func(*call) reply { return ok(object{"version": "18.5.0", "revision": "0123456789a"}) }},
		{"GET", "/user", g.getSelf},
		{"GET", "/users", g.listUsers},
		{"GET", "/users/{user}", g.getUser},
		{"GET", "/issues", g.listEverywhere(false)},
		{"GET", "/merge_requests", g.listEverywhere(true)},
		{"GET", "/projects", g.listProjects},
		{"GET", "/groups/{group}/projects", g.inGroup(g.listGroup)},
		{"GET", "/groups/{group}/issues", g.inGroup(g.listInGroup(false))},
		{"GET", "/groups/{group}/merge_requests", g.inGroup(g.listInGroup(true))},
		{"GET", one, g.inProject(g.getProject)},
		{"GET", one + "/members/all", g.inProject(g.listMembers)},
		{"GET", one + "/members/all/{user}", g.inProject(g.getMember)},
		{"GET", one + "/labels", g.inProject(g.listLabels)},
		{"POST", one + "/labels", g.inProject(g.createLabel)},
		{"GET", one + "/labels/{label}", g.inProject(g.getLabel)},
		{"GET", one + "/repository/branches", g.inProject(g.listBranches)},
		{"POST", one + "/repository/branches", g.inProject(g.createBranch)},
		{"GET", one + "/repository/branches/{branch}", g.inProject(g.getBranch)},
		{"GET", one + "/repository/tree", g.inProject(g.listTree)},
		{"GET", one + "/repository/files/{path}", g.inProject(g.getFile)},
	}
	return append(append(all, g.itemRoutes(one+"/issues", false)...), g.itemRoutes(one+"/merge_requests", true)...)
}

// itemRoutes are the calls that issues and merge requests have alike.
func (g *GitLab) itemRoutes(list string, merges bool) []route {
	one := list + "/{iid}"
	return []route{
		{"GET", list, g.inProject(func(c *call, p *project) reply { return g.listItems(c, p, merges) })},
		{"POST", list, g.inProject(func(c *call, p *project) reply { return g.createItem(c, p, merges) })},
		{"GET", one, g.onItem(merges, g.getItem)},
		{"PUT", one, g.onItem(merges, g.putItem)},
		{"GET", one + "/resource_label_events", g.onItem(merges, g.listLabelEvents)},
		{"GET", one + "/notes", g.onItem(merges, g.listNotes)},
		{"POST", one + "/notes", g.onItem(merges, g.createNote)},
		{"GET", one + "/notes/{note}", g.onItem(merges, g.getNote)},
		{"PUT", one + "/notes/{note}", g.onItem(merges, g.putNote)},
		{"DELETE", one + "/notes/{note}", g.onItem(merges, g.deleteNote)},
		{"GET", one + "/notes/{note}/award_emoji", g.onItem(merges, g.listAwards)},
		{"POST", one + "/notes/{note}/award_emoji", g.onItem(merges, g.createAward)},
		{"GET", one + "/discussions", g.onItem(merges, g.listDiscussions)},
		{"POST", one + "/discussions", g.onItem(merges, g.createDiscussion)},
		{"POST", one + "/discussions/{discussion}/notes", g.onItem(merges, g.createReply)},
		{"PUT", one + "/discussions/{discussion}/notes/{note}", g.onItem(merges, g.putNote)},
	}
}

// inProject looks the project of the path up, redirects from its former paths, and hides it from strangers.
func (g *GitLab) inProject(f func(*call, *project) reply) func(*call) reply {
	return func(c *call) reply {
		name := c.PathValue("project")
		if p := g.named(name); p != nil && g.sees(p, c.account) {
			return f(c, p)
		}
		for _, p := range g.projects {
			if !g.sees(p, c.account) || !p.was(name) {
				continue
			}
			if c.Method != http.MethodGet {
				return gitlabProblem(http.StatusMethodNotAllowed, "Non GET methods are not allowed for moved projects")
			}
			rest := strings.TrimPrefix(c.URL.EscapedPath(), "/projects/"+strings.Split(c.URL.EscapedPath(), "/")[2])
			to := url.URL{Path: "", RawQuery: c.URL.RawQuery}
			return reply{status: http.StatusMovedPermanently, body: object{"message": "Non GET methods are not allowed for moved projects"},
				header: http.Header{"Location": {c.api + "/projects/" + strconv.FormatInt(p.id, 10) + rest + to.String()}}}
		}
		return gitlabProblem(http.StatusNotFound, "404 Project Not Found")
	}
}

func (p *project) was(name string) bool {
	for _, former := range p.former {
		if strings.EqualFold(former, name) {
			return true
		}
	}
	return false
}

// target is what a call is about.
type target struct {
	p *project
	i *item
}

func (g *GitLab) onItem(merges bool, f func(*call, target) reply) func(*call) reply {
	return g.inProject(func(c *call, p *project) reply {
		if p.without(merges) {
			return gitlabProblem(http.StatusForbidden, "")
		}
		iid, err := strconv.Atoi(c.PathValue("iid"))
		if err != nil {
			return reply{status: http.StatusBadRequest, body: object{"error": "iid is invalid"}}
		}
		if list := p.list(merges); iid >= 1 && iid <= len(list) {
			return f(c, target{p, list[iid-1]})
		}
		return gitlabProblem(http.StatusNotFound, "404 Not found")
	})
}

func (p *project) without(merges bool) bool {
	return merges && p.options.NoMerges || !merges && p.options.NoIssues
}

// level is what the account may do in the project.
func (g *GitLab) level(p *project, a *account) int {
	if a == nil {
		return NoAccess
	}
	if given, set := p.levels[key(a.login)]; set {
		return given
	}
	for _, holder := range g.tokens {
		if holder == a {
			return Developer
		}
	}
	return NoAccess
}

func (g *GitLab) sees(p *project, a *account) bool {
	return g.level(p, a) > NoAccess || !p.options.Private && (!p.options.Internal || a != nil)
}

// may reports whether the caller has the level, in a project that can be written to.
func (g *GitLab) may(c *call, p *project, level int) bool {
	return !p.options.Archived && g.level(p, c.account) >= level
}

func gitlabForbidden() reply { return gitlabProblem(http.StatusForbidden, "") }

// bad is a validation error about one field.
func bad(field, text string) reply {
	return reply{status: http.StatusBadRequest, body: object{"message": object{field: []string{text}}}}
}

func missing(field string) reply {
	return reply{status: http.StatusBadRequest, body: object{"error": field + " is missing"}}
}
