package forgetest

import "net/http"

func (g *GitLab) listAwards(c *call, t target) reply {
	n := noteOf(c, t)
	if n == nil {
		return noNote()
	}
	var shapes []object
	for _, r := range n.reactions {
		shapes = append(shapes, c.awardShape(n, r))
	}
	return numbered(c, shapes)
}

// createAward refuses a second emoji of the same name with 404, as lib/api/award_emoji.rb
// of GitLab does: not_found!("Award Emoji Name has already been taken").
func (g *GitLab) createAward(c *call, t target) reply {
	n := noteOf(c, t)
	if n == nil {
		return noNote()
	}
	var in struct{ Name string }
	if refusal, good := c.decode(&in); !good {
		return refusal
	}
	if in.Name == "" {
		return missing("name")
	}
	if n.system || t.p.options.Archived {
		return gitlabProblem(http.StatusNotFound, "404 Award Emoji Not Found")
	}
	r, added := g.react(&n.comment, in.Name, c.account)
	if !added {
		return gitlabProblem(http.StatusNotFound, "404 Award Emoji Name has already been taken Not Found")
	}
	return created(c.awardShape(n, r))
}

func (c *call) awardShape(n *note, r reaction) object {
	return object{"id": r.id, "name": r.name, "user": c.basicUser(r.by), "created_at": instant(r.at), "updated_at": instant(r.at),
		"awardable_id": n.id, "awardable_type": "Note", "url": nil}
}

// React puts an emoji of somebody on a note: "thumbsup".
func (i *Item) React(id int64, login, name string) {
	i.g.mu.Lock()
	defer i.g.mu.Unlock()
	i.g.react(&i.must(id).comment, name, i.g.account(login))
}

// Unreact takes an emoji back.
func (i *Item) Unreact(id int64, login, name string) {
	i.g.mu.Lock()
	defer i.g.mu.Unlock()
	i.must(id).unreact(name, i.g.account(login))
}

// Reactions are those on a note, as "login name".
func (i *Item) Reactions(id int64) []string {
	i.g.mu.Lock()
	defer i.g.mu.Unlock()
	return i.must(id).reacted()
}
