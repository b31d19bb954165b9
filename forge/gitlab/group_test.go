package gitlab

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"agent/forge"
	"agent/forge/forgetest"
	"agent/forge/rest"
)

// TestManyProjects: what a group's list shows is asked about at once. What it does not
// show is asked about by itself, so that a project that is gone is named.
func TestManyProjects(t *testing.T) {
	for _, person := range []bool{false, true} { // the namespace of a person has no such lists
		g, _ := stage(t)
		if person {
			g.AddToken("x", "acme")
		}
		var names []string
		for i := range many + 5 {
			names = append(names, fmt.Sprintf("acme/sub/p%d", i))
			g.AddProject(names[i], forgetest.Project{Private: i == 3, NoIssues: i == 4})
		}
		g.AddProject("acme/other", forgetest.Project{})
		numbered := g.AddProject("acme/numbered", forgetest.Project{})
		g.AddIssue("acme/other", "not configured", "", "ann", "todo")
		g.AddIssue("acme/numbered", "by its number", "", "ann", "todo")
		g.AddIssue("acme/sub/p3", "private", "", "ann", "todo")
		g.AddIssue("acme/sub/p7", "other label", "", "ann", "later")
		g.AddIssue("acme/sub/p8", "public", "", "ann", "todo")
		names[8] = "Acme/Sub/P8" // as people write it
		names = append(names, "acme/gone", "g/p", strconv.FormatInt(numbered, 10))
		c := connect(t, g, func(cfg *Config) { cfg.Projects = names })
		from := len(g.Requests())
		tasks, err := c.ListTasks(context.Background(), "todo")
		var got []string
		for _, task := range tasks {
			got = append(got, fmt.Sprint(task.Key.Project, " ", task.Private))
		}
		want := []string{"acme/numbered false", "acme/sub/p3 true", "acme/sub/p8 false", "g/p false"} // of one second
		if !slices.Equal(got, want) || rest.Kind(err) != forge.NotFound || !strings.Contains(fmt.Sprint(err), "acme/gone") {
			t.Errorf("person %v: %q, %v", person, got, err)
		}
		if n := len(g.Requests()) - from; !person && n > 14 {
			t.Errorf("%d requests", n)
		}
	}
}

// TestEverywhere: many projects of many groups are asked about at once, those that are named by
// number, too; items of others are none of ours. Where the server cannot list all, each
// project is asked, as before, and the lists of all are left alone for an hour.
func TestEverywhere(t *testing.T) {
	for _, tooLarge := range []bool{false, true} {
		g, _ := stage(t)
		var names []string
		for i := range many + 5 {
			names = append(names, fmt.Sprintf("g%d/p", i))
			g.AddProject(names[i], forgetest.Project{Private: i == 3})
		}
		names[7] = "G7/P" // as people write it
		numbered := g.AddProject("numbers/one", forgetest.Project{})
		g.AddProject("others/p", forgetest.Project{})
		g.AddIssue("others/p", "not configured", "", "ann", "todo")
		g.AddIssue("numbers/one", "by its number", "", "ann", "todo")
		g.AddIssue("g3/p", "private", "", "ann", "todo")
		g.AddIssue("g7/p", "public", "", "ann", "todo")
		g.AddIssue("g8/p", "other label", "", "ann", "later")
		names = append(names, strconv.FormatInt(numbered, 10))
		c := connect(t, g, func(cfg *Config) { cfg.Projects = names })
		if tooLarge {
			g.Fault(forgetest.Fault{Path: "/issues", Times: -1, Kind: forgetest.Answer, Status: 500, Body: `{"message":"500 Internal Server Error"}`})
		}
		for round := range 2 {
			from := len(g.Requests())
			tasks, err := c.ListTasks(context.Background(), "todo")
			var got []string
			for _, task := range tasks {
				got = append(got, fmt.Sprint(task.Key.Project, " ", task.Private))
			}
			if want := []string{"g3/p true", "g7/p false", "numbers/one false"}; !slices.Equal(got, want) || err != nil { // of one second
				t.Errorf("too large %v, round %d: %q, %v", tooLarge, round, got, err)
			}
			if n := len(g.Requests()) - from; !tooLarge && n > 2+3+spots {
				t.Errorf("round %d: %d requests", round, n)
			}
			everywhere := 0
			for _, r := range g.Requests()[from:] {
				if r.Path == "/issues" {
					everywhere++
				}
			}
			if tooLarge && round > 0 && everywhere > 0 {
				t.Errorf("round %d asks for the list of all again, %d times", round, everywhere)
			}
		}
	}
}

// A project that is gone is named in time, though nothing is asked of it in most rounds.
func TestGoneAmongMany(t *testing.T) {
	g, _ := stage(t)
	names := []string{"gone/p"}
	for i := range many {
		names = append(names, fmt.Sprintf("g%d/p", i))
		g.AddProject(names[i+1], forgetest.Project{})
	}
	c := connect(t, g, func(cfg *Config) { cfg.Projects = names })
	for range 1000 {
		if _, err := c.ListTasks(context.Background(), "todo"); rest.Kind(err) == forge.NotFound && strings.Contains(err.Error(), "gone/p") {
			return
		}
	}
	t.Error("it was never named")
}
