package main

import (
	"fmt"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/forge/forgetest"
	"agent/llm/llmtest"
)

// A project gets another name in mid-run: what is said and set at the end arrives at
// the new address, and neither the new name nor the old one begins a second context.
func TestRenamedInMidRun(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds[:3:3] {
		if kind == kinds[1] {
			continue // a pull request moves with its repository like an issue
		}
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var c *talk
			script := greet()
			c = newTalk(t, kind, func(n int, r llmtest.Request) llmtest.Reply {
				if n == 1 {
					c.rename()
				}
				return script(n, r)
			})
			c.agent(0, "run")
			l := c.only()
			if l.State != "completed" {
				t.Fatalf("%+v", l)
			}
			moved := find[*event.TaskMoved](c.events(l.UUID))
			if len(moved) != 1 || moved[0].Reason != "renamed" || !strings.Contains(moved[0].To, "/renamed/") {
				t.Fatalf("moved: %+v", moved)
			}
			labels, comments := c.atNewAddress()
			if strings.Join(labels, ",") != doneLabel || !strings.Contains(comments, "✅ **Done**") {
				t.Errorf("at the new address: %q\n%s", labels, comments)
			}
			c.wantExact(l.UUID)
			if out, _ := c.agent(0, "run"); !strings.Contains(out, "nothing to do") {
				t.Errorf("there is more to do:\n%s", out)
			}
		})
	}
}

// A repository gets another name while its task is paused: the label that is set at the
// new address resumes that context.
func TestRenamedWhilePaused(t *testing.T) {
	t.Parallel()
	c := newTalk(t, kinds[0], hanging(1, greet()))
	c.pauseIn(2)
	c.rename()
	c.forge.AddLabels("renamed/widgets", 1, botLabel)
	// Where the earlier address leads is unknown for now: no second context begins. The item's
	// id tells which one it is; the pause is looked at meanwhile, or not.
	c.forge.Fault(forgetest.Fault{Path: "/repos/" + testRepo + "/issues/1", Times: -1, Kind: forgetest.Answer, Status: 503})
	if code, text := c.world.said("run"); code != 0 && code != 75 {
		t.Fatalf("exit %d\n%s", code, text)
	}
	c.only()
	c.forge.ClearFaults()
	c.agent(0, "run")
	l := c.only()
	if labels, comments := c.atNewAddress(); l.State != "completed" || strings.Join(labels, ",") != doneLabel || !strings.Contains(comments, "✅ **Done**") {
		t.Errorf("%+v, %q\n%s", l, labels, comments)
	}
	c.wantExact(l.UUID)
}

// A person moves the issue to another project while the agent works on it, and the
// process is killed. The next run ends the task where it is now, if tasks are taken there.
// The context is found by both addresses.
func TestTransferredInMidRun(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{kinds[0], kinds[2]} {
		for _, taken := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, taken %v", kind, taken), func(t *testing.T) {
				t.Parallel()
				c := newTalk(t, kind, hanging(0, llmtest.Always(llmtest.Done("The answer is 42."))))
				if taken {
					c.site = strings.NewReplacer(testRepo+"]", testRepo+", acme/other]", testProject+"]", testProject+", acme/other]").Replace(c.config())
				}
				old := c.url()
				p := c.start("run")
				c.awaitCalls(1)
				now, labels, comments := c.transfer("acme/other")
				p.kill()
				if !taken {
					c.agent(75, "run")
					if got := strings.Join(labels(), ","); c.only().State != "interrupted" || strings.Contains(comments(), "42") || strings.Contains(got, doneLabel) {
						t.Errorf("%s, labels %q, comments %s", c.only().State, got, comments())
					}
					if out, _ := c.agent(0, "why", old); !strings.Contains(out, "no tasks are taken") {
						t.Errorf("why says\n%s", out)
					}
					return
				}
				c.agent(0, "run")
				l := c.only()
				moved := find[*event.TaskMoved](c.events(l.UUID))
				if l.State != "completed" || len(moved) != 1 || moved[0].Reason != event.Transferred {
					t.Fatalf("%+v, moved %+v", l, moved)
				}
				if got := strings.Join(labels(), ","); got != doneLabel || !strings.Contains(comments(), "42") {
					t.Errorf("at the new address: labels %q, comments\n%s", got, comments())
				}
				c.wantExact(l.UUID)
				for _, url := range []string{old, now} {
					for _, command := range [][]string{{"why", url}, {"inspect", url}} {
						if out, _ := c.agent(0, command...); !strings.Contains(out, l.UUID[:8]) {
							t.Errorf("%v does not find it:\n%s", command, out)
						}
					}
				}
				if "http://"+l.TaskKey != now {
					t.Errorf("list shows %s, it is at %s", l.TaskKey, now)
				}
			})
		}
	}
}

// Work that was begun in the copy of one project is not pushed into another one, which
// others may read: it is kept as a patch beside the log, and the comment does not show it.
func TestTransferredWithWork(t *testing.T) {
	t.Parallel()
	c := newTalk(t, kinds[0], hanging(1, greet()))
	c.site = strings.NewReplacer(testRepo+"]", testRepo+", acme/other]").Replace(c.config())
	p := c.start("run")
	c.awaitCalls(2)
	_, labels, comments := c.transfer("acme/other")
	p.kill()
	c.agent(0, "run")
	l := c.only()
	if got := comments(); strings.Join(labels(), ",") != doneLabel || !strings.Contains(got, "in another project now") || strings.Contains(got, "+hello") {
		t.Errorf("labels %q\n%s", labels(), got)
	}
	if refs := c.git("for-each-ref", "refs/heads/agent"); refs != "" || c.changes() != 0 || len(c.forge.PullRequests("acme/other")) != 0 {
		t.Errorf("something was pushed: %s", refs)
	}
	c.wantPatch()
	c.wantExact(l.UUID)
}

// transfer moves the issue of the talk to another project, which is there from then on.
func (c *talk) transfer(to string) (url string, labels func() []string, comments func() string) {
	if g, ok := c.thread.(*onGitLab); ok {
		g.server.AddProject(to, forgetest.Project{Private: true, Git: c.path("origin.git")})
		item := g.server.MoveIssue(g.item, to, "alice")
		return fmt.Sprintf("http://%s/%s/-/issues/%d", g.server.Host(), to, item.IID()), item.Labels, func() (all string) {
			for _, n := range item.Notes() {
				all += n.Body + "\n"
			}
			return all
		}
	}
	c.forge.AddRepository(to, forgetest.Repository{Private: true, Git: c.path("origin.git")})
	c.forge.AddIssue(to, "Another", "It has the number one.", "bob")
	n := c.forge.TransferIssue(testRepo, 1, to)
	return fmt.Sprintf("http://%s/%s/issues/%d", c.forge.Host(), to, n), func() []string { return c.forge.Labels(to, n) }, func() (all string) {
		for _, x := range c.forge.Comments(to, n) {
			all += x.Body + "\n"
		}
		return all
	}
}

// A repository gets another name while its task is paused, and somebody makes a new one
// under the old name. What is there now is not taken for the task, whether there is an
// item with its number or not. The label at the new address finds the context by the id.
func TestRenamedAndReplaced(t *testing.T) {
	t.Parallel()
	for _, item := range []bool{true, false} {
		t.Run(fmt.Sprintf("item %v", item), func(t *testing.T) {
			t.Parallel()
			c := newTalk(t, kinds[0], hanging(1, greet()))
			c.pauseIn(2)
			l := c.only()
			c.rename()
			c.forge.AddRepository(testRepo, forgetest.Repository{})
			if item {
				c.forge.AddIssue(testRepo, "Something else", "It has nothing to do with it.", "mallory", botLabel)
				c.forge.RemoveLabels(testRepo, 1, botLabel)
			}
			c.agent(0, "resume", l.UUID[:8])
			out, errs := c.agent(75, "run")
			if !strings.Contains(out+errs, "another") {
				t.Errorf("nobody is told:\n%s%s", out, errs)
			}
			if item && len(c.forge.Comments(testRepo, 1)) != 0 {
				t.Errorf("said at the wrong place: %+v", c.forge.Comments(testRepo, 1))
			}
			if got := c.only(); got.UUID != l.UUID || got.State == "stopped" || got.State == "completed" {
				t.Errorf("%+v", got)
			}
			c.site = strings.Replace(c.config(), testRepo+"]", "renamed/widgets]", 1)
			c.forge.AddLabels("renamed/widgets", 1, botLabel)
			c.agent(0, "run")
			if labels, comments := c.atNewAddress(); c.only().State != "completed" || strings.Join(labels, ",") != doneLabel || !strings.Contains(comments, "✅ **Done**") {
				t.Errorf("%+v, %q\n%s", c.only(), labels, comments)
			}
			c.wantExact(l.UUID)
		})
	}
}

// rename moves the project of the talk to another owner.
func (c *talk) rename() {
	if g, ok := c.thread.(*onGitLab); ok {
		g.server.RenameProject(testProject, "renamed/project")
		return
	}
	c.forge.RenameRepository(testRepo, "renamed/widgets")
}

func (c *talk) atNewAddress() (labels []string, comments string) {
	if g, ok := c.thread.(*onGitLab); ok {
		return g.item.Labels(), strings.Join(c.said(), "\n")
	}
	for _, x := range c.forge.Comments("renamed/widgets", 1) {
		comments += x.Body
	}
	return c.forge.Labels("renamed/widgets", 1), comments
}
