package forgetest

import (
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// object is a JSON object. The shapes below are long, and only ever written.
type object map[string]any

func nodeID(kind string, id int64) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s:%d", kind, id))
}

// moment is a time as GitHub writes it; the zero time is null.
func moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

// orNull is null for an empty text.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (c *call) userShape(a *account) any {
	if a == nil {
		return nil
	}
	return c.userObject(a)
}

func (c *call) userObject(a *account) object {
	self := c.api + "/users/" + url.PathEscape(a.login)
	o := object{
		"login": a.login, "id": a.id, "node_id": nodeID("User", a.id), "gravatar_id": "",
		"avatar_url": c.web + "/avatars/u/" + strconv.FormatInt(a.id, 10),
		"url":        self, "html_url": c.web + "/" + url.PathEscape(a.login),
		"type": a.kind, "user_view_type": "public", "site_admin": false,
	}
	for name, tail := range map[string]string{
		"followers_url": "/followers", "following_url": "/following{/other_user}", "gists_url": "/gists{/gist_id}",
		"starred_url": "/starred{/owner}{/repo}", "subscriptions_url": "/subscriptions", "organizations_url": "/orgs",
		"repos_url": "/repos", "events_url": "/events{/privacy}", "received_events_url": "/received_events",
	} {
		o[name] = self + tail
	}
	return o
}

// profile is the long form of an account.
func (c *call) profile(a *account) object {
	o := c.userObject(a)
	for _, name := range []string{"name", "company", "blog", "location", "email", "hireable", "bio", "twitter_username"} {
		o[name] = nil
	}
	for _, name := range []string{"public_repos", "public_gists", "followers", "following"} {
		o[name] = 0
	}
	o["created_at"], o["updated_at"] = moment(a.made), moment(a.made)
	return o
}

func (c *call) repositoryURL(r *repository) string { return c.api + "/repos/" + r.fullName() }

// Tails of the URLs that belong to a repository.
var repositoryTails = map[string]string{
	"archive": "/{archive_format}{/ref}", "assignees": "/assignees{/user}", "blobs": "/git/blobs{/sha}",
	"branches": "/branches{/branch}", "collaborators": "/collaborators{/collaborator}", "comments": "/comments{/number}",
	"commits": "/commits{/sha}", "compare": "/compare/{base}...{head}", "contents": "/contents/{+path}",
	"contributors": "/contributors", "deployments": "/deployments", "downloads": "/downloads", "events": "/events",
	"forks": "/forks", "git_commits": "/git/commits{/sha}", "git_refs": "/git/refs{/sha}", "git_tags": "/git/tags{/sha}",
	"hooks": "/hooks", "issue_comment": "/issues/comments{/number}", "issue_events": "/issues/events{/number}",
	"issues": "/issues{/number}", "keys": "/keys{/key_id}", "labels": "/labels{/name}", "languages": "/languages",
	"merges": "/merges", "milestones": "/milestones{/number}",
	"notifications": "/notifications{?since,all,participating}", "pulls": "/pulls{/number}", "releases": "/releases{/id}",
	"stargazers": "/stargazers", "statuses": "/statuses/{sha}", "subscribers": "/subscribers",
	"subscription": "/subscription", "tags": "/tags", "teams": "/teams", "trees": "/git/trees{/sha}",
}

func (c *call) repositoryShape(r *repository) object {
	self, page := c.repositoryURL(r), c.web+"/"+r.fullName()
	clone := r.options.CloneURL
	if clone == "" {
		clone = page + ".git"
	}
	visibility := "public"
	if r.options.Internal {
		visibility = "internal"
	} else if r.options.Private {
		visibility = "private"
	}
	o := object{
		"id": r.id, "node_id": nodeID("Repository", r.id), "name": r.name, "full_name": r.fullName(),
		"owner": c.userShape(r.owner), "private": visibility != "public", "visibility": visibility,
		"html_url": page, "url": self, "description": nil, "fork": false, "clone_url": clone,
		"git_url": "git://" + strings.TrimPrefix(page, "http://") + ".git", "ssh_url": "git@localhost:" + r.fullName() + ".git",
		"svn_url": page, "mirror_url": nil, "topics": []string{}, "homepage": nil, "language": nil, "license": nil,
		"default_branch": r.options.DefaultBranch, "archived": r.options.Archived, "disabled": false,
		"open_issues": r.openIssues(), "open_issues_count": r.openIssues(),
		"created_at": moment(r.made), "updated_at": moment(r.made), "pushed_at": moment(r.made),
	}
	for name, tail := range repositoryTails {
		o[name+"_url"] = self + tail
	}
	for _, name := range []string{
		"has_issues", "has_projects", "has_wiki", "has_downloads", "allow_forking", "allow_merge_commit", "allow_rebase_merge", "allow_squash_merge",
	} {
		o[name] = true
	}
	for _, name := range []string{
		"has_pages", "has_discussions", "is_template", "allow_update_branch", "delete_branch_on_merge",
		"use_squash_pr_title_as_default", "web_commit_signoff_required", "allow_auto_merge",
	} {
		o[name] = false
	}
	for _, name := range []string{
		"size", "forks", "forks_count", "stargazers_count", "watchers", "watchers_count", "network_count", "subscribers_count",
	} {
		o[name] = 0
	}
	return o
}

func (r *repository) openIssues() (n int) {
	for _, i := range r.issues {
		if i.open {
			n++
		}
	}
	return n
}

func (c *call) labelShape(r *repository, l *label) object {
	return object{
		"id": l.id, "node_id": nodeID("Label", l.id), "url": c.repositoryURL(r) + "/labels/" + url.PathEscape(l.name),
		"name": l.name, "color": l.color, "default": false, "description": l.description,
	}
}

func (c *call) labelShapes(r *repository, labels []*label) []object {
	all := make([]object, 0, len(labels))
	for _, l := range labels {
		all = append(all, c.labelShape(r, l))
	}
	return all
}

// issueShape is the issue, or the pull request seen as one.
func (c *call) issueShape(r *repository, i *issue) object {
	number := strconv.Itoa(i.number)
	self := c.repositoryURL(r) + "/issues/" + number
	page := c.web + "/" + r.fullName() + "/issues/" + number
	o := c.itemShape(r, i)
	if i.pull != nil {
		page = c.web + "/" + r.fullName() + "/pull/" + number
		o["draft"] = i.pull.draft
		o["pull_request"] = object{
			"url": c.repositoryURL(r) + "/pulls/" + number, "html_url": page, "diff_url": page + ".diff",
			"patch_url": page + ".patch", "merged_at": moment(i.pull.merged),
		}
	}
	for name, value := range map[string]any{
		"url": self, "html_url": page, "repository_url": c.repositoryURL(r), "labels_url": self + "/labels{/name}",
		"comments_url": self + "/comments", "events_url": self + "/events", "timeline_url": self + "/timeline",
		"comments": len(i.comments), "state_reason": nil, "performed_via_github_app": nil,
		"closed_by": nil,
	} {
		o[name] = value
	}
	return o
}

// itemShape is what issues and pull requests have in common.
func (c *call) itemShape(r *repository, i *issue) object {
	assignees := c.usersShape(i.assignees)
	first := any(nil)
	if len(assignees) > 0 {
		first = assignees[0]
	}
	state := "closed"
	if i.open {
		state = "open"
	}
	return object{
		"id": i.id, "node_id": nodeID("Issue", i.id), "number": i.number, "title": i.title, "body": orNull(i.body),
		"user": c.userShape(i.author), "labels": c.labelShapes(r, i.labels), "state": state, "locked": false,
		"active_lock_reason": nil, "assignee": first, "assignees": assignees, "milestone": nil,
		"author_association": "NONE", "created_at": moment(i.made), "updated_at": moment(i.updated),
		"closed_at": moment(i.closed),
	}
}

func (c *call) commentShape(r *repository, i *issue, m *comment) object {
	issueURL := c.repositoryURL(r) + "/issues/" + strconv.Itoa(i.number)
	kind := "/issues/"
	if i.pull != nil {
		kind = "/pull/"
	}
	id := strconv.FormatInt(m.id, 10)
	return object{
		"id": m.id, "node_id": nodeID("IssueComment", m.id), "url": c.repositoryURL(r) + "/issues/comments/" + id,
		"html_url":  c.web + "/" + r.fullName() + kind + strconv.Itoa(i.number) + "#issuecomment-" + id,
		"issue_url": issueURL, "body": m.body, "user": c.userShape(m.author), "author_association": "NONE",
		"created_at": moment(m.made), "updated_at": moment(m.updated), "performed_via_github_app": nil,
	}
}

// pullShape is the long form of a pull request, which lists may show as well.
func (c *call) pullShape(r *repository, i *issue) object {
	number := strconv.Itoa(i.number)
	self := c.repositoryURL(r) + "/pulls/" + number
	issueURL := c.repositoryURL(r) + "/issues/" + number
	page := c.web + "/" + r.fullName() + "/pull/" + number
	urls := map[string]string{
		"self": self, "html": page, "issue": issueURL, "comments": issueURL + "/comments",
		"review_comments": self + "/comments", "review_comment": c.repositoryURL(r) + "/pulls/comments{/number}",
		"commits": self + "/commits", "statuses": c.repositoryURL(r) + "/statuses/" + commitOf(i.pull.head),
	}
	o, links := c.itemShape(r, i), object{}
	for name, u := range urls {
		links[name] = object{"href": u}
		o[name+"_url"] = u
	}
	delete(o, "self_url")
	for name, value := range map[string]any{
		"user": c.userOrGhost(i.author),
		"url":  self, "diff_url": page + ".diff", "patch_url": page + ".patch", "_links": links, "draft": i.pull.draft,
		"head": c.headSide(r, i.pull), "base": c.side(r, i.pull.base), "merge_commit_sha": nil, "merged_at": moment(i.pull.merged),
		"auto_merge": nil, "requested_reviewers": c.usersShape(i.pull.reviewers), "requested_teams": []object{}, "merged": !i.pull.merged.IsZero(),
		"mergeable": nil, "mergeable_state": "unknown", "merged_by": nil, "maintainer_can_modify": false,
		"comments": len(i.comments), "review_comments": len(i.pull.remarks), "commits": 1, "additions": 1, "deletions": 0, "changed_files": 1,
	} {
		o[name] = value
	}
	return o
}

func (c *call) usersShape(accounts []*account) []any {
	shapes := []any{}
	for _, a := range accounts {
		shapes = append(shapes, c.userShape(a))
	}
	return shapes
}

func (c *call) side(r *repository, branch string) object {
	return object{
		"label": r.owner.login + ":" + branch, "ref": branch, "sha": commitOf(branch),
		"user": c.userShape(r.owner), "repo": c.repositoryShape(r),
	}
}

// headSide is the head: in the repository, in a fork, or in a fork that is gone.
func (c *call) headSide(r *repository, p *pull) object {
	o := c.side(r, p.head)
	if !p.fork {
		return o
	}
	if p.forkOwner == nil {
		o["label"], o["repo"], o["user"] = "unknown:"+p.head, nil, nil
		return o
	}
	copied := *r
	copied.id, copied.owner = p.forkOwner.id, p.forkOwner
	fork := c.repositoryShape(&copied)
	fork["fork"] = true
	o["label"], o["repo"], o["user"] = p.forkOwner.login+":"+p.head, fork, c.userShape(p.forkOwner)
	return o
}

// commitOf is a stable made-up commit for a branch: the server holds no objects.
func commitOf(branch string) string {
	sum := sha1.Sum([]byte(branch))
	return hex.EncodeToString(sum[:])
}
