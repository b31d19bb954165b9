package forgetest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

func (g *GitLab) listItems(c *call, p *project, merges bool) reply {
	if p.without(merges) {
		return gitlabForbidden()
	}
	return g.answerItems(c, []*project{p}, merges)
}

func (g *GitLab) listEverywhere(merges bool) func(*call) reply {
	return func(c *call) reply {
		if c.account == nil {
			return gitlabProblem(http.StatusUnauthorized, "")
		}
		var seen []*project
		for _, p := range g.projects {
			if g.sees(p, c.account) && !p.without(merges) {
				seen = append(seen, p)
			}
		}
		return g.answerItems(c, seen, merges)
	}
}

func (g *GitLab) answerItems(c *call, projects []*project, merges bool) reply {
	var found []target
	for _, p := range projects {
		for _, i := range p.list(merges) {
			if c.wants(i) {
				found = append(found, target{p, i})
			}
		}
	}
	q := c.URL.Query()
	slices.SortStableFunc(found, func(a, b target) int {
		x, y := a.i.made, b.i.made
		if q.Get("order_by") == "updated_at" {
			x, y = a.i.updated, b.i.updated
		}
		order := x.Compare(y)
		if order == 0 {
			order = int(a.i.id - b.i.id)
		}
		if q.Get("sort") != "asc" {
			order = -order
		}
		return order
	})
	var shapes []object
	for _, t := range found {
		shapes = append(shapes, g.itemShape(c, t))
	}
	return numbered(c, shapes)
}

// wants applies the filters of the query. Both forms of a list are taken: labels=a,b and labels[]=a&labels[]=b.
func (c *call) wants(i *item) bool {
	q := c.URL.Query()
	for _, name := range append(names(q.Get("labels")), q["labels[]"]...) {
		switch has := slices.Contains(i.labelNames(), name); {
		case name == "None" && len(i.labels) > 0, name == "Any" && len(i.labels) == 0:
			return false
		case name != "None" && name != "Any" && !has:
			return false
		}
	}
	for _, login := range append(names(q.Get("assignee_username")), q["assignee_username[]"]...) {
		if !slices.ContainsFunc(i.assignees, func(a *account) bool { return strings.EqualFold(a.login, login) }) {
			return false
		}
	}
	if state := q.Get("state"); state != "" && state != "all" && state != i.state {
		return false
	}
	if i.merge == nil {
		return true
	}
	return (q.Get("source_branch") == "" || q.Get("source_branch") == i.merge.source) &&
		(q.Get("target_branch") == "" || q.Get("target_branch") == i.merge.target)
}

func (g *GitLab) getItem(c *call, t target) reply { return ok(g.itemShape(c, t)) }

// wish is the body of a change.
type wish struct {
	Title        *string `json:"title"`
	Description  *string `json:"description"`
	StateEvent   string  `json:"state_event"`
	Labels       any     `json:"labels"`
	AddLabels    any     `json:"add_labels"`
	RemoveLabels any     `json:"remove_labels"`
	AssigneeIDs  []int64 `json:"assignee_ids"`
	ReviewerIDs  []int64 `json:"reviewer_ids"`
	SourceBranch string  `json:"source_branch"`
	TargetBranch string  `json:"target_branch"`
}

func (g *GitLab) putItem(c *call, t target) reply {
	if !g.may(c, t.p, Reporter) {
		return gitlabForbidden()
	}
	var in wish
	if refusal, good := c.decode(&in); !good {
		return refusal
	}
	title, body := t.i.title, t.i.body
	if in.Title != nil {
		title = *in.Title
	}
	if in.Description != nil {
		body = *in.Description
	}
	g.rewrite(t.i, c.account, title, body)
	t.i.updated = g.stamp()
	if in.Labels != nil {
		wanted := names(in.Labels)
		gone := slices.DeleteFunc(t.i.labelNames(), func(name string) bool { return slices.Contains(wanted, name) })
		g.relabel(t.p, t.i, c.account, wanted, gone)
	}
	g.relabel(t.p, t.i, c.account, names(in.AddLabels), names(in.RemoveLabels))
	g.assign(t.i, c.account, in.AssigneeIDs)
	g.review(t, in.ReviewerIDs)
	if state := map[string]string{"close": "closed", "reopen": "opened"}[in.StateEvent]; state != "" && state != t.i.state {
		g.setState(t.i, state)
		g.tell(t.i, c.account, map[string]string{"closed": "closed", "opened": "reopened"}[state])
	}
	return ok(g.itemShape(c, t))
}

// assign replaces the assignees; nil leaves them, and [0] takes all away.
func (g *GitLab) assign(i *item, by *account, ids []int64) {
	if ids == nil {
		return
	}
	i.assignees = nil
	said := "unassigned everybody"
	for _, a := range g.people() {
		if slices.Contains(ids, a.id) {
			i.assignees, said = append(i.assignees, a), "assigned to @"+a.login
		}
	}
	g.tell(i, by, said)
}

// review replaces the reviewers, less those who do not see the project; nil leaves them.
func (g *GitLab) review(t target, ids []int64) {
	if ids == nil || t.i.merge == nil {
		return
	}
	t.i.merge.reviewers = nil
	for _, a := range g.people() {
		if slices.Contains(ids, a.id) && g.sees(t.p, a) {
			t.i.merge.reviewers = append(t.i.merge.reviewers, a)
		}
	}
}

func (g *GitLab) createItem(c *call, p *project, merges bool) reply {
	if !g.may(c, p, map[bool]int{false: Guest, true: Developer}[merges]) || p.without(merges) {
		return gitlabForbidden()
	}
	var in wish
	if refusal, good := c.decode(&in); !good {
		return refusal
	}
	if in.Title == nil || *in.Title == "" {
		return missing("title")
	}
	var m *merge
	if merges {
		if refusal, good := p.mergeable(in); !good {
			return refusal
		}
		m = &merge{source: in.SourceBranch, target: in.TargetBranch, sourceProject: p.id}
	}
	body := ""
	if in.Description != nil {
		body = *in.Description
	}
	i := g.open(p, *in.Title, body, c.account, names(in.Labels), m)
	return created(g.itemShape(c, target{p, i}))
}

func (p *project) mergeable(in wish) (reply, bool) {
	switch {
	case in.SourceBranch == "" || in.TargetBranch == "":
		return missing("source_branch, target_branch"), false
	case in.SourceBranch == in.TargetBranch:
		return reply{status: http.StatusUnprocessableEntity, body: object{
			"message": []string{"You can't use same project/branch for source and target"}}}, false
	}
	if lacksBranch(p.options.Git, in.SourceBranch) || lacksBranch(p.options.Git, in.TargetBranch) {
		return reply{status: http.StatusBadRequest, body: object{"message": object{"base": []string{"source or target branch does not exist"}}}}, false
	}
	for _, i := range p.merges {
		if i.state == "opened" && i.merge.source == in.SourceBranch && i.merge.target == in.TargetBranch {
			return reply{status: http.StatusConflict, body: object{"message": []string{
				"Another open merge request already exists for this source branch: !" + strconv.Itoa(i.iid)}}}, false
		}
	}
	return reply{}, true
}
