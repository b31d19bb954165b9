package forgetest

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"
)

// instant is a time as GitLab writes it; the zero time is null.
func instant(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

func (c *call) basicUser(a *account) any {
	if a == nil {
		return nil
	}
	return object{
		"id": a.id, "username": a.login, "public_email": nil, "name": a.login, "state": "active", "locked": false,
		"avatar_url": nil, "web_url": c.web + "/" + a.login,
	}
}

func (c *call) fullUser(a *account) object {
	o := c.basicUser(a).(object)
	for _, name := range []string{
		"bio", "location", "website_url", "organization", "job_title", "pronouns", "work_information", "local_time",
		"linkedin", "twitter", "discord", "github",
	} {
		o[name] = ""
	}
	o["bot"], o["created_at"], o["followers"], o["following"], o["is_followed"] = a.kind == "Bot", instant(a.made), 0, 0, false
	return o
}

// ownUser is what the account itself may see.
func (c *call) ownUser(a *account) object {
	o := c.fullUser(a)
	for name, value := range map[string]any{
		"email": a.login + "@example.com", "commit_email": a.login + "@example.com", "last_sign_in_at": instant(a.made),
		"confirmed_at": instant(a.made), "last_activity_on": a.made.Format(time.DateOnly), "current_sign_in_at": instant(a.made),
		"theme_id": 1, "color_scheme_id": 1, "projects_limit": 100000, "identities": []object{}, "can_create_group": true,
		"can_create_project": true, "two_factor_enabled": false, "external": false, "private_profile": false,
		"shared_runners_minutes_limit": nil, "extra_shared_runners_minutes_limit": nil, "scim_identities": []object{},
	} {
		o[name] = value
	}
	return o
}

func (g *GitLab) memberShape(c *call, p *project, a *account) object {
	o := c.basicUser(a).(object)
	o["access_level"], o["expires_at"], o["created_at"] = g.level(p, a), nil, instant(p.made)
	o["membership_state"], o["created_by"] = "active", nil
	return o
}

func (g *GitLab) projectShape(c *call, p *project) object {
	page := c.web + "/" + p.path
	clone, visibility := p.options.CloneURL, "public"
	if clone == "" {
		clone = page + ".git"
	}
	switch {
	case p.options.Internal:
		visibility = "internal"
	case p.options.Private:
		visibility = "private"
	}
	feature := map[bool]string{true: "disabled", false: "enabled"}
	o := object{
		"id": p.id, "description": nil, "name": path.Base(p.path), "path": path.Base(p.path), "path_with_namespace": p.path,
		"name_with_namespace": strings.ReplaceAll(p.path, "/", " / "), "default_branch": p.options.DefaultBranch,
		"visibility": visibility, "ssh_url_to_repo": "git@localhost:" + p.path + ".git", "http_url_to_repo": clone,
		"web_url": page, "readme_url": nil, "avatar_url": nil, "created_at": instant(p.made), "updated_at": instant(p.made),
		"last_activity_at": instant(p.made), "archived": p.options.Archived, "empty_repo": false, "forks_count": 0,
		"star_count": 0, "topics": []string{}, "tag_list": []string{}, "open_issues_count": len(p.issues), "creator_id": 1,
		"issues_enabled": !p.options.NoIssues, "issues_access_level": feature[p.options.NoIssues],
		"merge_requests_enabled": !p.options.NoMerges, "merge_requests_access_level": feature[p.options.NoMerges],
		"wiki_enabled": true, "jobs_enabled": true, "snippets_enabled": true, "shared_with_groups": []object{},
		"namespace": object{
			"id": p.id + 1_000_000, "name": path.Base(path.Dir(p.path)), "path": path.Base(path.Dir(p.path)), "kind": "group",
			"full_path": path.Dir(p.path), "parent_id": nil, "avatar_url": nil, "web_url": c.web + "/groups/" + path.Dir(p.path),
		},
		"_links": object{"self": c.projectURL(p)},
	}
	if level := g.level(p, c.account); level > NoAccess {
		o["permissions"] = object{"project_access": object{"access_level": level, "notification_level": 3}, "group_access": nil}
	}
	return o
}

func (c *call) projectURL(p *project) string {
	return c.api + "/projects/" + strconv.FormatInt(p.id, 10)
}

// itemShape is what issues and merge requests have in common, and the rest of each.
func (g *GitLab) itemShape(c *call, t target) object {
	assignees := []any{}
	for _, a := range t.i.assignees {
		assignees = append(assignees, c.basicUser(a))
	}
	first := any(nil)
	if len(assignees) > 0 {
		first = assignees[0]
	}
	o := object{
		"id": t.i.id, "iid": t.i.iid, "project_id": t.p.id, "title": t.i.title, "description": orNull(t.i.body),
		"state": t.i.state, "created_at": instant(t.i.made), "updated_at": instant(t.i.updated), "closed_at": instant(t.i.closed),
		"closed_by": nil, "labels": t.i.labelNames(), "milestone": nil, "assignees": assignees, "assignee": first,
		"author": c.basicUser(t.i.author), "user_notes_count": t.i.remarks(), "upvotes": 0, "downvotes": 0,
		"discussion_locked": t.i.locked, "imported": false, "imported_from": "none",
		"task_completion_status": object{"count": 0, "completed_count": 0},
		"time_stats": object{
			"time_estimate": 0, "total_time_spent": 0, "human_time_estimate": nil, "human_total_time_spent": nil,
		},
	}
	more := c.issueParts(t)
	if t.i.merge != nil {
		more = c.mergeParts(t)
	}
	for name, value := range more {
		o[name] = value
	}
	return o
}

func (i *item) remarks() (n int) {
	for _, m := range i.notes {
		if !m.system {
			n++
		}
	}
	return n
}

func references(t target, sign string) object {
	short := sign + strconv.Itoa(t.i.iid)
	return object{"short": short, "relative": short, "full": t.p.path + short}
}

func (t target) page(c *call) string {
	kind := "issues"
	if t.i.merge != nil {
		kind = "merge_requests"
	}
	return fmt.Sprintf("%s/%s/-/%s/%d", c.web, t.p.path, kind, t.i.iid)
}

func (c *call) issueParts(t target) object {
	self := fmt.Sprintf("%s/issues/%d", c.projectURL(t.p), t.i.iid)
	return object{
		"type": "ISSUE", "issue_type": "issue", "severity": "UNKNOWN", "confidential": t.i.secret, "due_date": nil, "weight": nil,
		"has_tasks": true, "merge_requests_count": 0, "moved_to_id": idOrNull(t.i.moved), "service_desk_reply_to": nil, "subscribed": false,
		"web_url": t.page(c), "references": references(t, "#"),
		"_links": object{
			"self": self, "notes": self + "/notes", "award_emoji": self + "/award_emoji", "project": c.projectURL(t.p),
		},
	}
}

func (c *call) mergeParts(t target) object {
	m, mergedAt := t.i.merge, any(nil)
	reviewers := []any{}
	for _, a := range m.reviewers {
		reviewers = append(reviewers, c.basicUser(a))
	}
	if t.i.state == "merged" {
		mergedAt = instant(t.i.closed)
	}
	return object{
		"source_branch": m.source, "target_branch": m.target, "source_project_id": m.sourceProject, "target_project_id": t.p.id,
		"draft": t.i.draft(), "work_in_progress": t.i.draft(), "reviewers": reviewers, "merged_by": nil, "merge_user": nil,
		"merged_at": mergedAt, "sha": commitOf(m.source), "merge_commit_sha": nil, "squash_commit_sha": nil, "squash": false,
		"squash_on_merge": false, "merge_when_pipeline_succeeds": false, "merge_status": "can_be_merged",
		"detailed_merge_status": "mergeable", "should_remove_source_branch": nil, "force_remove_source_branch": false,
		"has_conflicts": false, "blocking_discussions_resolved": true, "reference": "!" + strconv.Itoa(t.i.iid),
		"web_url": t.page(c), "references": references(t, "!"), "changes_count": "1", "merge_error": nil,
		"diff_refs": diffRefs(m), "user": object{"can_merge": true}, "prepared_at": instant(t.i.made),
	}
}

func diffRefs(m *merge) object {
	return object{"base_sha": commitOf(m.target), "start_sha": commitOf(m.target), "head_sha": commitOf(m.source)}
}

func (c *call) noteShape(t target, n *note) object {
	kind := "Issue"
	if t.i.merge != nil {
		kind = "MergeRequest"
	}
	o := object{
		"id": n.id, "type": orNull(n.kind), "body": n.body, "attachment": nil, "author": c.basicUser(n.author),
		"created_at": instant(n.made), "updated_at": instant(n.updated), "system": n.system, "noteable_id": t.i.id,
		"noteable_type": kind, "project_id": t.p.id, "noteable_iid": t.i.iid, "resolvable": n.place != nil,
		"confidential": n.internal, "internal": n.internal, "imported": false, "imported_from": "none", "commands_changes": object{},
	}
	if n.place == nil {
		return o
	}
	position := diffRefs(t.i.merge)
	position["position_type"], position["old_path"], position["new_path"] = "text", n.place.Path, n.place.Path
	position["old_line"], position["new_line"] = nil, n.place.Line
	if n.place.Old {
		position["old_line"], position["new_line"] = n.place.Line, nil
	}
	if from := n.place.From; from > 0 {
		start, end := object{"line_code": "x", "type": "new", "old_line": nil, "new_line": from}, object{"line_code": "x", "type": "new", "old_line": nil, "new_line": n.place.Line}
		if n.place.Old {
			start, end = object{"line_code": "x", "type": "old", "old_line": from, "new_line": nil}, object{"line_code": "x", "type": "old", "old_line": n.place.Line, "new_line": nil}
		}
		position["line_range"] = object{"start": start, "end": end}
	}
	o["position"], o["resolved"], o["resolved_by"], o["resolved_at"] = position, n.place.Resolved, nil, nil
	return o
}
