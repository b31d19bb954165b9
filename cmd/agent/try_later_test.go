package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent/llm/llmtest"
)

// A change that was not applied is applied later, without the model: also after the try
// was killed, and by what its first command line asked for.
func TestTryAppliedLater(t *testing.T) {
	t.Parallel()
	u := newUser(t, fix())
	out, errOut := u.try(0, "", "fix it", "--json")
	id := u.result(out).UUID
	if !strings.Contains(errOut, "agent try --resume "+id[:8]+" --apply") {
		t.Errorf("it does not say how to apply the change:\n%s", errOut)
	}
	calls := len(u.model.Requests())
	u.host = "127.0.0.1:1" // no model answers
	if _, errOut := u.try(2, "", "--resume", id); !strings.Contains(errOut, "agent try --resume "+id[:8]+" --apply") {
		t.Errorf("resumed without a flag, it says\n%s", errOut)
	}
	u.try(0, "", "--resume", id, "--branch", "fix-sum", "--patch", u.path("fix.patch"))
	u.run("git", "apply", "--check", u.path("fix.patch"))
	if got := u.run("git", "diff", "--stat", "main", "fix-sum"); !strings.Contains(got, "sum.go | 2 +-") || strings.Contains(got, "go.mod") {
		t.Errorf("the branch:\n%s", got)
	}
	u.put("sum.go", u.get("sum.go")+"// mine\n")
	if out, errOut := u.try(1, "", "--resume", id, "--apply", "--json"); !strings.Contains(u.result(out).Problem, "sum.go") || !strings.Contains(errOut, "--resume "+id[:8]+" --apply") {
		t.Errorf("%s%s", out, errOut)
	}
	u.put("sum.go", strings.TrimSuffix(u.get("sum.go"), "// mine\n"))
	out, _ = u.try(0, "", "--resume", id, "--json") // what was asked for is remembered
	if r := u.result(out); r.Applied != u.project || r.Model == "" || !strings.Contains(u.get("sum.go"), "a + b") {
		t.Errorf("%s\n%s", out, u.get("sum.go"))
	}
	if n := len(u.model.Requests()); n != calls {
		t.Errorf("the model was asked %d times", n-calls)
	}
	u.nothingLeft()
}

// A try that was killed does in the end what it was begun for.
func TestKilledTryIsApplied(t *testing.T) {
	t.Parallel()
	u := newUser(t, hanging(1, llmtest.Turns(write("hello.txt", "hello\n"), llmtest.Done("Greeted."))))
	p := u.begin("", "try", "greet", "--apply", "--json")
	u.awaitCalls(2)
	p.kill()
	list := u.begin("", "list", "--json")
	list.wait()
	_, rest, _ := strings.Cut(list.out.String(), `"uuid":"`)
	u.try(0, "", "--resume", rest[:8], "--json")
	if u.get("hello.txt") != "hello\n" {
		t.Error("nothing was applied")
	}
}

// What cannot be done with a change is refused before the model is asked.
func TestTryCannotBeApplied(t *testing.T) {
	t.Parallel()
	u := newUser(t, fix())
	u.run("git", "branch", "taken")
	cases := map[string][]string{
		"--branch: the branch taken cannot be made":   {"--branch", "taken"},
		"--branch: the branch taken/a cannot be made": {"--branch", "taken/a"},
		`--branch: "a b" is not the name of a branch`: {"--branch", "a b"},
		"--patch: write " + u.path("none", "a.patch"): {"--patch", u.path("none", "a.patch")},
		"--patch: write " + u.dir:                     {"--patch", u.dir},
	}
	if os.Geteuid() != 0 { // root may write everywhere
		must(t, os.Chmod(u.project, 0o500))
		t.Cleanup(func() { _ = os.Chmod(u.project, 0o700) })
		cases["--apply: write to "] = []string{"--apply"}
	}
	for says, flags := range cases {
		if _, errOut := u.try(2, "", append(flags, "fix it")...); !strings.Contains(errOut, says) {
			t.Errorf("%q: it says\n%s", flags, errOut)
		}
	}
	if n := len(u.model.Requests()); n > 0 {
		t.Errorf("the model was asked %d times", n)
	}
	if left, _ := filepath.Glob(u.path(".local", "state", "agent", "try", "*")); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
	if u.run("git", "branch", "--list", "--format=%(refname:short)") != "main\ntaken\n" {
		t.Error("a branch was made")
	}
}

// Where git refuses to look into a repository, nothing is copied: it would be without
// .gitignore.
func TestTryWhereGitDoesNotLook(t *testing.T) {
	t.Parallel()
	u := newUser(t, fix())
	u.env = []string{"GIT_TEST_ASSUME_DIFFERENT_OWNER=1"}
	if _, errOut := u.try(2, "", "fix it"); !strings.Contains(errOut, "dubious ownership") || !strings.Contains(errOut, "safe.directory") {
		t.Errorf("it says\n%s", errOut)
	}
	u.env = nil
	must(t, os.WriteFile(filepath.Join(u.project, ".git", "HEAD"), []byte("nonsense"), 0o600))
	must(t, os.WriteFile(filepath.Join(u.project, ".git", "config"), []byte("[nonsense"), 0o600))
	if _, errOut := u.try(2, "", "fix it"); !strings.Contains(errOut, "nothing was copied") {
		t.Errorf("it says\n%s", errOut)
	}
	if n := len(u.model.Requests()); n > 0 {
		t.Errorf("the model was asked %d times", n)
	}
}

// A fork of a try goes on by agent try --resume, whether the try has ended or not, and
// is applied like one.
func TestForkOfATry(t *testing.T) {
	t.Parallel()
	script, turned, forks := fix(), llmtest.Sequence(write("sum.go", "package sum\n\nfunc Of(a, b int) int { return b + a }\n"), llmtest.Done("Turned.")), -1
	u := newUser(t, func(n int, r llmtest.Request) llmtest.Reply {
		if r.Contains("Say-plus") {
			forks++
			return turned(min(forks, 1), r)
		}
		return script(n, r)
	})
	out, _ := u.try(0, "", "fix it", "--json")
	id := u.result(out).UUID
	text := u.begin("", "fork", id, "--at", "12", "--say", "Say-plus")
	if code := text.wait(); code != 0 || !strings.Contains(text.out.String(), "agent try --resume ") || strings.Contains(text.out.String(), "agent run") {
		t.Fatalf("fork: exit %d: %s%s", code, &text.out, &text.err)
	}
	_, rest, _ := strings.Cut(text.out.String(), "agent try --resume ")
	forked := strings.Fields(rest)[0]
	out, _ = u.try(0, "", "--resume", forked[:8], "--json", "--apply")
	if r := u.result(out); r.UUID != forked || r.State != "completed" || !strings.Contains(u.get("sum.go"), "b + a") {
		t.Errorf("%s\n%s", out, u.get("sum.go"))
	}
	for _, r := range u.model.Requests() {
		if r.Contains("[New comments from users]") { // it was said with the task
			t.Errorf("the model was told of comments that there are not:\n%s", r.Last().Content)
		}
	}
	list := u.begin("", "list", "--json")
	if list.wait(); strings.Count(list.out.String(), "\n") != 2 {
		t.Errorf("contexts:\n%s", &list.out)
	}
}

// Git sets variables for hooks and aliases that lead to the user's repository.
func TestTryInAHook(t *testing.T) {
	t.Parallel()
	u := newUser(t, fix())
	before := u.run("git", "log", "--all", "--format=%H") + u.run("git", "ls-files", "--stage")
	dir := filepath.Join(u.project, ".git")
	u.env = append(u.env, "GIT_DIR="+dir, "GIT_INDEX_FILE="+filepath.Join(dir, "index"), "GIT_WORK_TREE="+u.project, "GIT_PREFIX=")
	out, _ := u.try(0, "", "fix it", "--json", "--apply")
	if r := u.result(out); r.State != "completed" || !strings.Contains(u.get("sum.go"), "a + b") {
		t.Errorf("%s\n%s", out, u.get("sum.go"))
	}
	if after := u.run("git", "log", "--all", "--format=%H") + u.run("git", "ls-files", "--stage"); after != before {
		t.Errorf("the user's repository was\n%s\nand is\n%s", before, after)
	}
}
