package forgetest

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// filter says which issues a list shows and in which order.
type filter struct {
	labels   []string
	state    string // open | closed | all
	assignee string
	since    time.Time
	sort     string // created | updated
	rising   bool
}

func (f filter) takes(i *issue) bool {
	if (f.state == "open" && !i.open) || (f.state == "closed" && i.open) || i.updated.Before(f.since) {
		return false
	}
	if f.assignee != "" && !i.assigned(f.assignee) {
		return false
	}
	return !slices.ContainsFunc(f.labels, func(name string) bool { return !i.has(name) })
}

func (f filter) order(a, b *issue) int {
	x, y := a.made, b.made
	if f.sort == "updated" {
		x, y = a.updated, b.updated
	}
	order := x.Compare(y)
	if order == 0 {
		order = int(a.id - b.id)
	}
	if !f.rising {
		order = -order
	}
	return order
}

func (s *Server) listIssues(c *call) reply {
	r := s.visible(c)
	if r == nil {
		return notFound()
	}
	q := c.URL.Query()
	f := filter{state: q.Get("state"), assignee: q.Get("assignee"), sort: q.Get("sort"), rising: q.Get("direction") == "asc"}
	if f.state == "" {
		f.state = "open"
	}
	if labels := q.Get("labels"); labels != "" {
		f.labels = strings.Split(labels, ",")
	}
	f.since, _ = time.Parse(time.RFC3339, q.Get("since"))
	var found []*issue
	for _, i := range r.issues {
		if f.takes(i) {
			found = append(found, i)
		}
	}
	slices.SortFunc(found, f.order)
	var shapes []object
	for _, i := range found {
		shapes = append(shapes, c.issueShape(r, i))
	}
	return paged(c, shapes, plain)
}

func (s *Server) getIssue(c *call) reply {
	r, i := s.item(c)
	if i == nil {
		return notFound()
	}
	return ok(c.issueShape(r, i))
}

// listSubIssues is always empty: the server holds none.
func (s *Server) listSubIssues(c *call) reply {
	if _, i := s.item(c); i == nil {
		return notFound()
	}
	return ok([]object{})
}

func (s *Server) patchIssue(c *call) reply {
	r, i, refusal, allowed := s.writable(c)
	if !allowed {
		return refusal
	}
	var in struct {
		Title     *string   `json:"title"`
		Body      *string   `json:"body"`
		State     *string   `json:"state"`
		Labels    *[]string `json:"labels"`
		Assignees *[]string `json:"assignees"`
	}
	if refusal, good := c.decode(&in); !good {
		return refusal
	}
	title, body := i.title, i.body
	if in.Title != nil {
		title = *in.Title
	}
	if in.Body != nil {
		body = *in.Body
	}
	s.setText(i, c.account, title, body)
	if in.Labels != nil {
		i.labels = nil
		s.putLabels(r, i, c.account, *in.Labels)
	}
	if in.Assignees != nil {
		i.assignees = s.accountsOf(*in.Assignees)
	}
	i.updated = s.stamp()
	if in.State != nil && i.open != (*in.State == "open") {
		s.setOpen(i, *in.State == "open")
	}
	return ok(c.issueShape(r, i))
}

func (s *Server) accountsOf(logins []string) []*account {
	var all []*account
	for _, login := range logins {
		if a := s.account(login); a != nil && !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	return all
}

func (s *Server) addAssignees(c *call) reply    { return s.assign(c, true) }
func (s *Server) removeAssignees(c *call) reply { return s.assign(c, false) }

func (s *Server) assign(c *call, add bool) reply {
	r, i, refusal, allowed := s.writable(c)
	if !allowed {
		return refusal
	}
	var in struct {
		Assignees []string `json:"assignees"`
	}
	if refusal, good := c.decode(&in); !good {
		return refusal
	}
	named := s.accountsOf(in.Assignees)
	i.assignees = slices.DeleteFunc(i.assignees, func(a *account) bool { return slices.Contains(named, a) })
	i.updated = s.stamp()
	if !add {
		return ok(c.issueShape(r, i))
	}
	i.assignees = append(i.assignees, named...)
	return reply{status: http.StatusCreated, body: c.issueShape(r, i)}
}

// createIssue opens an issue over the API. Labels need the right to write and are left out without it.
func (s *Server) createIssue(c *call) reply {
	r := s.visible(c)
	if r == nil {
		return notFound()
	}
	var in struct {
		Title     string   `json:"title"`
		Body      string   `json:"body"`
		Labels    []string `json:"labels"`
		Assignees []string `json:"assignees"`
	}
	if refusal, good := c.decode(&in); !good {
		return refusal
	}
	if in.Title == "" {
		return unprocessable("Issue", "title", "missing_field", "title is missing")
	}
	if s.role(r, c.account) < roleTriage {
		in.Labels, in.Assignees = nil, nil
	}
	i := s.addIssue(r, in.Title, in.Body, c.account, in.Labels, nil)
	i.assignees = s.accountsOf(in.Assignees)
	return created(c.issueShape(r, i))
}
