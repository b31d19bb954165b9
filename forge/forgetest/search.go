package forgetest

import (
	"slices"
	"strings"
)

const searchWindow = 1000 // results beyond these are never shown

// query is a search for issues: qualifiers, and words that the title or body must hold.
type query struct {
	filter
	repos, owners []string
	kind          string // issue | pr | ""
	words         []string
}

func (s *Server) search(c *call) reply {
	text := c.URL.Query().Get("q")
	if strings.TrimSpace(text) == "" {
		return unprocessable("Search", "q", "missing", "q is missing")
	}
	q := parseQuery(text)
	q.sort, q.rising = c.URL.Query().Get("sort"), c.URL.Query().Get("order") == "asc"
	type hit struct {
		r *repository
		i *issue
	}
	var hits []hit
	for _, r := range s.order {
		for _, i := range r.issues {
			if s.role(r, c.account) >= roleRead && q.finds(r, i) {
				hits = append(hits, hit{r, i})
			}
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return q.order(a.i, b.i) })
	var shapes []object
	for _, h := range hits[:min(len(hits), searchWindow)] {
		o := c.issueShape(h.r, h.i)
		o["score"], o["body"] = 1.0, h.i.body // no null here, by the description
		shapes = append(shapes, o)
	}
	return paged(c, shapes, func(part []object) any {
		return object{
			"total_count": len(hits), "incomplete_results": false, "items": plain(part), "search_type": "lexical",
		}
	})
}

func (q query) finds(r *repository, i *issue) bool {
	if (q.kind == "issue" && i.pull != nil) || (q.kind == "pr" && i.pull == nil) || !q.takes(i) {
		return false
	}
	if len(q.repos)+len(q.owners) > 0 && !slices.Contains(q.repos, key(r.fullName())) &&
		!slices.Contains(q.owners, key(r.owner.login)) {
		return false
	}
	text := strings.ToLower(i.title + "\n" + i.body)
	return !slices.ContainsFunc(q.words, func(w string) bool { return !strings.Contains(text, w) })
}

func parseQuery(text string) query {
	q := query{filter: filter{state: "all"}}
	for _, term := range terms(text) {
		name, value, _ := strings.Cut(term, ":")
		switch name {
		case "repo":
			q.repos = append(q.repos, key(value))
		case "user", "org":
			q.owners = append(q.owners, key(value))
		case "label":
			q.labels = append(q.labels, value)
		case "assignee":
			q.assignee = value
		case "state":
			q.state = value
		case "is", "type":
			q.is(value)
		default:
			q.words = append(q.words, strings.ToLower(term))
		}
	}
	return q
}

func (q *query) is(value string) {
	switch value {
	case "issue":
		q.kind = "issue"
	case "pr", "pull-request":
		q.kind = "pr"
	case "open", "closed":
		q.state = value
	}
}

// terms splits at spaces outside of double quotes and takes the quotes away.
func terms(text string) []string {
	var all []string
	var b strings.Builder
	quoted, escaped := false, false
	flush := func() {
		if b.Len() > 0 {
			all = append(all, b.String())
		}
		b.Reset()
	}
	for _, r := range text {
		switch {
		case escaped:
			b.WriteRune(r)
			escaped = false
		case quoted && r == '\\':
			escaped = true
		case r == '"':
			quoted = !quoted
		case r == ' ' && !quoted:
			flush()
		default:
			b.WriteRune(r)
		}
	}
	flush()
	return all
}
