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
