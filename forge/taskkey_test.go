package forge_test

import (
	"encoding/json"
	"strings"
	"testing"

	"agent/forge"
)

func TestParseTaskKey(t *testing.T) {
	issue := func(host, project string, n int) forge.TaskKey {
		return forge.TaskKey{Host: host, Project: project, Kind: forge.GitHubIssue, Number: n}
	}
	file := func(directory string, n int) forge.TaskKey {
		return forge.TaskKey{Host: "files/" + directory, Project: directory, Kind: forge.FileTask, Number: n}
	}
	for _, test := range []struct {
		in    string
		hosts []string
		want  forge.TaskKey
	}{
		{"https://github.com/o/r/issues/12", nil, issue("github.com", "o/r", 12)},
		{"http://127.0.0.1:8080/o/r/issues/12", nil, issue("127.0.0.1:8080", "o/r", 12)},
		{"github.com/o/r/issues/12", nil, issue("github.com", "o/r", 12)},
		{"  https://github.com/o/r/issues/12\n", nil, issue("github.com", "o/r", 12)},
		{"https://github.com/o/r/issues/12#issuecomment-1", nil, issue("github.com", "o/r", 12)},
		{"https://github.com/o/r/issues/12?q=is%3Aopen#top", nil, issue("github.com", "o/r", 12)},
		{"https://github.com/o/r/issues/12/", nil, issue("github.com", "o/r", 12)},
		{"https://github.com/o/my.repo-x_y/issues/1", nil, issue("github.com", "o/my.repo-x_y", 1)},
		{"https://ghe.example/forge/o/r/issues/3", nil, issue("ghe.example/forge", "o/r", 3)},
		{"https://ghe.example/forge/o/r/issues/3", []string{"ghe.example/forge"}, issue("ghe.example/forge", "o/r", 3)},
		{"https://ghe.example/forge/o/r/issues/3", []string{"ghe.example", "ghe.example/forge"}, issue("ghe.example/forge", "o/r", 3)},
		{"https://ghe.example/o/r/issues/3", []string{"ghe.example.org"}, issue("ghe.example", "o/r", 3)},
		{"https://github.com/o/r/pull/7/files#diff-1", nil, forge.TaskKey{Host: "github.com", Project: "o/r", Kind: forge.GitHubPullRequest, Number: 7}},
		{"https://gitlab.example.com/g/sub/p/-/issues/3", nil, forge.TaskKey{Host: "gitlab.example.com", Project: "g/sub/p", Kind: forge.GitLabIssue, Number: 3}},
		{"https://gitlab.example.com/g/p/-/work_items/3#note_9", nil, forge.TaskKey{Host: "gitlab.example.com", Project: "g/p", Kind: forge.GitLabIssue, Number: 3}},
		{"https://gitlab.example.com/g/p/-/issues/incident/3?x=1", nil, forge.TaskKey{Host: "gitlab.example.com", Project: "g/p", Kind: forge.GitLabIssue, Number: 3}},
		{"https://gitlab.example.com/g/p/-/issues/3#note_99", nil, forge.TaskKey{Host: "gitlab.example.com", Project: "g/p", Kind: forge.GitLabIssue, Number: 3}},
		{"gitlab.example.com/g/a/b/c/d.e/-/merge_requests/5/diffs?x=1", nil, forge.TaskKey{Host: "gitlab.example.com", Project: "g/a/b/c/d.e", Kind: forge.GitLabMergeRequest, Number: 5}},
		{"https://gitlab.example.com/グループ/プロジェクト/-/issues/8", nil, forge.TaskKey{Host: "gitlab.example.com", Project: "グループ/プロジェクト", Kind: forge.GitLabIssue, Number: 8}},
		{"https://x.example/forge/g/p/-/issues/8", []string{"x.example/forge"}, forge.TaskKey{Host: "x.example/forge", Project: "g/p", Kind: forge.GitLabIssue, Number: 8}},
		{"https://gitlab.example.com/issues/tools/-/issues/8", nil, forge.TaskKey{Host: "gitlab.example.com", Project: "issues/tools", Kind: forge.GitLabIssue, Number: 8}},
		// A project, an owner or a directory may be called as the pages are.
		{"https://github.com/o/issues/issues/3", nil, issue("github.com", "o/issues", 3)},
		{"https://github.com/o/issues/pull/5", nil, forge.TaskKey{Host: "github.com", Project: "o/issues", Kind: forge.GitHubPullRequest, Number: 5}},
		{"https://github.com/o/pull/pull/5", nil, forge.TaskKey{Host: "github.com", Project: "o/pull", Kind: forge.GitHubPullRequest, Number: 5}},
		{"https://github.com/o/pull/issues/5", nil, issue("github.com", "o/pull", 5)},
		{"https://github.com/issues/3/issues/4", nil, issue("github.com", "issues/3", 4)},
		{"https://github.com/o/tasks/issues/1", nil, issue("github.com", "o/tasks", 1)},
		{"https://gitlab.example.com/pull/issues/-/merge_requests/2", nil, forge.TaskKey{Host: "gitlab.example.com", Project: "pull/issues", Kind: forge.GitLabMergeRequest, Number: 2}},
		{"files/inbox/tasks/1", nil, file("inbox", 1)},
		{"files/tasks/tasks/1", nil, file("tasks", 1)},
		{"files/issues/tasks/2", nil, file("issues", 2)},
		{"files/pull/tasks/3", nil, file("pull", 3)},
		{"files/課題/tasks/4", nil, file("課題", 4)},
	} {
		got, err := forge.ParseTaskKey(test.in, test.hosts...)
		if err != nil || got != test.want {
			t.Errorf("%q: %+v, %v, want %+v", test.in, got, err, test.want)
			continue
		}
		again, err := forge.ParseTaskKey(got.String(), got.Host)
		if err != nil || again != got {
			t.Errorf("%q: round trip over %q: %+v, %v", test.in, got.String(), again, err)
		}
	}
}

func TestParseTaskKeyRefuses(t *testing.T) {
	for _, in := range []string{
		"", " ", "12", "o/r", "https://github.com", "https://github.com/o/r", "https://github.com/o/r/issues",
		"https://github.com/o/r/issues/", "https://github.com/o/r/issues/new", "https://github.com/o/r/issues/-1",
		"https://github.com/o/r/issues/+1", "https://github.com/o/r/issues/01", "https://github.com/o/r/issues/1x",
		"https://github.com/o/r/issues/99999999999999999999", "https://github.com/o/r/issues/１",
		"https://github.com/r/issues/1", "github.com/issues/1", "/o/r/issues/1", "https:///o/r/issues/1",
		"https://github.com/../r/issues/1", "https://github.com/o/./issues/1", "https://github.com//r/issues/1",
		"https://github.com/o/r x/issues/1", "https://github.com/o\\p/r/issues/1", "https://github.com/o/r\x00/issues/1",
		"https://gitlab.example.com/p/-/issues/1", "https://gitlab.example.com/g/../p/-/issues/1",
		"https://gitlab.example.com/g//p/-/issues/1", "gitlab.example.com/-/issues/1",
		"0193b0c4-1111-7000-8000-000000000000",
	} {
		if got, err := forge.ParseTaskKey(in); err == nil {
			t.Errorf("%q: %+v, want an error", in, got)
		} else if strings.ContainsAny(err.Error(), "\x00\n") {
			t.Errorf("%q: the error is not one line: %q", in, err)
		}
	}
}

func FuzzParseTaskKey(f *testing.F) {
	f.Add("https://github.com/o/r/issues/12#x")
	f.Add("gitlab.example.com/g/s/p/-/merge_requests/5")
	f.Fuzz(func(t *testing.T, in string) {
		key, err := forge.ParseTaskKey(in)
		if err != nil {
			return
		}
		again, err := forge.ParseTaskKey(key.String(), key.Host)
		if err != nil || again != key {
			t.Errorf("%q: %+v became %+v, %v", in, key, again, err)
		}
	})
}

func TestTaskKeyParts(t *testing.T) {
	for _, test := range []struct{ project, owner, repo string }{
		{"o/r", "o", "r"}, {"g/sub/p", "g/sub", "p"}, {"p", "", "p"}, {"", "", ""},
	} {
		k := forge.TaskKey{Project: test.project}
		if k.Owner() != test.owner || k.Repo() != test.repo {
			t.Errorf("%q: %q, %q", test.project, k.Owner(), k.Repo())
		}
	}
	if s := (forge.TaskKey{}).String(); s != "" {
		t.Errorf("the zero key is %q", s)
	}
}

func TestTaskKeyJSON(t *testing.T) {
	for text, want := range map[string]string{
		"github.com/o/r/issues/1":                      `{"type":"github_issue","owner":"o","repo":"r","number":1}`,
		"github.com/o/r/pull/2":                        `{"type":"github_pull_request","owner":"o","repo":"r","number":2}`,
		"gitlab.example.com/g/s/p/-/issues/3":          `{"type":"gitlab_issue","project_id":"g/s/p","issue_iid":3}`,
		"gitlab.example.com/g/s/p/-/merge_requests/4":  `{"type":"gitlab_merge_request","project_id":"g/s/p","mr_iid":4}`,
		"gitlab.example.com/グループ/p/-/merge_requests/4": `{"type":"gitlab_merge_request","project_id":"グループ/p","mr_iid":4}`,
	} {
		key, err := forge.ParseTaskKey(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(key)
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
}

// GitHub and GitLab have no two projects that differ in case only; of labels GitLab has.
func TestCase(t *testing.T) {
	for _, test := range []struct {
		a, b string
		same bool
	}{
		{"github.com/O/R/issues/1", "github.com/o/r/issues/1", true},
		{"github.com/o/r/issues/1", "github.com/o/r/issues/11", false},
		{"GitLab.example/G/ÄP/-/issues/1", "gitlab.example/g/äp/-/issues/1", true},
	} {
		if got := forge.CompareKeys(test.a, test.b) == 0; got != test.same {
			t.Errorf("%s and %s: same %v", test.a, test.b, got)
		}
	}
	for kind, want := range map[forge.Kind]bool{forge.GitHubIssue: true, forge.GitHubPullRequest: true, forge.GitLabIssue: false, forge.GitLabMergeRequest: false} {
		if got := kind.Carries([]string{"bug", "Coding Agent"}, "coding agent"); got != want {
			t.Errorf("%s: %v", kind, got)
		}
		if !kind.Carries([]string{"a"}, "a") || kind.Carries(nil, "") {
			t.Errorf("%s: equal names, or none", kind)
		}
	}
	if key, err := forge.ParseTaskKey("https://GitHub.com/O/r/issues/1"); err != nil || key.Host != "github.com" || key.Project != "O/r" {
		t.Errorf("%+v, %v", key, err)
	}
	if key, err := forge.ParseTaskKey("https://X.example/forge/g/p/-/issues/8", "x.example/forge"); err != nil || key.Host != "x.example/forge" {
		t.Errorf("%+v, %v", key, err)
	}
}
