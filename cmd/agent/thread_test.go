package main

import (
	"fmt"
	"strings"
	"testing"

	"agent/forge/forgetest"
	"agent/internal/exhaustive"
	"agent/internal/report"
	"agent/llm/llmtest"
)

// thread is the item that a test is about, of whichever kind: what people do
// there, and what they see.
type thread interface {
	config() string // the forge's section of the configuration
	url() string
	say(author, body string) (id int64)
	edit(id int64, body string)
	noise() // a comment of a bot, or what the forge writes itself
	retitle(title, body string)
	label(names ...string)
	labelAs(login string, names ...string)
	unlabel(names ...string)
	permit(login string) // to write
	labels() []string
	assign(logins ...string)
	finish() // closes it
	comments() []remark
	requests() []forgetest.Request
	fault(forgetest.Fault)
	own() string      // what the paths of its own API begin with, escaped
	listPath() string // path of its comments, as a regular expression
	branch() string   // head branch, "" for an issue
	changes() int     // pull or merge requests of the project
	clearFaults()
}

const (
	awaitingLabel = "coding agent awaiting response"
	testProject   = "acme/tools/widgets"
	headBranch    = "topic"
)

// kinds are the four kinds of task.
var kinds = []string{"GitHub issue", "GitHub pull request", "GitLab issue", "GitLab merge request"}

// talk is a world whose one task is an item of any kind.
type talk struct {
	*world
	thread
}

// newTalk makes a world with a labelled item by alice in a private project.
func newTalk(t *testing.T, kind string, script llmtest.Script) *talk {
	return openTalk(t, kind, script, false)
}

// openTalk is newTalk in a project that everybody sees, if it is public.
func openTalk(t *testing.T, kind string, script llmtest.Script, public bool) *talk {
	t.Helper()
	w := emptyWorld(t, script)
	w.git("branch", headBranch, "main")
	merges := strings.HasSuffix(kind, "request")
	const title, body = "Greet the world", "Please write hello.txt."
	if kind == fileKind {
		f := &onFiles{w: w}
		f.open(title, body, "alice", botLabel)
		w.site = f.config()
		return &talk{w, f}
	}
	if strings.HasPrefix(kind, "GitLab") {
		g := &onGitLab{server: forgetest.NewGitLab(), w: w}
		t.Cleanup(g.server.Close)
		g.server.AddToken(testToken, testBot)
		g.server.AddProject(testProject, forgetest.Project{Private: !public, Git: w.path("origin.git")})
		if merges {
			g.item = g.server.AddMergeRequest(testProject, title, body, "alice", headBranch, "main", botLabel)
		} else {
			g.item = g.server.AddIssue(testProject, title, body, "alice", botLabel)
		}
		g.merges, w.site = merges, g.config()
		return &talk{w, g}
	}
	w.forge.AddRepository(testRepo, forgetest.Repository{Private: !public, Git: w.path("origin.git")})
	w.forge.AddBot("ci-bot")
	g := &onGitHub{w: w, pull: merges}
	if merges {
		g.number = w.forge.AddPullRequest(testRepo, title, body, "alice", headBranch, "main", botLabel)
	} else {
		g.number = w.forge.AddIssue(testRepo, title, body, "alice", botLabel)
	}
	return &talk{w, g}
}

// each runs a test for one of the four kinds, or for all of them in make check.
func each(t *testing.T, test func(t *testing.T, kind string)) {
	t.Parallel()
	for _, kind := range exhaustive.One(t, kinds) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, kind)
		})
	}
}

type onGitHub struct {
	w      *world
	number int
	pull   bool
}

func (g *onGitHub) config() string {
	return fmt.Sprintf("github:\n  api_url: %s\n  personal_access_token: %s\n  repositories: [%s]\n  bot_name: %s",
		g.w.forge.URL(), testToken, testRepo, testBot)
}

func (g *onGitHub) url() string {
	word := "issues"
	if g.pull {
		word = "pull"
	}
	return fmt.Sprintf("http://%s/%s/%s/%d", g.w.forge.Host(), testRepo, word, g.number)
}

func (g *onGitHub) say(author, body string) int64 {
	return g.w.forge.AddComment(testRepo, g.number, author, body)
}
func (g *onGitHub) edit(id int64, body string) { g.w.forge.EditComment(testRepo, id, body) }
func (g *onGitHub) noise()                     { g.say("ci-bot", "Said-by-machine: build 7 is green.") }
func (g *onGitHub) retitle(title, body string) { g.w.forge.EditIssue(testRepo, g.number, title, body) }
func (g *onGitHub) label(names ...string)      { g.w.forge.AddLabels(testRepo, g.number, names...) }
func (g *onGitHub) labelAs(login string, names ...string) {
	g.w.forge.AddLabelsAs(testRepo, g.number, login, names...)
}
func (g *onGitHub) permit(login string)           { g.w.forge.SetPermission(testRepo, login, "write") }
func (g *onGitHub) unlabel(names ...string)       { g.w.forge.RemoveLabels(testRepo, g.number, names...) }
func (g *onGitHub) labels() []string              { return g.w.forge.Labels(testRepo, g.number) }
func (g *onGitHub) assign(logins ...string)       { g.w.forge.SetAssignees(testRepo, g.number, logins...) }
func (g *onGitHub) finish()                       { g.w.forge.CloseIssue(testRepo, g.number) }
func (g *onGitHub) requests() []forgetest.Request { return g.w.forge.Requests() }
func (g *onGitHub) fault(f forgetest.Fault)       { g.w.forge.Fault(f) }
func (g *onGitHub) clearFaults()                  { g.w.forge.ClearFaults() }
func (g *onGitHub) own() string                   { return fmt.Sprintf("/repos/%s/issues/%d", testRepo, g.number) }
func (g *onGitHub) listPath() string              { return ".*/issues/[0-9]+/comments" }

func (g *onGitHub) comments() []remark {
	var all []remark
	for _, c := range g.w.forge.Comments(testRepo, g.number) {
		all = append(all, remark{c.Author, unmarked(c.Body)})
	}
	return all
}

func (g *onGitHub) branch() string {
	if g.pull {
		return headBranch
	}
	return ""
}

func (g *onGitHub) changes() (n int) {
	for _, r := range g.requests() {
		if r.Method == "POST" && strings.HasSuffix(r.Path, "/pulls") && r.Status/100 == 2 {
			n++
		}
	}
	if g.pull {
		n++
	}
	return n
}

type onGitLab struct {
	w      *world
	server *forgetest.GitLab
	item   *forgetest.Item
	merges bool
}

func (g *onGitLab) config() string {
	return fmt.Sprintf("task_source: gitlab\ngitlab:\n  api_url: %s\n  personal_access_token: %s\n  projects: [%s]\n  bot_name: %s",
		g.server.URL(), testToken, testProject, testBot)
}

func (g *onGitLab) word() string {
	if g.merges {
		return "merge_requests"
	}
	return "issues"
}

func (g *onGitLab) url() string {
	return fmt.Sprintf("http://%s/%s/-/%s/%d", g.server.Host(), testProject, g.word(), g.item.IID())
}

func (g *onGitLab) say(author, body string) int64         { return g.item.AddNote(author, body) }
func (g *onGitLab) edit(id int64, body string)            { g.item.EditNote(id, body) }
func (g *onGitLab) noise()                                { g.item.AddSystemNote("bob", "Said-by-machine: changed the milestone") }
func (g *onGitLab) retitle(title, body string)            { g.item.Edit(title, body) }
func (g *onGitLab) label(names ...string)                 { g.item.AddLabels(names...) }
func (g *onGitLab) labelAs(login string, names ...string) { g.item.AddLabelsAs(login, names...) }
func (g *onGitLab) permit(login string)                   { g.server.SetAccess(testProject, login, forgetest.Developer) }
func (g *onGitLab) unlabel(names ...string)               { g.item.RemoveLabels(names...) }
func (g *onGitLab) labels() []string                      { return g.item.Labels() }
func (g *onGitLab) assign(logins ...string)               { g.item.SetAssignees(logins...) }
func (g *onGitLab) finish()                               { g.item.SetState("closed") }
func (g *onGitLab) requests() []forgetest.Request         { return g.server.Requests() }
func (g *onGitLab) fault(f forgetest.Fault)               { g.server.Fault(f) }
func (g *onGitLab) clearFaults()                          { g.server.ClearFaults() }
func (g *onGitLab) changes() int                          { return g.server.MergeRequests(testProject) }
func (g *onGitLab) listPath() string                      { return ".*/(issues|merge_requests)/[0-9]+/notes" }

func (g *onGitLab) own() string {
	return fmt.Sprintf("/projects/%s/%s/%d", testProject, g.word(), g.item.IID())
}

func (g *onGitLab) comments() []remark {
	var all []remark
	for _, n := range g.item.Notes() {
		if !n.System {
			all = append(all, remark{n.Author, unmarked(n.Body)})
		}
	}
	return all
}

func (g *onGitLab) branch() string {
	if g.merges {
		return headBranch
	}
	return ""
}

// said are the comments of the bot.
func (c *talk) said() (all []string) {
	for _, m := range c.comments() {
		if m.author == testBot {
			all = append(all, m.body)
		}
	}
	return all
}

// wantState wants the one context in a state, and the item to carry just these labels.
func (c *talk) wantState(state string, labels ...string) report.Listed {
	c.t.Helper()
	l := c.only()
	if got := c.labels(); l.State != state || strings.Join(got, ",") != strings.Join(labels, ",") {
		c.t.Fatalf("%s with labels %q, want %s with %q; its comments:\n%s", l.State, got, state, labels, strings.Join(c.said(), "\n=====\n"))
	}
	return l
}

// wantSaid wants n comments of the bot that begin with head, and gives the last.
func (c *talk) wantSaid(n int, head string) (last string) {
	c.t.Helper()
	found := 0
	for _, body := range c.said() {
		if strings.HasPrefix(body, head) {
			found++
			last = body
		}
	}
	if found != n {
		c.t.Errorf("%d comments begin with %q, want %d; all:\n%s", found, head, n, strings.Join(c.said(), "\n=====\n"))
	}
	return last
}

// remark is what somebody wrote on the item, as a browser shows it.
type remark struct{ author, body string }

// unmarked leaves out the hidden marker, as a browser does.
func unmarked(body string) string {
	text, _, _ := strings.Cut(body, "\n\n<!-- agent ")
	return text
}
