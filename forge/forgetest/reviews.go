package forgetest

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// pullItem is the pull request of the path, or nil.
func (s *Server) pullItem(c *call) (*repository, *issue) {
	r, i := s.item(c)
	if i == nil || i.pull == nil {
		return r, nil
	}
	return r, i
}

func (s *Server) listReviews(c *call) reply {
	r, i := s.pullItem(c)
	if i == nil {
		return notFound()
	}
	var shapes []object
	for _, v := range i.pull.reviews {
		if v.state != "PENDING" || v.author == c.account {
			shapes = append(shapes, c.reviewShape(r, i, v))
		}
	}
	return paged(c, shapes, plain)
}

var reviewStates = map[string]string{
	"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED", "": "PENDING",
}

func (s *Server) createReview(c *call) reply {
	r, i := s.pullItem(c)
	if i == nil {
		return notFound()
	}
	var in struct {
		Body, Event string
		Comments    []struct {
			Path, Body string
			Line       int
			StartLine  int `json:"start_line"`
		}
	}
	if refusal, good := c.decode(&in); !good {
		return refusal
	}
	state, known := reviewStates[in.Event]
	if !known {
		return unprocessableText("event is not known")
	}
	if in.Body == "" && (state == "CHANGES_REQUESTED" || (state == "COMMENTED" && len(in.Comments) == 0)) {
		return unprocessableText("body is missing")
	}
	v := s.addReview(i.pull, c.account, state, in.Body)
	for _, m := range in.Comments {
		s.addReviewComment(i.pull, reviewComment{comment: comment{author: c.account, body: m.Body},
			place: DiffPlace{Path: m.Path, Line: m.Line, StartLine: m.StartLine}, review: v.id})
	}
	i.updated = v.made
	return ok(c.reviewShape(r, i, v))
}

func (s *Server) listReviewComments(c *call) reply {
	r, i := s.pullItem(c)
	if i == nil {
		return notFound()
	}
	q := c.URL.Query()
	since, _ := time.Parse(time.RFC3339, q.Get("since"))
	var shapes []object
	for _, m := range i.pull.remarks {
		if !m.updated.Before(since) {
			shapes = append(shapes, c.reviewCommentShape(r, i, m))
		}
	}
	if q.Get("sort") == "created" && q.Get("direction") != "asc" {
		slices.Reverse(shapes)
	}
	return paged(c, shapes, plain)
}

// createReviewComment answers both the call for a new thread and the one for a reply.
func (s *Server) createReviewComment(c *call) reply {
	r, i := s.pullItem(c)
	if i == nil {
		return notFound()
	}
	var in struct {
		Body, Path string
		Line       int
		StartLine  int   `json:"start_line"`
		ReplyTo    int64 `json:"in_reply_to"`
	}
	if refusal, good := c.decode(&in); !good {
		return refusal
	}
	if id := c.PathValue("id"); id != "" {
		in.ReplyTo, _ = strconv.ParseInt(id, 10, 64)
	}
	m := reviewComment{comment: comment{author: c.account, body: in.Body}, replyTo: in.ReplyTo,
		place: DiffPlace{Path: in.Path, Line: in.Line, StartLine: in.StartLine}}
	if m.replyTo != 0 {
		of, first := r.reviewComment(m.replyTo)
		if of != i {
			return notFound()
		}
		m.place = first.place
	}
	if strings.TrimSpace(in.Body) == "" || m.place.Path == "" {
		return unprocessable("PullRequestReviewComment", "body", "missing_field", "body or path is missing")
	}
	made := s.addReviewComment(i.pull, m)
	i.updated = made.made
	return created(c.reviewCommentShape(r, i, made))
}

// reviewRemark is the review comment of the path, or nil.
func (s *Server) reviewRemark(c *call) (*repository, *issue, *reviewComment) {
	r := s.visible(c)
	id, err := strconv.ParseInt(c.PathValue("id"), 10, 64)
	if r == nil || err != nil {
		return nil, nil, nil
	}
	i, m := r.reviewComment(id)
	return r, i, m
}

func (s *Server) getReviewComment(c *call) reply {
	r, i, m := s.reviewRemark(c)
	if m == nil {
		return notFound()
	}
	return ok(c.reviewCommentShape(r, i, m))
}

func (s *Server) patchReviewComment(c *call) reply {
	r, i, m := s.reviewRemark(c)
	if m == nil {
		return notFound()
	}
	if !s.mayChange(c, r, &m.comment) {
		return forbidden()
	}
	body, refusal, good := c.commentBody()
	if !good {
		return refusal
	}
	m.body, m.updated = body, s.stamp()
	return ok(c.reviewCommentShape(r, i, m))
}

func (s *Server) deleteReviewComment(c *call) reply {
	r, i, m := s.reviewRemark(c)
	if m == nil {
		return notFound()
	}
	if !s.mayChange(c, r, &m.comment) {
		return forbidden()
	}
	i.pull.drop(m)
	return noContent()
}
