package forgetest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// graphQL answers the queries that GitHub's own MCP server sends for issues,
// labels and review threads, and closes and opens issues. What a query asks
// for beyond that is an error, as a field that does not exist.
func (s *Server) graphQL(c *call) reply {
	if c.account == nil {
		return problem(http.StatusUnauthorized, "This endpoint requires you to be authenticated.")
	}
	var in struct {
		Query     string         `json:"query"`
		Variables map[string]any `json:"variables"`
	}
	if refusal, good := c.decode(&in); !good {
		return refusal
	}
	mutation, fields, err := parseGraphQL(in.Query)
	if err != nil {
		return ok(object{"errors": []object{{"message": err.Error()}}})
	}
	g := &graphRun{variables: in.Variables}
	root := s.queryNode(c, g)
	if mutation {
		root = s.mutationNode(c, g)
	}
	answer := object{"data": g.pick(fields, root)}
	if len(g.errors) > 0 {
		answer["errors"] = g.errors
	}
	return ok(answer)
}

func (s *Server) queryNode(c *call, g *graphRun) node {
	return node{
		"__typename": "Query",
		"viewer":     userNode(c.account),
		"repository": func(a arguments) any {
			r := s.repos[key(a.text("owner")+"/"+a.text("name"))]
			if r == nil || s.role(r, c.account) < roleRead {
				return g.problem("NOT_FOUND", "Could not resolve to a Repository with the name '"+a.text("owner")+"/"+a.text("name")+"'.")
			}
			return s.repositoryNode(c, g, r)
		},
		"nodes": func(a arguments) any {
			list := []node{}
			for _, id := range a.texts("ids") {
				if r, i := s.itemByNode(c, id); i != nil {
					list = append(list, c.itemNode(r, i))
				}
			}
			return list
		},
	}
}

func (s *Server) mutationNode(c *call, g *graphRun) node {
	change := func(open bool) func(arguments) any {
		return func(a arguments) any {
			id := a.object("input").text("issueId")
			r, i := s.itemByNode(c, id)
			if i == nil {
				return g.problem("NOT_FOUND", "Could not resolve to a node with the global id of '"+id+"'")
			}
			if s.role(r, c.account) < roleTriage && i.author != c.account {
				return g.problem("FORBIDDEN", c.account.login+" does not have the correct permissions to execute this.")
			}
			s.setOpen(i, open)
			return node{"__typename": "Payload", "issue": c.itemNode(r, i)}
		}
	}
	return node{"__typename": "Mutation", "closeIssue": change(false), "reopenIssue": change(true)}
}

// itemByNode finds an issue by its global id.
func (s *Server) itemByNode(c *call, id string) (*repository, *issue) {
	for _, r := range s.order {
		for _, i := range r.issues {
			if nodeID("Issue", i.id) == id && s.role(r, c.account) >= roleRead {
				return r, i
			}
		}
	}
	return nil, nil
}

func (s *Server) repositoryNode(c *call, g *graphRun, r *repository) node {
	item := func(name string, pull bool) func(arguments) any {
		return func(a arguments) any {
			n := a.number("number")
			if n < 1 || n > len(r.issues) || (r.issues[n-1].pull != nil) != pull {
				return g.problem("NOT_FOUND", "Could not resolve to "+name+" with the number of "+strconv.Itoa(n)+".")
			}
			return c.itemNode(r, r.issues[n-1])
		}
	}
	return node{
		"__typename": "Repository", "id": nodeID("Repository", r.id), "nameWithOwner": r.fullName(),
		"isPrivate": r.options.Private || r.options.Internal,
		"issue":     item("an Issue", false), "pullRequest": item("a PullRequest", true),
		"issues": func(a arguments) any { return connection("Issue", c.issueNodes(r, a))(a) },
		"labels": connection("Label", labelNodes(r.labels)),
		"label": func(a arguments) any {
			if l := r.label(a.text("name")); l != nil {
				return labelNodes([]*label{l})[0]
			}
			return nil
		},
	}
}

func (c *call) issueNodes(r *repository, a arguments) (nodes []node) {
	order, states := a.object("orderBy"), a.texts("states")
	f := filter{state: "all", labels: a.texts("labels"), rising: order.text("direction") == "ASC"}
	if order.text("field") == "UPDATED_AT" {
		f.sort = "updated"
	}
	f.since, _ = time.Parse(time.RFC3339, a.object("filterBy").text("since"))
	all := slices.Clone(r.issues)
	slices.SortFunc(all, f.order)
	for _, i := range all {
		n := c.itemNode(r, i)
		if i.pull == nil && f.takes(i) && (len(states) == 0 || slices.Contains(states, n["state"].(string))) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

func userNode(a *account) any {
	if a == nil {
		return nil
	}
	return node{"__typename": "User", "id": nodeID("User", a.id), "login": a.login}
}

func labelNodes(labels []*label) (nodes []node) {
	for _, l := range labels {
		nodes = append(nodes, node{"__typename": "Label", "id": nodeID("Label", l.id), "name": l.name, "color": l.color, "description": l.description})
	}
	return nodes
}

// itemNode is an issue or a pull request. It has no custom fields, parents or sub-issues.
func (c *call) itemNode(r *repository, i *issue) node {
	var assignees, comments []node
	for _, a := range i.assignees {
		assignees = append(assignees, userNode(a).(node))
	}
	for _, m := range i.comments {
		comments = append(comments, node{"__typename": "IssueComment", "body": m.body, "author": userNode(m.author)})
	}
	o := c.issueShape(r, i)
	n := node{
		"__typename": "Issue", "id": o["node_id"], "databaseId": i.id, "fullDatabaseId": strconv.FormatInt(i.id, 10),
		"number": i.number, "title": i.title, "body": i.body, "state": strings.ToUpper(o["state"].(string)), "url": o["html_url"],
		"createdAt": moment(i.made), "updatedAt": moment(i.updated), "author": userNode(i.author),
		"labels": connection("Label", labelNodes(i.labels)), "assignees": connection("User", assignees),
		"comments": connection("IssueComment", comments), "issueFieldValues": connection("IssueFieldValue", nil),
		"parent": nil, "closedByPullRequestsReferences": connection("PullRequest", nil),
		"subIssuesSummary": node{"__typename": "SubIssuesSummary", "total": 0, "completed": 0, "percentCompleted": 0},
		"repository":       node{"__typename": "Repository", "nameWithOwner": r.fullName()},
	}
	if i.pull != nil {
		n["__typename"], n["isDraft"] = "PullRequest", i.pull.draft
		n["reviewThreads"] = connection("PullRequestReviewThread", c.threadNodes(r, i))
	}
	return n
}

// threadNodes puts the review comments together with their replies.
func (c *call) threadNodes(r *repository, i *issue) (threads []node) {
	for _, first := range i.pull.remarks {
		if first.replyTo != 0 {
			continue
		}
		var comments []node
		for _, m := range i.pull.remarks {
			if m == first || m.replyTo == first.id {
				comments = append(comments, c.remarkNode(r, i, m))
			}
		}
		threads = append(threads, node{
			"__typename": "PullRequestReviewThread", "id": nodeID("Thread", first.id), "isResolved": false, "isOutdated": false,
			"isCollapsed": false, "comments": connection("PullRequestReviewComment", comments),
		})
	}
	return threads
}

func (c *call) remarkNode(r *repository, i *issue, m *reviewComment) node {
	o := c.reviewCommentShape(r, i, m)
	return node{
		"__typename": "PullRequestReviewComment", "id": o["node_id"], "body": m.body, "path": m.place.Path, "line": o["line"],
		"author": userNode(m.author), "createdAt": moment(m.made), "updatedAt": moment(m.updated), "url": o["html_url"],
	}
}
