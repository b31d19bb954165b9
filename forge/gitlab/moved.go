package gitlab

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"gitlab.com/gitlab-org/api/client-go/v2"

	"agent/forge"
)

// issueMoved says where an issue was moved. The issue itself names the id of the new
// one only, which nobody but an administrator can look up; a note of GitLab's names the
// address. It is believed if the issue there has that id.
func (c *Client) issueMoved(ctx context.Context, op string, from forge.TaskKey, id int64) error {
	notes, err := c.Comments(ctx, from, forge.Edit{}.At)
	if err != nil {
		return err
	}
	unknown := &forge.Error{Kind: forge.Hidden, Op: op, Message: fmt.Sprintf("%s was moved to a place that cannot be seen", from)}
	for _, n := range notes {
		reference, found := strings.CutPrefix(n.Body, "moved to ")
		to, ok := referred(from, reference)
		if !n.System || !found || !ok {
			continue
		}
		there, err := one(c, ctx, op, func(with request) (*gitlab.Issue, *gitlab.Response, error) {
			return c.api.Issues.GetIssue(to.Project, int64(to.Number), nil, with)
		})
		if hidden(err) {
			return unknown
		}
		if err != nil {
			return err
		}
		if there.ID == id {
			return &forge.Error{Kind: forge.Moved, Op: op, Message: fmt.Sprintf("%s moved to %s", from, to), To: to, Transferred: true}
		}
	}
	return unknown
}

// referred reads a reference as GitLab writes it: group/project#1, project#1 within a
// group, #1 within a project.
func referred(from forge.TaskKey, reference string) (to forge.TaskKey, ok bool) {
	project, number, ok := strings.Cut(reference, "#")
	n, err := strconv.Atoi(number)
	switch {
	case !ok || err != nil || n <= 0:
		return to, false
	case project == "":
		project = from.Project
	case !strings.Contains(project, "/"):
		project = path.Join(path.Dir(from.Project), project)
	}
	to = from
	to.Project, to.Number = project, n
	return to, validProject(project)
}

// idOf is an id as text, "" if there is none.
func idOf(id int64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}
