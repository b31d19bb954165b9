package forgetest

import (
	"slices"
	"strings"
)

func (s *Server) listPulls(c *call) reply {
	r := s.visible(c)
	if r == nil {
		return notFound()
	}
	q := c.URL.Query()
	state := q.Get("state")
	if state == "" {
		state = "open"
	}
	var shapes []object
	for _, i := range r.issues {
		if i.pull == nil || !(filter{state: state}).takes(i) || !i.pull.matches(r, q.Get("head"), q.Get("base")) {
			continue
		}
		shapes = append(shapes, c.pullShape(r, i))
	}
	return paged(c, shapes, plain)
}

// matches applies the filters of the list: head is "owner:branch".
func (p *pull) matches(r *repository, head, base string) bool {
	owner := r.owner.login
	if p.fork {
		owner = ""
		if p.forkOwner != nil {
			owner = p.forkOwner.login
		}
	}
	return (head == "" || strings.EqualFold(head, owner+":"+p.head)) && (base == "" || base == p.base)
}

func (s *Server) getPull(c *call) reply {
	r, i := s.pullItem(c)
	if i == nil {
		return notFound()
	}
	return ok(c.pullShape(r, i))
}

// requestReviewers takes collaborators other than the author, all or none.
func (s *Server) requestReviewers(c *call) reply {
	r, i := s.pullItem(c)
	if i == nil {
		return notFound()
	}
	if s.role(r, c.account) < roleWrite {
		return forbidden()
	}
	var in struct{ Reviewers []string }
	if refusal, good := c.decode(&in); !good {
		return refusal
	}
	var asked []*account
	for _, login := range in.Reviewers {
		a := s.accounts[key(login)]
		if a == nil || r.roles[key(login)] < roleRead && a != r.owner {
			return unprocessableText("Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the " + r.fullName() + " repository.")
		}
		if a == i.author {
			return unprocessableText("Review cannot be requested from pull request author.")
		}
		asked = append(asked, a)
	}
	for _, a := range asked {
		if !slices.Contains(i.pull.reviewers, a) {
			i.pull.reviewers = append(i.pull.reviewers, a)
		}
	}
	return created(c.pullShape(r, i))
}

func (s *Server) createPull(c *call) reply {
	r := s.visible(c)
	if r == nil {
		return notFound()
	}
	if s.role(r, c.account) < roleWrite {
		return forbidden()
	}
	var in struct {
		Title, Body, Head, Base string
		Draft                   bool
	}
	if refusal, good := c.decode(&in); !good {
		return refusal
	}
	branch := strings.TrimPrefix(in.Head, r.owner.login+":")
	switch {
	case in.Title == "":
		return unprocessable("PullRequest", "title", "missing_field", "title is missing")
	case branch == "" || in.Base == "" || branch == in.Base:
		return unprocessable("PullRequest", "head", "invalid", "No commits between base and head")
	case lacksBranch(r.options.Git, branch):
		return unprocessable("PullRequest", "head", "invalid", "head is invalid")
	case lacksBranch(r.options.Git, in.Base):
		return unprocessable("PullRequest", "base", "invalid", "base is invalid")
	}
	for _, i := range r.issues {
		if i.pull != nil && i.open && !i.pull.fork && i.pull.head == branch {
			return unprocessable("PullRequest", "head", "custom",
				"A pull request already exists for "+r.owner.login+":"+branch+".")
		}
	}
	i := s.addIssue(r, in.Title, in.Body, c.account, nil, &pull{head: branch, base: in.Base, draft: in.Draft})
	return created(c.pullShape(r, i))
}
