package forgetest

import (
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

const longestBody = 65536 // characters

func (s *Server) listComments(c *call) reply {
	r, i := s.item(c)
	if i == nil {
		return notFound()
	}
	since, _ := time.Parse(time.RFC3339, c.URL.Query().Get("since"))
	var shapes []object
	for _, m := range i.comments {
		if s.hidden(m) || m.updated.Before(since) {
			continue
		}
		shapes = append(shapes, c.commentShape(r, i, m))
	}
	return paged(c, shapes, plain)
}

// hidden reports whether lists lag behind this comment, and counts the lists that do.
func (s *wire) hidden(m *comment) bool {
	if m.hiddenLists > 0 {
		m.hiddenLists--
		return true
	}
	return s.now().Before(m.hiddenUntil)
}

func (s *Server) createComment(c *call) reply {
	r, i := s.item(c)
	if i == nil {
		return notFound()
	}
	if r.options.Archived {
		return problem(http.StatusForbidden, "Repository was archived so is read-only.")
	}
	body, refusal, good := c.commentBody()
	if !good {
		return refusal
	}
	return created(c.commentShape(r, i, s.addComment(i, c.account, body)))
}

func (c *call) commentBody() (body string, refusal reply, good bool) {
	var in struct {
		Body string `json:"body"`
	}
	if refusal, good := c.decode(&in); !good {
		return "", refusal, false
	}
	if in.Body == "" {
		return "", unprocessable("IssueComment", "body", "missing_field", "Body cannot be blank"), false
	}
	if utf8.RuneCountInString(in.Body) > longestBody {
		return "", unprocessable("IssueComment", "body", "custom", "body is too long (maximum is 65536 characters)"), false
	}
	return in.Body, reply{}, true
}

// remark is the comment of the path, or nil.
func (s *Server) remark(c *call) (*repository, *issue, *comment) {
	r := s.visible(c)
	id, err := strconv.ParseInt(c.PathValue("id"), 10, 64)
	if r == nil || err != nil {
		return nil, nil, nil
	}
	i, m := r.comment(id)
	return r, i, m
}

func (s *Server) getComment(c *call) reply {
	r, i, m := s.remark(c)
	if m == nil {
		return notFound()
	}
	return ok(c.commentShape(r, i, m))
}

// mayChange reports whether the caller wrote the comment or may write here.
func (s *Server) mayChange(c *call, r *repository, m *comment) bool {
	return m.author == c.account || s.role(r, c.account) >= roleWrite
}

func (s *Server) patchComment(c *call) reply {
	r, i, m := s.remark(c)
	if m == nil {
		return notFound()
	}
	if !s.mayChange(c, r, m) {
		return forbidden()
	}
	body, refusal, good := c.commentBody()
	if !good {
		return refusal
	}
	m.body, m.updated = body, s.stamp()
	return ok(c.commentShape(r, i, m))
}

func (s *Server) deleteComment(c *call) reply {
	r, i, m := s.remark(c)
	if m == nil {
		return notFound()
	}
	if !s.mayChange(c, r, m) {
		return forbidden()
	}
	i.drop(m)
	return noContent()
}

func (i *issue) drop(m *comment) {
	i.comments = slices.DeleteFunc(i.comments, func(other *comment) bool { return other == m })
}
