package gitlab

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent/forge"
	"agent/forge/forgetest"
	"agent/forge/rest"
)

func get(t *testing.T, c *Client, key forge.TaskKey) forge.Task {
	t.Helper()
	task, err := c.Task(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

func TestMergeRequestFields(t *testing.T) {
	g, _ := stage(t)
	c := connect(t, g, nil)
	m := g.AddMergeRequest("g/p", "Draft: Title", "Body", "ann", "feature/x", "main", "todo", "b")
	m.SetAssignees("agent-bot", "bob")
	got := get(t, c, merge(c, 1))
	want := forge.Task{
		Key: merge(c, 1), Title: "Draft: Title", Body: "Body", Author: forge.Account{ID: got.Author.ID, Login: "ann"},
		State: "open", Labels: []string{"todo", "b"}, Assignees: []string{"agent-bot", "bob"}, Draft: true, Branch: "feature/x",
		URL: "http://" + g.Host() + "/g/p/-/merge_requests/1", UpdatedAt: got.UpdatedAt, ID: got.ID, Project: got.Project,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	g.AddProject("fork/p", forgetest.Project{})
	m.FromFork("fork/p")
	m.Edit("Title", "")
	if got := get(t, c, merge(c, 1)); !got.Fork || got.Draft || got.Body != "" {
		t.Errorf("%+v", got)
	}
	for state, want := range map[string]string{"merged": "closed", "locked": "closed", "closed": "closed", "opened": "open"} {
		m.SetState(state)
		if got := get(t, c, merge(c, 1)); got.State != want {
			t.Errorf("%s became %s", state, got.State)
		}
	}
}

// TestAssignees reads the list and the single field, each of which may be null or missing.
func TestAssignees(t *testing.T) {
	g, _ := stage(t)
	c := connect(t, g, nil)
	for fields, want := range map[string][]string{
		`"assignees":[{"username":"a"},{"username":"b"}],"assignee":{"username":"a"}`: {"a", "b"},
		`"assignees":[],"assignee":{"username":"old"}`:                                {"old"},
		`"assignee":{"username":"old"}`:                                               {"old"},
		`"assignees":[{"username":"a"}],"assignee":null`:                              {"a"},
		`"assignees":null,"assignee":null`:                                            nil,
		`"assignees":[null]`:                                                          nil,
		`"author":null`:                                                               nil,
	} {
		for _, key := range []forge.TaskKey{issue(c, 1), merge(c, 1)} {
			g.Fault(forgetest.Fault{Path: ".*/(issues|merge_requests)/1", Kind: forgetest.Answer, Status: 200,
				Body: `{"id":5,"iid":1,"state":"opened","title":"T","description":null,"labels":[],` + fields + `}`})
			if diff := cmp.Diff(want, get(t, c, key).Assignees); diff != "" {
				t.Errorf("%s of %s: %s", fields, key.Kind, diff)
			}
		}
	}
}

func TestListEverything(t *testing.T) {
	g, _ := stage(t)
	at := time.Now()
	g.SetClock(func() time.Time { at = at.Add(time.Minute); return at })
	id := g.AddProject("other/group/q", forgetest.Project{Internal: true})
	g.AddProject("g/none", forgetest.Project{NoIssues: true, NoMerges: true})
	g.AddMergeRequest("g/p", "MR", "", "ann", "b", "main", "todo")
	g.AddIssue("other/group/q", "Mine", "", "ann", "todo").SetAssignees("Agent-Bot")
	g.AddMergeRequest("other/group/q", "Mine too", "", "ann", "b", "main", "todo").SetAssignees("bob", "agent-bot")
	g.AddIssue("g/p", "Latest", "", "ann", "todo")
	g.AddIssue("other/group/q", "Other case", "", "ann", "TODO")
	projects := []string{"g/none", strconv.FormatInt(id, 10), "G/P"}
	for assignee, want := range map[string]string{
		"":          "g/p/-/issues/1 g/p/-/merge_requests/1 other/group/q/-/issues/1 other/group/q/-/merge_requests/1 g/p/-/issues/2",
		"agent-bot": "other/group/q/-/issues/1 other/group/q/-/merge_requests/1",
	} {
		c := connect(t, g, func(cfg *Config) { cfg.Projects, cfg.Assignee = projects, assignee })
		tasks, err := c.ListTasks(context.Background(), "todo")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, task := range tasks {
			got = append(got, strings.TrimPrefix(task.Key.String(), c.Host()+"/"))
			if task.Private != strings.HasPrefix(task.Key.Project, "other") {
				t.Errorf("%s: private %v", task.Key, task.Private)
			}
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("assignee %q: %s", assignee, diff)
		}
	}
}

// TestListPartly: a project that is gone does not hide the tasks of the others; a bad token ends it all.
func TestListPartly(t *testing.T) {
	g, _ := stage(t)
	c := connect(t, g, func(cfg *Config) { cfg.Projects = []string{"g/gone", "g/p", "9"} })
	tasks, err := c.ListTasks(context.Background(), "todo")
	if rest.Kind(err) != forge.NotFound || len(tasks) != 1 {
		t.Fatalf("%+v, %v", tasks, err)
	}
	for _, name := range []string{"g/gone", "9: "} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("the error does not name %s: %v", name, err)
		}
	}
	g.Fault(forgetest.Fault{Kind: forgetest.Unauthorized, Times: -1})
	before := len(g.Requests())
	if _, err := c.ListTasks(context.Background(), "todo"); rest.Kind(err) != forge.Auth {
		t.Errorf("error %v", err)
	}
	if n := len(g.Requests()) - before; n != 1 {
		t.Errorf("%d requests with a bad token", n)
	}
}

// TestMoved: reads of a former path are redirected, writes refused; the task is told to have moved.
func TestMoved(t *testing.T) {
	g, item := stage(t)
	c := connect(t, g, nil)
	g.RenameProject("g/p", "g/new")
	_, err := c.Task(context.Background(), issue(c, 1))
	if rest.Kind(err) != forge.Moved || !strings.Contains(err.Error(), "g/new") {
		t.Errorf("error %v", err)
	}
	tasks, err := c.ListTasks(context.Background(), "todo")
	if err != nil || len(tasks) != 1 || tasks[0].Key.Project != "g/new" {
		t.Errorf("%+v, %v", tasks, err)
	}
	if _, err := c.PostComment(context.Background(), issue(c, 1), "x"); rest.Kind(err) != forge.Moved || len(item.Notes()) != 0 {
		t.Errorf("error %v, notes %v", err, item.Notes())
	}
}

func TestRepositoryFields(t *testing.T) {
	g, _ := stage(t)
	id := g.AddProject("g/private", forgetest.Project{Private: true, CloneURL: "/srv/git/x", DefaultBranch: "trunk"})
	c := connect(t, g, nil)
	key := issue(c, 1)
	key.Project = "g/private"
	want := forge.Repository{CloneURL: "/srv/git/x", DefaultBranch: "trunk", Private: true, ID: strconv.FormatInt(id, 10)}
	for range 2 {
		if got, err := c.Repository(context.Background(), key); err != nil || got != want {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if n := len(g.Requests()); n != 1 {
		t.Errorf("%d requests: the project is not cached", n)
	}
}

func TestPermissionLevels(t *testing.T) {
	g, _ := stage(t)
	c := connect(t, g, nil)
	for level, want := range map[int]forge.Permission{
		0: forge.None, 5: forge.None, 10: forge.Read, 15: forge.Read, 20: forge.Read, 30: forge.Write, 40: forge.Admin, 50: forge.Admin, 60: forge.Admin,
	} {
		g.SetAccess("g/p", "bob", level)
		if got, err := c.Permission(context.Background(), issue(c, 1), "BOB"); err != nil || got != want {
			t.Errorf("level %d: %v, %v, want %v", level, got, err, want)
		}
	}
	id := strconv.FormatInt(g.AccountID("bob"), 10)
	for body, want := range map[string]forge.ErrorKind{
		`{"id":1,"access_level":50,"state":"active"}`:           "", // somebody else
		`{"id":` + id + `,"access_level":50,"state":"blocked"}`: "",
		`[]`:   forge.Transient,
		`null`: forge.Transient,
	} {
		g.Fault(forgetest.Fault{Path: ".*/members/.*", Kind: forgetest.Answer, Status: 200, Body: body})
		if got, err := c.Permission(context.Background(), issue(c, 1), "bob"); got != forge.None || rest.Kind(err) != want {
			t.Errorf("%s: %v, %v", body, got, err)
		}
	}
}

// TestAnswersOfAnother: what a filter of the API lets through, or a mix-up, is no task and no change.
func TestAnswersOfAnother(t *testing.T) {
	g, _ := stage(t)
	c := connect(t, g, nil)
	answer := func(path, body string) {
		g.Fault(forgetest.Fault{Path: path, Kind: forgetest.Answer, Status: 200, Body: body})
	}
	answer(".*/issues", `[{"iid":7,"state":"closed","labels":["todo"]},{"iid":8,"state":"opened","labels":["Todo"]}]`)
	if tasks, err := c.ListTasks(context.Background(), "todo"); err != nil || len(tasks) != 0 {
		t.Errorf("%+v, %v", tasks, err)
	}
	for _, body := range []string{`[{"iid":0,"state":"opened"}]`, `[{"iid":7}]`, `[null]`, `null`, `{}`} {
		answer(".*/issues", body)
		if _, err := c.ListTasks(context.Background(), "todo"); rest.Kind(err) != forge.Transient {
			t.Errorf("%s: %v", body, err)
		}
	}
	for _, body := range []string{`{"iid":2,"state":"opened"}`, `{"iid":1}`, `{}`, `null`} {
		answer(".*/issues/1", body)
		if _, err := c.Task(context.Background(), issue(c, 1)); rest.Kind(err) != forge.Transient {
			t.Errorf("%s: %v", body, err)
		}
	}
	answer(".*/merge_requests", `[{"iid":1,"state":"merged","source_branch":"b"},{"iid":2,"state":"opened","source_branch":"bb"}]`)
	if change, err := c.FindChange(context.Background(), issue(c, 1), "b"); err != nil || change != nil {
		t.Errorf("%+v, %v", change, err)
	}
}

// TestBareForge: proxies, and tokens with few rights, show less than GitLab does.
// What is not shown counts as public, and the task can be worked on.
func TestBareForge(t *testing.T) {
	g, _ := stage(t)
	g.AddMergeRequest("g/p", "T", "B", "ann", "b", "main", "todo")
	gone := forgetest.Fault{Kind: forgetest.Answer, Status: 404, Body: `{"message":"404 Not Found"}`, Times: -1}
	for name, test := range map[string]struct {
		path, body string
		status     int
		tasks      int
	}{
		"project out of sight":       {"/projects/g/p", gone.Body, 404, 2},
		"project forbidden":          {"/projects/g/p", gone.Body, 403, 2},
		"project without anything":   {"/projects/g/p", `{}`, 200, 2},
		"project without visibility": {"/projects/g/p", `{"id":1,"path_with_namespace":"g/p"}`, 200, 2},
		"no issues":                  {".*/issues", gone.Body, 404, 1},
		"no merge requests":          {".*/merge_requests", gone.Body, 403, 1},
	} {
		g.ClearFaults()
		fault := gone
		fault.Path, fault.Body, fault.Status = test.path, test.body, test.status
		g.Fault(fault)
		c := connect(t, g, nil)
		tasks, err := c.ListTasks(context.Background(), "todo")
		if err != nil || len(tasks) != test.tasks {
			t.Errorf("%s: %+v, %v", name, tasks, err)
		}
		if got := get(t, c, issue(c, 1)); got.Private || got.Title != "Title" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	g.ClearFaults()
	for path, want := range map[string]forge.ErrorKind{".*/(issues|merge_requests)": forge.NotFound, ".*/merge_requests": forge.Transient} {
		fault := gone
		if fault.Path = path; want == forge.Transient {
			fault.Status = 500
		}
		g.Fault(fault)
		if _, err := connect(t, g, nil).ListTasks(context.Background(), "todo"); rest.Kind(err) != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
		g.ClearFaults()
	}
}

// TestLoginPassedOn: who wrote under a login is judged, not who has it now.
func TestLoginPassedOn(t *testing.T) {
	g, item := stage(t)
	c := connect(t, g, nil)
	item.AddNote("bob", "x")
	g.SetAccess("g/p", "bob", forgetest.Developer)
	if _, err := c.Comments(context.Background(), issue(c, 1), time.Time{}); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Permission(context.Background(), issue(c, 1), "bob"); err != nil || got != forge.Write {
		t.Errorf("%v, %v", got, err)
	}
	g.Fault(forgetest.Fault{Path: ".*/notes", Kind: forgetest.Answer, Status: 200,
		Body: `[{"id":1,"body":"x","author":{"id":` + strconv.FormatInt(g.AccountID("other"), 10) + `,"username":"Bob"}}]`})
	if _, err := c.Comments(context.Background(), issue(c, 1), time.Time{}); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Permission(context.Background(), issue(c, 1), "bob"); err != nil || got != forge.None {
		t.Errorf("of another account: %v, %v", got, err)
	}
}

// TestIssueMoved: GitLab names the id of the new issue, and its address in a note. A note
// that somebody wrote, or that leads to another issue, is not believed.
func TestIssueMoved(t *testing.T) {
	g, item := stage(t)
	g.AddProject("g/other", forgetest.Project{})
	g.AddProject("x/hidden", forgetest.Project{Private: true})
	g.SetAccess("x/hidden", "agent-bot", forgetest.NoAccess)
	c := connect(t, g, nil)
	item.AddNote("alice", "moved to x/hidden#1")
	decoy := g.AddIssue("g/other", "another", "b", "alice")
	item.AddSystemNote("alice", fmt.Sprintf("moved to other#%d", decoy.IID()))
	there := g.MoveIssue(item, "g/other", "alice")
	var moved *forge.Error
	_, err := c.Task(context.Background(), issue(c, 1))
	want := forge.TaskKey{Host: c.host, Project: "g/other", Kind: forge.GitLabIssue, Number: there.IID()}
	if !errors.As(err, &moved) || moved.Kind != forge.Moved || moved.To != want || !moved.Transferred {
		t.Errorf("%+v", err)
	}
	second := g.AddIssue("g/p", "secret", "b", "alice")
	g.MoveIssue(second, "x/hidden", "alice")
	if _, err := c.Task(context.Background(), issue(c, second.IID())); rest.Kind(err) != forge.Hidden {
		t.Errorf("to a project that cannot be seen: %v", err)
	}
	for reference, want := range map[string]string{"#3": "g/p#3", "x#4": "g/x#4", "a/b/c#5": "a/b/c#5", "x": "", "x#y": "", "x#0": "", "../x#1": "", "a b#1": ""} {
		to, ok := referred(issue(c, 1), reference)
		if got := fmt.Sprintf("%s#%d", to.Project, to.Number); ok != (want != "") || ok && got != want {
			t.Errorf("%q leads to %s, %v", reference, got, ok)
		}
	}
}
