package forgetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"agent/internal/lazyregexp"
)

var colour = lazyregexp.New(`^[0-9a-fA-F]{6}$`)

func (s *Server) listRepositoryLabels(c *call) reply {
	r := s.visible(c)
	if r == nil {
		return notFound()
	}
	return paged(c, c.labelShapes(r, r.labels), plain)
}

func (s *Server) getLabel(c *call) reply {
	r := s.visible(c)
	if r == nil {
		return notFound()
	}
	l := r.label(c.PathValue("label"))
	if l == nil {
		return notFound()
	}
	return ok(c.labelShape(r, l))
}

func (s *Server) createLabel(c *call) reply {
	r := s.visible(c)
	if r == nil {
		return notFound()
	}
	if s.role(r, c.account) < roleWrite {
		return forbidden()
	}
	var in struct {
		Name        string `json:"name"`
		Color       string `json:"color"`
		Description string `json:"description"`
	}
	if refusal, good := c.decode(&in); !good {
		return refusal
	}
	switch {
	case in.Name == "":
		return unprocessable("Label", "name", "missing_field", "name is missing")
	case r.label(in.Name) != nil:
		return unprocessable("Label", "name", "already_exists", "name has already been taken")
	case in.Color != "" && !colour.MatchString(in.Color):
		return unprocessable("Label", "color", "invalid", "color is invalid")
	case len([]rune(in.Description)) > 100:
		return unprocessable("Label", "description", "invalid", "description is too long (maximum is 100 characters)")
	}
	if in.Color == "" {
		in.Color = "ededed"
	}
	l := &label{id: s.nextID(), name: in.Name, color: strings.ToLower(in.Color), description: in.Description}
	r.labels = append(r.labels, l)
	return created(c.labelShape(r, l))
}

func (s *Server) listIssueLabels(c *call) reply {
	r, i := s.item(c)
	if i == nil {
		return notFound()
	}
	return paged(c, c.labelShapes(r, i.labels), plain)
}

func (s *Server) addIssueLabels(c *call) reply { return s.writeLabels(c, true) }
func (s *Server) setIssueLabels(c *call) reply { return s.writeLabels(c, false) }

func (s *Server) writeLabels(c *call, keep bool) reply {
	r, i, refusal, allowed := s.writable(c)
	if !allowed {
		return refusal
	}
	names, good := labelNames(c.body)
	if !good {
		return problem(400, "Problems parsing JSON")
	}
	for _, l := range slices.Clone(i.labels) {
		if !keep && !slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, l.name) }) {
			s.dropLabel(i, c.account, l.name)
		}
	}
	i.updated = s.stamp()
	s.putLabels(r, i, c.account, names)
	return ok(c.labelShapes(r, i.labels))
}

// labelNames reads both forms: a list, or an object that holds one.
func labelNames(body []byte) (names []string, good bool) {
	if json.Unmarshal(body, &names) == nil {
		return names, true
	}
	var in struct {
		Labels []string `json:"labels"`
	}
	return in.Labels, json.Unmarshal(body, &in) == nil
}

func (s *Server) removeIssueLabel(c *call) reply {
	r, i, refusal, allowed := s.writable(c)
	if !allowed {
		return refusal
	}
	if !i.has(c.PathValue("label")) {
		return problem(404, "Label does not exist")
	}
	i.updated = s.stamp()
	s.dropLabel(i, c.account, c.PathValue("label"))
	return ok(c.labelShapes(r, i.labels))
}

func (s *Server) putLabels(r *repository, i *issue, by *account, names []string) {
	for _, name := range names {
		if !i.has(name) {
			l := s.ensureLabel(r, name)
			i.labels = append(i.labels, l)
			i.labelled = append(i.labelled, labelled{id: s.nextID(), label: l, by: by, at: s.stamp()})
		}
	}
}

// listEvents tells of labels and titles only.
func (s *Server) listEvents(c *call) reply {
	r, i := s.item(c)
	if i == nil {
		return notFound()
	}
	var shapes []object
	for _, e := range i.labelled {
		shape := object{
			"id": e.id, "node_id": fmt.Sprint("LE_", e.id), "url": fmt.Sprintf("%s/issues/events/%d", c.repositoryURL(r), e.id),
			"actor": c.userOrGhost(e.by), "commit_id": nil, "commit_url": nil, "created_at": moment(e.at), "performed_via_github_app": nil,
		}
		if e.label == nil {
			shape["event"], shape["rename"] = "renamed", object{"from": e.from, "to": e.to}
		} else {
			shape["event"] = map[bool]string{false: "labeled", true: "unlabeled"}[e.off]
			shape["label"] = object{"name": e.label.name, "color": e.label.color}
		}
		shapes = append(shapes, shape)
	}
	return paged(c, shapes, plain)
}

func (s *Server) dropLabel(i *issue, by *account, name string) {
	for _, l := range i.labels {
		if strings.EqualFold(l.name, name) {
			i.labelled = append(i.labelled, labelled{id: s.nextID(), label: l, by: by, at: s.stamp(), off: true})
		}
	}
	i.labels = slices.DeleteFunc(i.labels, func(l *label) bool { return strings.EqualFold(l.name, name) })
}
