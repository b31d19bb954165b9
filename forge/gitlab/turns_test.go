package gitlab

import (
	"context"
	"fmt"
	"testing"
	"time"

	"agent/forge/forgetest"
	"agent/forge/rest"
)

// A GitLab that does not let us list everything took 2 counted requests of each project
// for each label in each look: 240,000 an hour for 1,000 projects. In turns it is at most
// 2,000 in any hour, also under cron, where each look is a process of its own; every
// project is asked within the time that EachWithin says, and what one said counts until then.
func TestTurns(t *testing.T) {
	const projects = 120
	for _, cron := range []bool{false, true} {
		g, _ := stage(t)
		var names []string
		for i := range projects {
			names = append(names, fmt.Sprintf("g%d/p", i))
			g.AddProject(names[i], forgetest.Project{})
		}
		g.Fault(forgetest.Fault{Path: "/issues", Times: -1, Kind: forgetest.Answer, Status: 403, Body: `{"message":"403 Forbidden"}`})
		g.AddIssue(names[projects-1], "of the last", "", "ann", "paused")
		dir, now := t.TempDir(), time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
		process := func() *Client {
			c := connect(t, g, func(cfg *Config) { cfg.Projects, cfg.Disk = names, rest.NewDisk(dir, nil) })
			c.now = func() time.Time { return now }
			return c
		}
		c, every := process(), 30*time.Second
		if cron {
			every = 5 * time.Minute
		}
		from, begun := len(g.Requests()), now
		var seen, told time.Time
		for ; now.Sub(begun) < time.Hour+time.Minute; now = now.Add(every) {
			if cron {
				c = process()
			}
			if now.Sub(begun) == 30*time.Minute {
				g.AddIssue(names[0], "new", "", "ann", "todo")
				told = now
			}
			for _, label := range []string{"todo", "paused"} {
				tasks, err := c.ListTasks(context.Background(), label)
				if err != nil {
					t.Fatal(err)
				}
				if label == "todo" && len(tasks) > 0 && seen.IsZero() {
					seen = now
				}
				if label == "paused" && !cron && now.Sub(begun) > c.EachWithin() && len(tasks) != 1 {
					t.Fatalf("what the last project said is forgotten at %s", now)
				}
			}
			if n := len(g.Requests()) - from; now.Sub(begun)%time.Hour >= time.Hour-every {
				t.Logf("cron %v: %d requests in an hour, each project within %s", cron, n, c.EachWithin())
				if n > 2000 || n < 500 {
					t.Errorf("cron %v: %d requests in an hour", cron, n)
				}
				from = len(g.Requests())
			}
		}
		if wait := seen.Sub(told); seen.IsZero() || wait > c.EachWithin()+every {
			t.Errorf("cron %v: the new issue was seen after %s, and within %s was said", cron, wait, c.EachWithin())
		}
	}
}
