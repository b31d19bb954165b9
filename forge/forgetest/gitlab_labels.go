package forgetest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"agent/internal/lazyregexp"
)

var hexColour = lazyregexp.New(`^#[0-9a-fA-F]{6}$`)

// label finds by name, which is case-sensitive, or by id.
func (p *project) label(name string) *label {
	for _, l := range p.labels {
		if l.name == name || fmt.Sprint(l.id) == name {
			return l
		}
	}
	return nil
}

func (g *GitLab) ensure(p *project, name string) *label {
	if l := p.label(name); l != nil {
		return l
	}
	l := &label{id: g.nextID(), name: name, color: "#6699cc"}
	p.labels = append(p.labels, l)
	return l
}

func (g *GitLab) listLabels(c *call, p *project) reply {
	var all []object
	for _, l := range p.labels {
		all = append(all, gitlabLabel(l))
	}
	return numbered(c, all)
}

func (g *GitLab) getLabel(c *call, p *project) reply {
	l := p.label(c.PathValue("label"))
	if l == nil {
		return gitlabProblem(http.StatusNotFound, "404 Label Not Found")
	}
	return ok(gitlabLabel(l))
}

func (g *GitLab) createLabel(c *call, p *project) reply {
	if !g.may(c, p, Reporter) {
		return gitlabForbidden()
	}
	var in struct{ Name, Color, Description string }
	if refusal, good := c.decode(&in); !good {
		return refusal
	}
	switch {
	case in.Name == "" || in.Color == "":
		return missing("name, color")
	case p.label(in.Name) != nil:
		return gitlabProblem(http.StatusConflict, "Label already exists")
	case strings.Contains(in.Name, ","):
		return bad("title", "is invalid")
	case !hexColour.MatchString(in.Color):
		return bad("color", "must be a valid color code")
	}
	l := g.ensure(p, in.Name)
	l.color, l.description = in.Color, in.Description
	return created(gitlabLabel(l))
}

// relabel adds and removes in one step and notes what really changed.
func (g *GitLab) relabel(p *project, i *item, by *account, add, remove []string) {
	var said []string
	for _, name := range add {
		if l := g.ensure(p, name); !slices.Contains(i.labels, l) {
			i.labels = append(i.labels, l)
			i.labelled = append(i.labelled, labelled{id: g.nextID(), label: l, by: by, at: g.stamp()})
			said = append(said, fmt.Sprintf("added ~%d", l.id))
		}
	}
	for _, name := range remove {
		if l := p.label(name); l != nil && slices.Contains(i.labels, l) {
			i.labels = slices.DeleteFunc(i.labels, func(other *label) bool { return other == l })
			i.labelled = append(i.labelled, labelled{id: g.nextID(), label: l, by: by, at: g.stamp(), off: true})
			said = append(said, fmt.Sprintf("removed ~%d", l.id))
		}
	}
	if len(said) > 0 {
		g.tell(i, by, strings.Join(said, " and ")+" label")
	}
}

func (g *GitLab) listLabelEvents(c *call, t target) reply {
	kind := "Issue"
	if t.i.merge != nil {
		kind = "MergeRequest"
	}
	var shapes []object
	for _, e := range t.i.labelled {
		action := map[bool]string{false: "add", true: "remove"}[e.off]
		shapes = append(shapes, object{"id": e.id, "user": c.basicUser(e.by), "created_at": instant(e.at),
			"resource_type": kind, "resource_id": t.i.id, "label": gitlabLabel(e.label), "action": action})
	}
	return numbered(c, shapes)
}

// names reads a list of labels: "a,b" or ["a","b"].
func names(v any) []string {
	var all []string
	switch v := v.(type) {
	case string:
		all = strings.Split(v, ",")
	case []any:
		for _, name := range v {
			all = append(all, strings.Split(fmt.Sprint(name), ",")...)
		}
	}
	return slices.DeleteFunc(all, func(name string) bool { return strings.TrimSpace(name) == "" })
}

func gitlabLabel(l *label) object {
	return object{
		"id": l.id, "name": l.name, "color": l.color, "text_color": "#FFFFFF", "description": orNull(l.description),
		"description_html": l.description, "archived": false, "open_issues_count": 0, "closed_issues_count": 0,
		"open_merge_requests_count": 0, "subscribed": false, "priority": nil, "is_project_label": true,
	}
}
