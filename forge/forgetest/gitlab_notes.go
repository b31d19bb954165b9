package forgetest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const longestNote = 1_000_000 // characters

// listNotes gives the newest first, unless it is asked not to.
func (g *GitLab) listNotes(c *call, t target) reply {
	q := c.URL.Query()
	var shown []*note
	for _, n := range t.i.notes {
		if !g.hidden(&n.comment) {
			shown = append(shown, n)
		}
	}
	slices.SortStableFunc(shown, func(a, b *note) int {
		x, y := a.made, b.made
		if q.Get("order_by") == "updated_at" {
			x, y = a.updated, b.updated
		}
		return x.Compare(y)
	})
	if q.Get("sort") != "asc" {
		slices.Reverse(shown)
	}
	var shapes []object
	for _, n := range shown {
		shapes = append(shapes, c.noteShape(t, n))
	}
	return numbered(c, shapes)
}

func (g *GitLab) createNote(c *call, t target) reply {
	body, refusal, good := g.newNote(c, t)
	if !good {
		return refusal
	}
	if strings.HasPrefix(body, "/") && !strings.Contains(body, "\n") { // a quick action alone leaves no note
		return reply{status: http.StatusAccepted, body: object{
			"commands_changes": object{}, "summary": []string{"Commands applied"}}}
	}
	return created(c.noteShape(t, g.addNote(t.i, c.account, body)))
}

// newNote reads the body of a note and says whether the caller may write one.
func (g *GitLab) newNote(c *call, t target) (body string, refusal reply, good bool) {
	if t.p.options.Archived || t.i.locked && g.level(t.p, c.account) == NoAccess {
		return "", gitlabForbidden(), false
	}
	var in struct{ Body *string }
	if refusal, good := c.decode(&in); !good {
		return "", refusal, false
	}
	if in.Body == nil {
		return "", missing("body"), false
	}
	if strings.TrimSpace(*in.Body) == "" {
		return "", gitlabProblem(http.StatusBadRequest, `400 Bad request - Note {:note=>["can't be blank"]}`), false
	}
	if utf8.RuneCountInString(*in.Body) > longestNote {
		return "", gitlabProblem(http.StatusBadRequest,
			`400 Bad request - Note {:note=>["is too long (maximum is 1000000 characters)"]}`), false
	}
	return *in.Body, reply{}, true
}

// noteOf is the note of the path on the item of the path, or nil.
func noteOf(c *call, t target) *note {
	id, _ := strconv.ParseInt(c.PathValue("note"), 10, 64)
	return t.i.note(id)
}

func noNote() reply { return gitlabProblem(http.StatusNotFound, "404 Note Not Found") }

func (g *GitLab) getNote(c *call, t target) reply {
	n := noteOf(c, t)
	if n == nil {
		return noNote()
	}
	return ok(c.noteShape(t, n))
}

func (g *GitLab) putNote(c *call, t target) reply {
	n := noteOf(c, t)
	if n == nil {
		return noNote()
	}
	if n.system || n.author != c.account && !g.may(c, t.p, Maintainer) {
		return gitlabForbidden()
	}
	body, refusal, good := g.newNote(c, t)
	if !good {
		return refusal
	}
	n.body, n.updated = body, g.stamp()
	return ok(c.noteShape(t, n))
}

func (g *GitLab) deleteNote(c *call, t target) reply {
	n := noteOf(c, t)
	if n == nil {
		return noNote()
	}
	if n.author != c.account && !g.may(c, t.p, Maintainer) {
		return gitlabForbidden()
	}
	t.i.drop(n)
	return noContent()
}

func (g *GitLab) listDiscussions(c *call, t target) reply {
	var shapes []object
	at := map[string]int{}
	for _, n := range t.i.notes {
		if g.hidden(&n.comment) {
			continue
		}
		if place, known := at[n.discussion]; known {
			shapes[place]["notes"] = append(shapes[place]["notes"].([]object), c.noteShape(t, n))
			continue
		}
		at[n.discussion] = len(shapes)
		shapes = append(shapes, c.discussionShape(t, n))
	}
	return numbered(c, shapes)
}

func (c *call) discussionShape(t target, first *note) object {
	return object{"id": first.discussion, "individual_note": first.kind == "", "notes": []object{c.noteShape(t, first)}}
}

func (g *GitLab) createDiscussion(c *call, t target) reply {
	body, refusal, good := g.newNote(c, t)
	if !good {
		return refusal
	}
	n := g.addNote(t.i, c.account, body)
	n.kind = "DiscussionNote"
	return created(c.discussionShape(t, n))
}

func (g *GitLab) createReply(c *call, t target) reply {
	at := slices.IndexFunc(t.i.notes, func(n *note) bool { return n.discussion == c.PathValue("discussion") })
	if at < 0 {
		return gitlabProblem(http.StatusNotFound, "404 Discussion Not Found")
	}
	body, refusal, good := g.newNote(c, t)
	if !good {
		return refusal
	}
	return created(c.noteShape(t, g.reply(t.i, t.i.notes[at], c.account, body)))
}
