package forgetest

import (
	"net/http"
	"slices"
)

// contents are the reactions that GitHub has.
var contents = []string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}

func (s *Server) listReactions(c *call) reply {
	_, _, m := s.remark(c)
	if m == nil {
		return notFound()
	}
	var shapes []object
	for _, r := range m.reactions {
		if want := c.URL.Query().Get("content"); want == "" || want == r.name {
			shapes = append(shapes, c.reactionShape(r))
		}
	}
	return paged(c, shapes, plain)
}

// createReaction answers 201, or 200 if the caller's reaction is there already.
func (s *Server) createReaction(c *call) reply {
	r, _, m := s.remark(c)
	if m == nil {
		return notFound()
	}
	var in struct{ Content string }
	if refusal, good := c.decode(&in); !good {
		return refusal
	}
	switch {
	case r.options.Archived:
		return problem(http.StatusForbidden, "Repository was archived so is read-only.")
	case !slices.Contains(contents, in.Content):
		return unprocessable("Reaction", "content", "invalid", "Content is not included in the list")
	}
	made, added := s.react(m, in.Content, c.account)
	if added {
		return created(c.reactionShape(made))
	}
	return ok(c.reactionShape(made))
}

func (c *call) reactionShape(r reaction) object {
	return object{"id": r.id, "node_id": nodeID("REA", r.id), "user": c.userShape(r.by), "content": r.name, "created_at": moment(r.at)}
}

// React puts a reaction of somebody on a comment: "+1".
func (s *Server) React(repo string, id int64, login, content string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, m := s.mustComment(repo, id)
	s.react(m, content, s.account(login))
}

// Unreact takes a reaction back.
func (s *Server) Unreact(repo string, id int64, login, content string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, m := s.mustComment(repo, id)
	m.unreact(content, s.account(login))
}

// Reactions are those on a comment, as "login content".
func (s *Server) Reactions(repo string, id int64) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, m := s.mustComment(repo, id)
	return m.reacted()
}

func (m *comment) reacted() (all []string) {
	for _, r := range m.reactions {
		all = append(all, r.by.login+" "+r.name)
	}
	return all
}
