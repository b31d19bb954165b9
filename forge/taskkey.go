package forge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// Kind is what sort of item a task is. The values are those of the task_key objects in projection files.
type Kind string

// The kinds of task.
const (
	GitHubIssue        Kind = "github_issue"
	GitHubPullRequest  Kind = "github_pull_request"
	GitLabIssue        Kind = "gitlab_issue"
	GitLabMergeRequest Kind = "gitlab_merge_request"
	FileTask           Kind = "file"
)

// TaskKey identifies a task for ever. Of a task in a directory the project is the
// directory's name, and the text form has it once: "files/inbox/tasks/12".
type TaskKey struct {
	Host    string // web host, with a path prefix if the forge has one: "github.com", "git.example.com/forge"
	Project string // "owner/repo", or a GitLab path with sub-groups
	Kind    Kind
	Number  int
}

var middles = []struct {
	kind   Kind
	middle string
}{
	{GitLabIssue, "/-/issues/"},
	{GitLabMergeRequest, "/-/merge_requests/"},
	{GitHubIssue, "/issues/"},
	{GitHubPullRequest, "/pull/"},
	{FileTask, "/tasks/"},
}

// String is the web path without its scheme, for instance "github.com/o/r/issues/12".
func (k TaskKey) String() string {
	for _, m := range middles {
		switch {
		case m.kind == FileTask && k.Kind == FileTask: // the host is the directory's, and names it
			return k.Host + m.middle + strconv.Itoa(k.Number)
		case m.kind == k.Kind:
			return k.Host + "/" + k.Project + m.middle + strconv.Itoa(k.Number)
		}
	}
	return ""
}

// filesHost begins the hosts of directories of files: "files/inbox".
const filesHost = "files/"

// TryPrefix begins the names of the directories that `agent try` makes, one for each task.
const TryPrefix = "try-"

// OfTry reports whether a host is a directory of `agent try`, whose name ends in eight hex digits.
func OfTry(host string) bool {
	id, ok := strings.CutPrefix(host, filesHost+TryPrefix)
	return ok && len(id) == 8 && strings.Trim(id, "0123456789abcdef") == ""
}

// CompareKeys orders task keys in their text form. Hosts, owners and projects have
// no case on any forge: keys that differ in nothing else are the same.
func CompareKeys(a, b string) int {
	if a == b {
		return 0
	}
	return strings.Compare(FoldKey(a), FoldKey(b))
}

// FoldKey is what all spellings of a task key have in common.
func FoldKey(key string) string { return strings.ToLower(key) }

// IsGitHub reports whether the task lives on a GitHub.
func (k TaskKey) IsGitHub() bool { return k.Kind == GitHubIssue || k.Kind == GitHubPullRequest }

// Owner and Repo are the two halves of a GitHub project; Owner is the whole group path on GitLab.
func (k TaskKey) Owner() string { return k.Project[:max(strings.LastIndexByte(k.Project, '/'), 0)] }

// Repo is the last part of Project.
func (k TaskKey) Repo() string { return k.Project[strings.LastIndexByte(k.Project, '/')+1:] }

// ParseTaskKey reads a pasted URL or the text form. On GitHub the project is
// the two path elements before the item, so that a host may have a path; on
// GitLab the host is one of hosts if one matches, else the first element.
func ParseTaskKey(s string, hosts ...string) (TaskKey, error) {
	text := strings.TrimSpace(s)
	for _, scheme := range []string{"https://", "http://"} {
		text = strings.TrimPrefix(text, scheme)
	}
	text, _, _ = strings.Cut(text, "#")
	text, _, _ = strings.Cut(text, "?")
	for _, other := range []string{"/-/work_items/", "/-/issues/incident/"} { // other pages of the same issue
		text = strings.Replace(text, other, "/-/issues/", 1)
	}
	var first error
	for _, m := range middles {
		for at := range places(text, m.middle) {
			key, err := parseAt(s, text[:at], text[at+len(m.middle):], m.kind, hosts)
			if err == nil {
				return key, nil
			}
			first = cmp.Or(first, err)
		}
	}
	return TaskKey{}, cmp.Or(first, noTask(s))
}

func noTask(s string) error {
	return fmt.Errorf("%q is not a task: give a URL such as https://github.com/owner/repo/issues/12", s)
}

// places are the indices at which part begins in text: a project or a directory may be called "issues", too.
func places(text, part string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for at := 0; ; at++ {
			next := strings.Index(text[at:], part)
			if next < 0 || !yield(at+next) {
				return
			}
			at += next
		}
	}
}

// parseAt makes a key of what stands before and after the middle of one.
func parseAt(s, left, right string, kind Kind, hosts []string) (TaskKey, error) {
	key := TaskKey{Kind: kind}
	if key.IsGitHub() && strings.HasSuffix(left, "/-") {
		return key, fmt.Errorf("%q is not a task: the project must be owner/repo", s) // it is a GitLab's
	}
	directory, local := strings.CutPrefix(left, filesHost)
	if kind == FileTask && (!local || strings.Contains(directory, "/")) {
		return key, noTask(s)
	}
	number, _, _ := strings.Cut(right, "/")
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || strconv.Itoa(n) != number {
		return key, fmt.Errorf("%q: %q is not an item number", s, number)
	}
	key.Number = n
	if key.Host, key.Project = splitHost(left, kind, hosts); kind == FileTask {
		key.Host, key.Project = directoryOf(left, hosts)
	}
	return key, key.validate(s)
}

func splitHost(left string, kind Kind, hosts []string) (host, project string) {
	for _, h := range hosts {
		if len(left) > len(h) && left[len(h)] == '/' && strings.EqualFold(left[:len(h)], h) && len(h) > len(host) {
			host = h
		}
	}
	if host != "" {
		return host, left[len(host)+1:]
	}
	parts := strings.Split(left, "/")
	at := 1
	if kind == GitHubIssue || kind == GitHubPullRequest {
		at = max(len(parts)-2, 1)
	}
	parts[0] = strings.ToLower(parts[0])
	return strings.Join(parts[:at], "/"), strings.Join(parts[at:], "/")
}

// directoryOf spells a directory's host as hosts do.
func directoryOf(left string, hosts []string) (host, project string) {
	for _, h := range hosts {
		if strings.EqualFold(left, h) {
			left = h
		}
	}
	return left, strings.TrimPrefix(left, filesHost)
}

func (k TaskKey) validate(s string) error {
	parts := strings.Split(k.Project, "/")
	if k.Host == "" || len(parts) < 2 && k.Kind != FileTask || (k.IsGitHub() && len(parts) != 2) {
		return fmt.Errorf("%q is not a task: the project must be owner/repo", s)
	}
	for _, p := range append(parts, strings.Split(k.Host, "/")...) {
		if p == "" || p == "." || p == ".." || strings.ContainsAny(p, "\x00\n\r\t \\") {
			return fmt.Errorf("%q is not a task: bad path element %q", s, p)
		}
	}
	return nil
}

// MarshalJSON gives the task_key object of the projection files.
func (k TaskKey) MarshalJSON() ([]byte, error) {
	type object struct {
		Type      Kind   `json:"type"`
		Owner     string `json:"owner,omitempty"`
		Repo      string `json:"repo,omitempty"`
		Number    *int   `json:"number,omitempty"`
		ProjectID string `json:"project_id,omitempty"`
		IssueIID  *int   `json:"issue_iid,omitempty"`
		MRIID     *int   `json:"mr_iid,omitempty"`
	}
	switch k.Kind {
	case GitLabIssue:
		return json.Marshal(object{Type: k.Kind, ProjectID: k.Project, IssueIID: &k.Number})
	case GitLabMergeRequest:
		return json.Marshal(object{Type: k.Kind, ProjectID: k.Project, MRIID: &k.Number})
	default:
		return json.Marshal(object{Type: k.Kind, Owner: k.Owner(), Repo: k.Repo(), Number: &k.Number})
	}
}
