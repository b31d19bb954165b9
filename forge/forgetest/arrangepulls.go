package forgetest

import (
	"fmt"
	"slices"
	"time"
)

// DiffPlace is where a review comment belongs. The zero Line is the whole file.
type DiffPlace struct {
	Path            string
	StartLine, Line int    // of the new side
	Hunk            string // the diff up to Line; default: one added line
}

type review struct {
	id     int64
	author *account
	state  string // APPROVED | CHANGES_REQUESTED | COMMENTED | DISMISSED | PENDING
	body   string
	made   time.Time
}

type reviewComment struct {
	comment
	place   DiffPlace
	review  int64 // 0: of none
	replyTo int64 // 0: starts a thread

	resolved bool // the thread that it starts
}

// AddReviewReply writes a comment into the thread that another one starts.
func (s *Server) AddReviewReply(repo string, number int, to int64, author, body string) (id int64) {
	s.changePull(repo, number, func(p *pull) {
		id = s.addReviewComment(p, reviewComment{comment: comment{author: s.account(author), body: body}, replyTo: to}).id
	})
	return id
}

// ResolveThread resolves the thread that a review comment starts.
func (s *Server) ResolveThread(repo string, id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, m := s.mustRepository(repo).reviewComment(id)
	m.resolved = true
}

// AddReview gives a pull request a review in a state such as APPROVED,
// CHANGES_REQUESTED, COMMENTED or PENDING (which only its author sees), and returns its id.
func (s *Server) AddReview(repo string, number int, author, state, body string) (id int64) {
	s.changePull(repo, number, func(p *pull) { id = s.addReview(p, s.account(author), state, body).id })
	return id
}

// AddReviewComment writes a comment on a line of a pull request and returns its id.
func (s *Server) AddReviewComment(repo string, number int, author, body string, at DiffPlace) (id int64) {
	s.changePull(repo, number, func(p *pull) {
		id = s.addReviewComment(p, reviewComment{comment: comment{author: s.account(author), body: body}, place: at}).id
	})
	return id
}

// EditReviewComment replaces the body of a review comment.
func (s *Server) EditReviewComment(repo string, id int64, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, m := s.mustReviewComment(repo, id)
	m.body, m.updated = body, s.stamp()
}

// DeleteReviewComment removes a review comment.
func (s *Server) DeleteReviewComment(repo string, id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, m := s.mustReviewComment(repo, id)
	i.pull.drop(m)
}

// Change is a pull or merge request as the server holds it.
type Change struct {
	Number                  int
	Title, Body, Head, Base string
	Draft                   bool
	Reviewers               []string
}

// PullRequests returns all pull requests of a repository, oldest first.
func (s *Server) PullRequests(repo string) (all []Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.mustRepository(repo).issues {
		if i.pull == nil {
			continue
		}
		c := Change{Number: i.number, Title: i.title, Body: i.body, Head: i.pull.head, Base: i.pull.base, Draft: i.pull.draft}
		for _, a := range i.pull.reviewers {
			c.Reviewers = append(c.Reviewers, a.login)
		}
		all = append(all, c)
	}
	return all
}

// SetDraft makes a pull request a draft, or ready for review.
func (s *Server) SetDraft(repo string, number int, draft bool) {
	s.changePull(repo, number, func(p *pull) { p.draft = draft })
}

// SetHeadOwner moves the head branch into owner's fork. "" is a fork that was deleted.
func (s *Server) SetHeadOwner(repo string, number int, owner string) {
	s.mu.Lock()
	fork := s.account(owner)
	s.mu.Unlock()
	s.changePull(repo, number, func(p *pull) { p.fork, p.forkOwner = true, fork })
}

// MergePullRequest closes a pull request as merged.
func (s *Server) MergePullRequest(repo string, number int) {
	s.change(repo, number, func(_ *repository, i *issue) {
		s.setOpen(i, false)
		i.pull.merged = i.closed
	})
}

func (s *Server) changePull(repo string, number int, f func(*pull)) {
	s.change(repo, number, func(_ *repository, i *issue) {
		if i.pull == nil {
			panic(fmt.Sprintf("forgetest: number %d in %s is no pull request", number, repo))
		}
		f(i.pull)
	})
}

func (s *Server) addReview(p *pull, author *account, state, body string) *review {
	r := &review{id: s.nextID(), author: author, state: state, body: body, made: s.stamp()}
	p.reviews = append(p.reviews, r)
	return r
}

func (s *Server) addReviewComment(p *pull, m reviewComment) *reviewComment {
	m.id, m.made = s.nextID(), s.stamp()
	m.updated = m.made
	if m.place.Hunk == "" {
		m.place.Hunk = "@@ -0,0 +1 @@\n+line"
	}
	p.remarks = append(p.remarks, &m)
	return &m
}

func (p *pull) drop(m *reviewComment) {
	p.remarks = slices.DeleteFunc(p.remarks, func(other *reviewComment) bool { return other == m })
}

func (r *repository) reviewComment(id int64) (*issue, *reviewComment) {
	for _, i := range r.issues {
		if i.pull == nil {
			continue
		}
		for _, m := range i.pull.remarks {
			if m.id == id {
				return i, m
			}
		}
	}
	return nil, nil
}

func (s *Server) mustReviewComment(name string, id int64) (*issue, *reviewComment) {
	i, m := s.mustRepository(name).reviewComment(id)
	if m == nil {
		panic(fmt.Sprintf("forgetest: no review comment %d in %s", id, name))
	}
	return i, m
}
