package github

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"agent/forge"
	"agent/forge/forgetest"
)

// TestManyRepositories: what an organization's list shows is searched at once. What it
// does not show is asked about by itself, so that a repository that is gone is named.
func TestManyRepositories(t *testing.T) {
	for _, organization := range []bool{true, false} {
		s := stage(t)
		var names []string
		for i := range many + 5 {
			names = append(names, fmt.Sprintf("acme/r%d", i))
			s.AddRepository(names[i], forgetest.Repository{Private: i == 3})
		}
		s.AddRepository("acme/other", forgetest.Repository{})
		if organization {
			s.AddOrganization("acme")
		}
		s.AddIssue("acme/other", "not configured", "", "ann", "todo")
		s.AddIssue("acme/r3", "private", "", "ann", "todo")
		s.AddIssue("acme/r7", "other label", "", "ann", "later")
		s.AddIssue("acme/r8", "public", "", "ann", "todo")
		s.RemoveRepository("acme/r9")
		names[8] = "Acme/R8" // as people write it
		c := connect(t, s, func(cfg *Config) { cfg.Repositories = append([]string{"o/r"}, names...) })
		from := len(s.Requests())
		tasks, err := c.ListTasks(context.Background(), "todo")
		var got []string
		for _, task := range tasks {
			got = append(got, fmt.Sprint(task.Key.Project, " ", task.Private))
		}
		want := []string{"acme/r3 true", "acme/r8 false", "o/r false"} // of one second
		if !slices.Equal(got, want) || kind(err) != forge.NotFound || !strings.Contains(fmt.Sprint(err), "acme/r9") {
			t.Errorf("organization %v: %q, %v", organization, got, err)
		}
		if n := len(s.Requests()) - from; organization && n > 8 {
			t.Errorf("%d requests", n)
		}
	}
}
