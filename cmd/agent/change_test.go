package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/forge/forgetest"
	"agent/internal/exhaustive"
	"agent/llm/llmtest"
)

// person works on the repository in a clone of her own, and returns what git printed last.
func (w *world) person(branch string, commands ...[]string) (out string) {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "person")
	for _, args := range append([][]string{{"clone", "-q", "-b", branch, w.path("origin.git"), dir}}, commands...) {
		cmd := exec.Command("git", append([]string{"-c", "user.name=ann", "-c", "user.email=ann@example.com"}, args...)...)
		if args[0] != "clone" {
			cmd.Dir = dir
		}
		data, err := cmd.CombinedOutput()
		if err != nil {
			w.t.Errorf("git %v: %v\n%s", args, err, data)
		}
		out = strings.TrimSpace(string(data))
	}
	return out
}

// pushes commits a line to a file of a branch, as a person.
func (w *world) pushes(branch, name, text string) {
	w.person(branch, []string{"config", "core.hooksPath", "/dev/null"},
		[]string{"-c", "alias.put=!f() { printf '%s\\n' \"$2\" > \"$1\"; }; f", "put", name, text},
		[]string{"add", "-A"}, []string{"commit", "-qm", "By a person"}, []string{"push", "-q", "origin", "HEAD"})
}

// then does something before the model's n-th reply.
func then(script llmtest.Script, n int, do func()) llmtest.Script {
	return func(i int, r llmtest.Request) llmtest.Reply {
		if i == n {
			do()
		}
		return script(i, r)
	}
}

// patch is what was kept beside the log of the only context.
func (w *world) patch() string {
	w.t.Helper()
	found, _ := filepath.Glob(w.path("contexts", "completed", "*", event.PatchFile))
	if len(found) != 1 {
		w.t.Fatalf("patches: %v", found)
	}
	data, err := os.ReadFile(found[0])
	must(w.t, err)
	return string(data)
}

// requests of the talk's project.
func (c *talk) opened() []forgetest.Change {
	if g, ok := c.thread.(*onGitLab); ok {
		return g.server.MergeRequestList(testProject)
	}
	return c.world.forge.PullRequests(testRepo)
}

// TestDraft: an issue becomes a draft that is tied to it, with evidence, whose
// author is asked for a review; the commits of the model's own stay apart.
func TestDraft(t *testing.T) {
	t.Parallel()
	for _, kind := range exhaustive.Sample([]string{kinds[0], kinds[2]}, 2) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			commit := llmtest.ToolCall("workspace__git_commit", map[string]any{"message": "Write a greeting\n\nfor @bob"})
			c := newTalk(t, kind, llmtest.Turns(write("hello.txt", "hello\n"), commit, write("-n \n.txt", "x\n"), llmtest.Done("All tests pass.")))
			c.permit("alice")
			c.retitle("Greet $(touch stolen); `id` --all", "Please write hello.txt.\n\nBase: none-such\n")
			c.agent(0, "run")
			l := c.wantState("completed", doneLabel)
			all := c.opened()
			if len(all) != 1 || !all[0].Draft || strings.Join(all[0].Reviewers, ",") != "alice" || all[0].Base != "main" {
				t.Fatalf("requests: %+v", all)
			}
			r := all[0]
			if want := "agent/issue-1-greet-touch-stolen-id-all-" + l.UUID[:8]; r.Head != want {
				t.Errorf("branch %s, want %s", r.Head, want)
			}
			for _, text := range []string{"Closes #1\n", "`hello.txt` +1 −0", "+1 −0", "**Unverified:**", "No command was run", "`none-such`", l.UUID} {
				if !strings.Contains(r.Body, text) {
					t.Errorf("the description lacks %q:\n%s", text, r.Body)
				}
			}
			log := c.git("log", "--format=%an|%ae|%B%x00", "main.."+r.Head)
			if parts := strings.Split(log, "\x00"); len(parts) != 3 || strings.Count(log, "Agent-Context: "+l.UUID) != 2 || strings.Count(log, testBot+"|") != 2 ||
				!strings.Contains(parts[1], "Write a greeting") || strings.Contains(log, " @bob") {
				t.Errorf("commits:\n%s", log)
			}
			c.wantHead(l.UUID, c.wantSaid(1, "✅ **Done** @alice"))
			if left, _ := os.ReadDir(c.path("workspaces")); len(left) > 0 {
				t.Errorf("the working copy was left: %v", left)
			}
			c.wantExact(l.UUID)
		})
	}
}

var namedHead = regexp.MustCompile("--head ([0-9]+):([0-9a-f]{64})`")

// wantHead wants `agent verify` to know the event that a comment names, and no other.
func (w *world) wantHead(uuid, comment string) {
	w.t.Helper()
	m := namedHead.FindStringSubmatch(comment)
	if m == nil {
		w.t.Fatalf("no hash is named:\n%s", comment)
	}
	if out, _ := w.agent(0, "verify", uuid, "--head", m[1]+":"+m[2]); !strings.Contains(out, "event "+m[1]+" is the one") {
		w.t.Errorf("verify: %s", out)
	}
	for head, want := range map[string]string{
		"3:" + m[2]:    uuid + "  event 3 is not the one that was named",
		"9999:" + m[2]: uuid + "  event 9999 was named, but the log ends at event ",
	} {
		if out, _ := w.agent(65, "verify", uuid, "--head", head); !strings.Contains(out, want) {
			w.t.Errorf("--head %s:\n%s", head, out)
		}
	}
	w.agent(2, "verify", uuid, "--head", m[2])
	w.agent(2, "verify", "--head", m[1]+":"+m[2])
}

// TestNothingChanged: nothing is pushed, and that is said.
func TestNothingChanged(t *testing.T) {
	t.Parallel()
	c := newTalk(t, kinds[0], llmtest.Turns(llmtest.Done("Nothing is to be done.")))
	c.agent(0, "run")
	c.wantState("completed", doneLabel)
	if body := c.wantSaid(1, "✅ **Done**"); !strings.Contains(body, "Nothing was changed, so nothing was pushed.") {
		t.Error(body)
	}
	if refs := c.git("for-each-ref", "refs/heads/agent"); refs != "" || len(c.opened()) > 0 {
		t.Errorf("there is %s, %v", refs, c.opened())
	}
	must(t, os.MkdirAll(c.path("workspaces", c.only().UUID), 0o700)) // as a process leaves it that is killed at its end
	if out, _ := c.agent(0, "gc"); !strings.Contains(out, "removed 1 working copies") {
		t.Error(out)
	}
	if left, _ := os.ReadDir(c.path("workspaces")); len(left) > 0 {
		t.Errorf("the working copy was left: %v", left)
	}
}

// TestBranchMoved: somebody pushes to the head branch while the agent works. Its
// commits go on top; where they do not fit, they are kept as a patch.
func TestBranchMoved(t *testing.T) {
	t.Parallel()
	for _, kind := range exhaustive.Sample([]string{kinds[1], kinds[3]}, 2) {
		for _, fits := range []bool{true, false} {
			name := map[bool]string{true: "other.txt", false: "hello.txt"}[fits]
			t.Run(kind+" "+name, func(t *testing.T) {
				t.Parallel()
				var c *talk
				c = newTalk(t, kind, then(greet(), 1, func() { c.pushes(headBranch, name, "by a person") }))
				c.agent(0, "run")
				c.wantState("completed", doneLabel)
				body := c.wantSaid(1, "✅ **Done**")
				log := strings.TrimSpace(c.git("log", "--format=%s", "main.."+headBranch))
				if fits {
					if log != "Greet the world (#1)\nBy a person" || c.git("show", headBranch+":hello.txt") != "hello\n" {
						t.Errorf("the branch is\n%s", log)
					}
					if !strings.Contains(body, "was not run again") {
						t.Errorf("what was checked before the rebase is not marked:\n%s", body)
					}
					return
				}
				if log != "By a person" || !strings.Contains(body, "the changes conflict") || !strings.Contains(body, "+hello") {
					t.Errorf("the branch is\n%s\nthe comment:\n%s", log, body)
				}
				c.wantPatch()
			})
		}
	}
}

// wantPatch wants the kept patch to be one that git takes, with the context's trailer.
func (w *world) wantPatch() {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "change.patch")
	must(w.t, os.WriteFile(file, []byte(w.patch()), 0o600))
	if log := w.person("main", []string{"am", "-q", file}, []string{"log", "-1", "--format=%an %B", "--name-only"}); !strings.HasPrefix(log, testBot+" ") ||
		!strings.Contains(log, "Agent-Context: ") || !strings.Contains(log, "hello.txt") {
		w.t.Errorf("the patch gives %s", log)
	}
}

// TestDefaultBranchRenamed: a person renames the default branch while the agent works.
// The request is opened into the branch as it is called now.
func TestDefaultBranchRenamed(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{kinds[0], kinds[2]} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var c *talk
			c = newTalk(t, kind, then(greet(), 1, func() {
				c.git("branch", "-m", "main", "trunk")
				if g, ok := c.thread.(*onGitLab); ok {
					g.server.SetDefaultBranch(testProject, "trunk")
				} else {
					c.forge.SetDefaultBranch(testRepo, "trunk")
				}
			}))
			c.agent(0, "run")
			l := c.wantState("completed", doneLabel)
			opened := false
			for _, r := range c.requests() {
				opened = opened || r.Method == http.MethodPost && r.Status < 300 && strings.Contains(r.Body, `"trunk"`)
			}
			if !opened || c.changes() != 1 {
				t.Errorf("no request for trunk, %d in all", c.changes())
			}
			c.wantExact(l.UUID)
		})
	}
}

// TestProtectedPath waits for a person, whose resume lets the change pass, with a
// plan and without.
func TestProtectedPath(t *testing.T) {
	t.Parallel()
	for name, extra := range exhaustive.SampleMap(map[string]string{"simple": "", "with a plan": "planning: {enabled: true}\n"}, 2) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := greet()
			if extra != "" {
				script = planner
			}
			c := newTalk(t, kinds[0], script)
			c.extra = extra + "change_requests: {protected_paths: [HELLO.txt]}"
			c.agent(0, "run")
			c.wantState("paused", pausedLabel)
			if body := c.wantSaid(1, "⏸️ **Paused**"); !strings.Contains(body, "`hello.txt` is a protected path") {
				t.Error(body)
			}
			if out, _ := c.agent(0, "run"); len(c.opened()) > 0 || c.only().State != "paused" {
				t.Errorf("it went on by itself: %s", out)
			}
			c.agent(0, "resume", "--all")
			c.agent(0, "run")
			l := c.wantState("completed", doneLabel)
			if all := c.opened(); len(all) != 1 || !strings.HasPrefix(c.git("show", all[0].Head+":hello.txt"), "hello") {
				t.Errorf("requests: %+v", all)
			}
			c.wantExact(l.UUID)
		})
	}
}

// TestSetupCommands run before the first model call, and the model is told. What
// they leave beside the work is left out; the model is asked about other new files.
func TestSetupCommands(t *testing.T) {
	t.Parallel()
	c := newTalk(t, kinds[0], llmtest.Turns(write("hello.txt", "hello\n"), llmtest.Done("I wrote hello.txt."), llmtest.Done("ready.txt stays.")))
	c.hub = "\n  setup_commands: {" + testRepo + ": [[sh, -c, mkdir __pycache__; echo ready | tee ready.txt > __pycache__/a.pyc], [sh, -c, echo lacking; exit 3]], other/repo: [[\"false\"]]}"
	c.agent(0, "run")
	l := c.wantState("completed", doneLabel)
	calls := find[*event.ToolRequested](c.events(l.UUID))
	if len(calls) != 3 || !calls[0].Setup || !calls[1].Setup || calls[2].Setup {
		t.Fatalf("calls: %+v", calls)
	}
	said := c.firstRequest("Greet the world").Messages[1].Content
	if !strings.Contains(said, "tee ready.txt > __pycache__/a.pyc'` → exit code 0") || !regexp.MustCompile(`exit code: 3\n\s*\[[0-9.]+ s\]\n\s*lacking`).MatchString(said) {
		t.Errorf("the model was told:\n%s", said)
	}
	if body := c.wantSaid(1, "✅ **Done**"); !strings.Contains(body, "exit code 3") || !strings.Contains(body, "`ready.txt`") ||
		!strings.Contains(body, "Left out as by-products of tools: `__pycache__/` (Python)") {
		t.Error(body)
	}
	if asked := c.firstRequest("about to be published"); !strings.Contains(asked.Messages[len(asked.Messages)-1].Content, "\nready.txt\n") {
		t.Errorf("the model was asked:\n%s", asked.Messages[len(asked.Messages)-1].Content)
	}
	if out, _ := c.agent(0, "why", l.UUID); !strings.Contains(out, "__pycache__/ is left out of the change: a by-product of Python") {
		t.Error(out)
	}
	if files := c.git("ls-tree", "-r", "--name-only", c.opened()[0].Head); files != "README.md\nhello.txt\nready.txt\n" {
		t.Errorf("published: %q", files)
	}
	c.wantExact(l.UUID)
}

// TestRepositoryIsNoConfiguration: files of a repository that look like somebody's
// configuration configure nothing.
func TestRepositoryIsNoConfiguration(t *testing.T) {
	t.Parallel()
	c := newTalk(t, kinds[0], greet())
	evil := "mcp_servers:\n  - {mcp_server_name: evil, command: [touch, " + c.path("evil") + "]}\n"
	for _, name := range []string{"config.yaml", "agent.yaml", ".agent.yaml", ".mcp.json"} {
		c.pushes("main", name, evil)
	}
	c.agent(0, "run")
	c.wantState("completed", doneLabel)
	c.wantPublished()
	if _, err := os.Lstat(c.path("evil")); err == nil {
		t.Error("a server of the repository was started")
	}
}

// TestKilledWhilePublishing kills the agent at each request of git and about the
// change, before the forge has dealt with it and after. The next process ends with
// one branch, one request, and the commit that the log names.
func TestKilledWhilePublishing(t *testing.T) {
	t.Parallel()
	asked := `.*\.git/.*|.*/(pulls|merge_requests)(/[0-9]+/requested_reviewers|/[0-9]+)?`
	matches := regexp.MustCompile("^(?:" + asked + ")$")
	count := func(c *talk) (n int) {
		for _, r := range c.requests() {
			if matches.MatchString(r.Path) {
				n++
			}
		}
		return n
	}
	for i, kind := range exhaustive.One(t, []string{kinds[0], kinds[2]}) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			whole := newTalk(t, kind, greet())
			whole.permit("alice")
			whole.agent(0, "run")
			points := count(whole)
			if points < 8 {
				t.Fatalf("only %d requests", points)
			}
			for n := 1; n <= points; n += exhaustive.Every(9) {
				how := []forgetest.FaultKind{forgetest.Slow, forgetest.StoreSlow}[(n+i)%2]
				t.Run(string(how[:5])+" "+strconv.Itoa(n), func(t *testing.T) {
					t.Parallel()
					c := newTalk(t, kind, greet())
					c.permit("alice")
					c.fault(forgetest.Fault{Path: asked, Nth: n, Kind: how, Delay: patience})
					p := c.start("run")
					c.until("request "+strconv.Itoa(n), func() bool { return count(c) >= n })
					p.kill()
					c.clearFaults()
					c.agent(0, "run")
					l := c.wantState("completed", doneLabel)
					c.wantPublished()
					all, opened := c.opened(), find[*event.ChangeOpened](c.events(l.UUID))
					if len(all) != 1 || len(opened) != 1 || strings.Join(all[0].Reviewers, ",") != "alice" {
						t.Fatalf("requests %+v, in the log %+v", all, opened)
					}
					if log := c.git("log", "--format=%H", "main.."+all[0].Head); log != opened[0].Commit+"\n" {
						t.Errorf("the branch is %q, in the log %q", log, opened[0].Commit)
					}
					c.wantSaid(1, "✅ **Done** @alice")
					c.wantExact(l.UUID)
				})
			}
		})
	}
}
