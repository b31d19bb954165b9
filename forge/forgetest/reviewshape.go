package forgetest

import "strconv"

func (c *call) linksOf(self, html, pull string) object {
	links := object{"html": object{"href": html}, "pull_request": object{"href": pull}}
	if self != "" {
		links["self"] = object{"href": self}
	}
	return links
}

func (c *call) pullURLs(r *repository, i *issue) (api, page string) {
	number := strconv.Itoa(i.number)
	return c.repositoryURL(r) + "/pulls/" + number, c.web + "/" + r.fullName() + "/pull/" + number
}

func (c *call) reviewShape(r *repository, i *issue, v *review) object {
	api, page := c.pullURLs(r, i)
	html := page + "#pullrequestreview-" + strconv.FormatInt(v.id, 10)
	o := object{
		"id": v.id, "node_id": nodeID("PullRequestReview", v.id), "user": c.userShape(v.author), "body": v.body,
		"state": v.state, "html_url": html, "pull_request_url": api, "_links": c.linksOf("", html, api),
		"commit_id": commitOf(i.pull.head), "author_association": "NONE",
	}
	if v.state != "PENDING" {
		o["submitted_at"] = moment(v.made)
	}
	return o
}

func (c *call) reviewCommentShape(r *repository, i *issue, m *reviewComment) object {
	api, page := c.pullURLs(r, i)
	id := strconv.FormatInt(m.id, 10)
	self, html := c.repositoryURL(r)+"/pulls/comments/"+id, page+"#discussion_r"+id
	o := object{
		"id": m.id, "node_id": nodeID("PullRequestReviewComment", m.id), "url": self, "html_url": html,
		"pull_request_url": api, "_links": c.linksOf(self, html, api), "pull_request_review_id": idOrNull(m.review),
		"diff_hunk": m.place.Hunk, "path": m.place.Path, "commit_id": commitOf(i.pull.head),
		"original_commit_id": commitOf(i.pull.head), "user": c.userOrGhost(m.author), "body": m.body,
		"created_at": moment(m.made), "updated_at": moment(m.updated), "author_association": "NONE",
		"subject_type": "file", "side": "RIGHT", "start_side": nil, "start_line": nil, "original_start_line": nil,
	}
	if m.replyTo != 0 {
		o["in_reply_to_id"] = m.replyTo
	}
	if m.place.Line > 0 {
		o["subject_type"], o["line"], o["original_line"], o["position"], o["original_position"] = "line", m.place.Line, m.place.Line, 1, 1
	}
	if m.place.StartLine > 0 {
		o["start_side"], o["start_line"], o["original_start_line"] = "RIGHT", m.place.StartLine, m.place.StartLine
	}
	return o
}

func idOrNull(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}

// userOrGhost is for places that have no null: a deleted account is the user ghost.
func (c *call) userOrGhost(a *account) object {
	if a == nil {
		a = &account{id: 10137, login: "ghost", kind: "User"}
	}
	return c.userObject(a)
}
