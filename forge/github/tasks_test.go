package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent/forge"
	"agent/forge/forgetest"
)

func keys(tasks []forge.Task) []string {
	var all []string
	for _, t := range tasks {
		_, path, _ := strings.Cut(t.Key.String(), "/")
		all = append(all, path)
	}
	return all
}

// crowd is a server with tasks of several repositories and things that are no tasks.
func crowd(t *testing.T) *forgetest.Server {
	t.Helper()
	s := stage(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s.SetClock(func() time.Time {
		at = at.Add(time.Second)
		return at
	})
	s.AddRepository("o/p", forgetest.Repository{Private: true})
	s.AddRepository("else/where", forgetest.Repository{})
	s.AddIssue("o/p", "private", "", "ann", "TODO", "other")
	s.AddIssue("o/r", "second", "", "ann", "todo")
	s.AddIssue("o/r", "not labelled", "", "ann", "todo2")
	s.AddPullRequest("o/r", "change", "", "ann", "b", "main", "todo")
	s.CloseIssue("o/r", s.AddIssue("o/r", "closed", "", "ann", "todo"))
	s.AddIssue("else/where", "foreign", "", "ann", "todo")
	return s
}

func TestListTasks(t *testing.T) {
	s := crowd(t)
	s.SetAssignees("o/r", 2, "agent-bot", "ann")
	for _, test := range []struct {
		name         string
		repositories []string
		assignee     string
		want         []string
	}{
		{"repositories", []string{"o/p", "o/r"}, "", []string{"o/p/issues/1", "o/r/issues/2", "o/r/pull/4", "o/r/issues/1"}},
		{"a repository twice", []string{"o/r", "O/R"}, "", []string{"o/r/issues/2", "o/r/pull/4", "o/r/issues/1"}},
		{"assignee", []string{"o/p", "o/r"}, "Agent-Bot", []string{"o/r/issues/2"}},
		{"search", nil, "", []string{"o/p/issues/1", "o/r/issues/2", "o/r/pull/4", "o/r/issues/1"}},
		{"search with assignee", nil, "agent-bot", []string{"o/r/issues/2"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := connect(t, s, func(cfg *Config) { cfg.Repositories, cfg.Assignee = test.repositories, test.assignee })
			got, err := c.ListTasks(context.Background(), "todo")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, keys(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTaskFields(t *testing.T) {
	s := stage(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s.SetClock(func() time.Time { return at })
	s.AddRepository("o/p", forgetest.Repository{Private: true})
	s.AddIssue("o/p", "Title", "", "", "todo", "a, b")
	s.SetAssignees("o/p", 1, "ann")
	key := forge.TaskKey{Host: s.Host(), Project: "o/p", Kind: forge.GitHubIssue, Number: 1}
	want := forge.Task{
		Key: key, Title: "Title", Author: forge.Account{Login: "ghost"}, State: "open", Labels: []string{"todo", "a, b"},
		Assignees: []string{"ann"}, URL: "http://" + key.String(), Private: true, UpdatedAt: at,
	}
	c := connect(t, s, func(cfg *Config) { cfg.Repositories = []string{"o/p"} })
	got, err := c.Task(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	want.ID, want.Project = got.ID, got.Project
	if diff := cmp.Diff(want, got); diff != "" || got.ID == "" || got.Project == "" {
		t.Error(diff, got)
	}
	want.Project = "" // lists do not know
	for _, label := range []string{"todo", "a, b"} {
		listed, err := c.ListTasks(context.Background(), label)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]forge.Task{want}, listed); diff != "" {
			t.Errorf("label %q: %s", label, diff)
		}
	}
	s.CloseIssue("o/p", 1)
	if got, err := c.Task(context.Background(), key); err != nil || got.State != "closed" {
		t.Errorf("closed: %+v, %v", got, err)
	}
}

func TestListTasksOverPages(t *testing.T) {
	s := stage(t)
	for i := range 130 {
		s.AddIssue("o/r", fmt.Sprint(i), "", "ann", "todo")
	}
	for _, repositories := range [][]string{{"o/r"}, nil} {
		c := connect(t, s, func(cfg *Config) { cfg.Repositories = repositories })
		got, err := c.ListTasks(context.Background(), "todo")
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 131 || got[0].Key.Number != 1 || got[130].Key.Number != 131 {
			t.Errorf("%v: %d tasks: %v", repositories, len(got), keys(got))
		}
	}
}

// TestListTasksShift opens an issue at the front of the list between two pages.
func TestListTasksShift(t *testing.T) {
	s := stage(t)
	for i := range 130 {
		s.AddIssue("o/r", fmt.Sprint(i), "", "ann", "todo")
	}
	s.CloseIssue("o/r", 1)
	requests := 0
	c := connect(t, s, func(cfg *Config) {
		cfg.Transport = trip(func(*http.Request) {
			if requests++; requests == 3 { // the repository, page 1, page 2
				s.ReopenIssue("o/r", 1)
			}
		})
	})
	got, err := c.ListTasks(context.Background(), "todo")
	if err != nil || len(got) != 130 {
		t.Errorf("%d tasks, %v: each is listed once", len(got), err)
	}
}

func TestListTasksWithBadRepository(t *testing.T) {
	s := crowd(t)
	c := connect(t, s, func(cfg *Config) { cfg.Repositories = []string{"o/absent", "o/r", "else/gone"} })
	got, err := c.ListTasks(context.Background(), "todo")
	if diff := cmp.Diff([]string{"o/r/issues/2", "o/r/pull/4", "o/r/issues/1"}, keys(got)); diff != "" {
		t.Error(diff)
	}
	if kind(err) != forge.NotFound || !strings.Contains(err.Error(), "o/absent") || !strings.Contains(err.Error(), "else/gone") {
		t.Errorf("error %v", err)
	}
	noSecret(t, err)
}

// TestListTasksStops: what concerns the token concerns all repositories.
func TestListTasksStops(t *testing.T) {
	for _, k := range []forgetest.FaultKind{forgetest.Unauthorized, forgetest.Secondary} {
		s := crowd(t)
		s.Fault(forgetest.Fault{Kind: k, Nth: 3})
		c := connect(t, s, func(cfg *Config) { cfg.Repositories = []string{"o/r", "o/p", "else/where"} })
		got, err := c.ListTasks(context.Background(), "todo")
		if len(got) != 3 || err == nil || len(s.Requests()) != 3 {
			t.Errorf("%s: %d tasks, %v, %d requests", k, len(got), err, len(s.Requests()))
		}
	}
}

func TestSearchIncomplete(t *testing.T) {
	s := stage(t)
	s.Fault(forgetest.Fault{Path: "/search/issues", Kind: forgetest.Answer, Status: 200, Body: `{"total_count":1,"incomplete_results":true,"items":[
		{"number":1,"state":"open","labels":[{"name":"todo"}],"repository_url":"http://h/repos/o/r"},
		{"number":1,"state":"open","labels":[{"name":"todo"}],"repository_url":"http://h/repos/o/absent"},
		{"number":2,"state":"open","labels":[{"name":"todo"}],"repository_url":"http://h/repos/../r"}]}`})
	got, err := connect(t, s, func(cfg *Config) { cfg.Repositories = nil }).ListTasks(context.Background(), "todo")
	if diff := cmp.Diff([]string{"o/r/issues/1"}, keys(got)); diff != "" {
		t.Error(diff)
	}
	var e *forge.Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	for _, part := range []string{"o/absent", "incomplete", "cannot be read"} {
		if !strings.Contains(e.Message, part) {
			t.Errorf("%q does not say %q", e.Message, part)
		}
	}
}

func TestSearchQuotesLabel(t *testing.T) {
	s := stage(t)
	label := `odd "label" \ user:x`
	s.AddIssue("o/r", "T", "", "ann", label)
	got, err := connect(t, s, func(cfg *Config) { cfg.Repositories = nil }).ListTasks(context.Background(), label)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"o/r/issues/2"}, keys(got)); diff != "" {
		t.Error(diff)
	}
}

func TestTaskGone(t *testing.T) {
	s := stage(t)
	s.AddPullRequest("o/r", "P", "", "ann", "b", "main")
	s.AddRepository("o/hidden", forgetest.Repository{Private: true})
	s.SetPermission("o/hidden", "agent-bot", "none")
	c := connect(t, s, nil)
	hidden := issueKey(s, 1)
	hidden.Project = "o/hidden"
	for name, test := range map[string]struct {
		key  forge.TaskKey
		want forge.ErrorKind
	}{
		"unknown": {issueKey(s, 9), forge.NotFound}, "pull request": {issueKey(s, 2), forge.NotFound},
		"not visible": {hidden, forge.Hidden}, "zero": {issueKey(s, 0), forge.NotFound},
	} {
		if _, err := c.Task(context.Background(), test.key); kind(err) != test.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
