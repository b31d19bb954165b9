package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent/forge/forgetest"
	"agent/internal/exhaustive"
	"agent/llm"
	"agent/llm/llmtest"
)

// solved is an issue with the files that it is about, what the model does, and what the branch has to hold.
type solved struct {
	title  string
	number int
	needs  string            // a program that the tests of the project run with
	files  map[string]string // before; a name that ends in * is a program
	steps  []llm.ToolCall
	said   []string // that the tool's answer to each step contains
	want   map[string]string
	gone   []string
	tests  []string // commands that the description has to name, with how they ended
}

func do(tool string, args map[string]any) llm.ToolCall {
	return llmtest.Call("workspace__"+tool, args)
}

func sh(line, cwd string) llm.ToolCall {
	args := map[string]any{"command": line}
	if cwd != "" {
		args["cwd"] = cwd
	}
	return do("run_command", args)
}

// passed is a command in the description of a change.
func passed(line string) string { return fmt.Sprintf("`%s` → exit code 0", line) }

// TestSolvedIssues solves ten kinds of issues in one run of the real program, with the real tools in
// their sandbox. Each branch is judged byte for byte: contents, line ends, modes and names.
func TestSolvedIssues(t *testing.T) {
	t.Parallel()
	solve(t, exhaustive.Sample(solvedIssues(), 3), patience, nil)
}

// solve runs the agent once on all issues whose programs are here, and judges what it publishes.
func solve(t *testing.T, cases []solved, limit time.Duration, change func(*world)) {
	t.Helper()
	var all []solved
	for _, s := range cases {
		if _, err := exec.LookPath(s.needs); s.needs != "" && err != nil {
			t.Logf("%s: not tried, %s is not here", s.title, s.needs)
			continue
		}
		all = append(all, s)
	}
	w := emptyWorld(t, func(_ int, r llmtest.Request) llmtest.Reply {
		for _, s := range all {
			if r.Contains(s.title) && r.ToolResults() < len(s.steps) {
				return llmtest.ToolCalls(s.steps[r.ToolResults()])
			}
		}
		return llmtest.Done("It is done, and the tests pass.")
	})
	if change != nil {
		change(w)
	}
	before := w.plant(all)
	w.forge.AddRepository(testRepo, forgetest.Repository{Private: true, Git: w.path("origin.git")})
	for i, s := range all {
		all[i].number = w.forge.AddIssue(testRepo, s.title, "Please.", "alice", botLabel)
	}
	p := w.start("run")
	p.patience = limit
	if code := p.wait(); code != 0 {
		t.Fatalf("exit %d: %s%s", code, tail(p.out.String()), tail(p.err.String()))
	}
	changes := map[string]forgetest.Change{}
	for _, c := range w.forge.PullRequests(testRepo) {
		changes[c.Title] = c
	}
	for _, s := range all {
		t.Run(s.title, func(t *testing.T) { w.judge(t, s, before, changes[fmt.Sprintf("%s (#%d)", s.title, s.number)]) })
	}
	if t.Failed() {
		t.Logf("the run said: %s%s", tail(p.out.String()), tail(p.err.String()))
	}
}

// plant makes the repository, and says what is in it, by path.
func (w *world) plant(all []solved) map[string]string {
	w.t.Helper()
	for _, s := range all {
		for name, text := range s.files {
			name, program := strings.CutSuffix(name, "*")
			path := w.path("work", name)
			must(w.t, os.MkdirAll(filepath.Dir(path), 0o700))
			mode := os.FileMode(0o600)
			if program {
				mode = 0o700
			}
			must(w.t, os.WriteFile(path, []byte(text), mode))
		}
	}
	for _, args := range [][]string{{"add", "-A"}, {"commit", "-qm", "Issues"}, {"push", "-q", w.path("origin.git"), "HEAD:main"}} {
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "core.autocrlf=false"}, args...)...)
		cmd.Dir = w.path("work")
		if out, err := cmd.CombinedOutput(); err != nil {
			w.t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return w.tree("main")
}

// tree is what a branch holds: mode and content by path.
func (w *world) tree(branch string) map[string]string {
	w.t.Helper()
	all := map[string]string{}
	for line := range strings.SplitSeq(strings.Trim(w.git("ls-tree", "-r", "-z", branch), "\x00"), "\x00") {
		about, path, _ := strings.Cut(line, "\t")
		fields := strings.Fields(about)
		all[path] = fields[0] + " " + fields[2]
	}
	return all
}

func (w *world) judge(t *testing.T, s solved, before map[string]string, c forgetest.Change) {
	for i, r := range w.toolAnswers(s) {
		if i < len(s.said) && !strings.Contains(r, s.said[i]) {
			t.Errorf("step %d, %s %s, answered:\n%s\nwant %q in it", i, s.steps[i].Name, s.steps[i].Arguments, tail(r), s.said[i])
		}
	}
	if c.Head == "" {
		t.Fatalf("there is no request; the task: %s", tail(fmt.Sprint(w.forge.Comments(testRepo, s.number))))
	}
	got, want := map[string]string{}, map[string]string{}
	after := w.tree(c.Head)
	for path, is := range after {
		if before[path] != is {
			mode, object, _ := strings.Cut(is, " ")
			got[path] = mode + "\n" + w.git("cat-file", "blob", object)
		}
	}
	for path := range before {
		if after[path] == "" {
			got[path] = "gone"
		}
	}
	for name, text := range s.want {
		name, program := strings.CutSuffix(name, "*")
		mode := "100644"
		if program {
			mode = "100755"
		}
		want[name] = mode + "\n" + text
	}
	for _, name := range s.gone {
		want[name] = "gone"
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the branch %s:\n%s", c.Head, tail(diff))
	}
	for _, text := range s.tests {
		if !strings.Contains(c.Body, text) {
			t.Errorf("the description lacks %q:\n%s", text, c.Body)
		}
	}
	if strings.Contains(c.Body, "Unverified") {
		t.Errorf("unverified:\n%s", c.Body)
	}
}

// toolAnswers are those to the steps of an issue, as the model saw them.
func (w *world) toolAnswers(s solved) (all []string) {
	for _, r := range slices.Backward(w.model.Requests()) {
		if !r.Contains(s.title) || isSummary(r) {
			continue
		}
		for _, m := range r.Messages {
			if m.Role == llm.ToolRole {
				all = append(all, m.Content)
			}
		}
		return all
	}
	return nil
}
