package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agent/forge/forgetest"
	"agent/internal/report"
	"agent/internal/trees"
	"agent/llm/llmtest"
)

// steps is a run that writes, edits, runs a command and deletes.
func steps(also string) llmtest.Script {
	turns := []llmtest.Reply{
		write("hello.txt", "one\ntwo\nthree\n"),
		llmtest.ToolCall("workspace__edit_file", map[string]any{"path": "hello.txt", "old_text": "two", "new_text": "zwei"}),
		command("sh", "-c", "mkdir -p deep/down; printf 'no end' > 'deep/down/ä b.txt'; chmod +x hello.txt; "+also),
		command("rm", "README.md"),
	}
	return func(n int, _ llmtest.Request) llmtest.Reply {
		if n < len(turns) {
			return turns[n]
		}
		return llmtest.Done("I did it.") // and again, if it is asked about the new files
	}
}

// TestFilesOfARun shows what a run did to the files, with its clone and without, with the
// forge and without.
func TestFilesOfARun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, steps(`printf 'a\000b' > data.bin`))
	w.agent(0, "run")
	w.agent(0, "resume", w.only().UUID) // a binary file needs a person
	w.agent(0, "run")
	l := w.only()
	w.wantDone(1, l)
	if why, _ := w.agent(0, "why", l.UUID); !strings.Contains(why, "is binary") || !strings.Contains(why, "→ resumed by ") || strings.Contains(why, "agent resume") {
		t.Errorf("why does not tell of the pause that is over:\n%s", why)
	}
	patch, _ := w.agent(0, "diff", l.UUID)
	w.wantApplies(patch, l.UUID)
	for _, want := range []string{"+zwei\n", "-# Widgets\n", "new file mode 100755\n", "+++ b/deep/down/ä b.txt", "Binary files /dev/null and b/data.bin differ", `\ No newline at end of file`} {
		if !strings.Contains(patch, want) {
			t.Errorf("the diff lacks %q:\n%s", want, patch)
		}
	}
	out, _ := w.agent(0, "diff", l.UUID, "--step")
	if strings.Count(out, "── ") != 4 || !strings.Contains(out, "-two\n+zwei\n") || !strings.Contains(out, "old mode 100644\nnew mode 100755") {
		t.Errorf("the steps are\n%s", out)
	}
	edit := w.saved(l.UUID)[2]
	if out, _ := w.agent(0, "diff", l.UUID, "--at", fmt.Sprint(edit.Seq)); strings.Count(out, "diff --git") != 1 || !strings.Contains(out, "+zwei") {
		t.Errorf("up to the edit it is\n%s", out)
	}
	if out, _ := w.agent(0, "diff", l.UUID, "--from", fmt.Sprint(edit.Seq), "--stat"); !strings.Contains(out, "4 files") || !strings.Contains(out, "README.md +0 −1") {
		t.Errorf("since the edit it is\n%s", out)
	}
	w.agent(2, "diff", l.UUID, "--at", "3", "--from", "4")
	if out, _ := w.agent(0, "files", l.UUID, "--at", fmt.Sprint(edit.Seq)); !strings.Contains(out, "100644  hello.txt") || !strings.Contains(out, "README.md") || strings.Contains(out, "deep") {
		t.Errorf("the files at the edit are\n%s", out)
	}
	if out, _ := w.agent(0, "files", l.UUID, "--at", fmt.Sprint(edit.Seq-1), "hello.txt"); out != "one\ntwo\nthree\n" {
		t.Errorf("before the edit the file holds %q", out)
	}
	w.agent(1, "files", l.UUID, "nowhere.txt")
	for _, args := range [][]string{{"files", "--at"}, {"restore", "--to", w.path("past"), "--at"}, {"diff", "--at"}, {"diff", "--from"}, {"diff", "--to"}, {"diff", "--step", "--to"}, {"diff", "--step", "--from"}} {
		if _, problems := w.agent(2, append(args, "9999", l.UUID)...); !strings.Contains(problems, "the log has no event 9999: the last one") {
			t.Errorf("%q: %q", args, problems)
		}
	}

	must(t, os.RemoveAll(w.path("workspaces")))
	w.wantRestored(l.UUID, "from-the-forge")
	w.forge.Fault(forgetest.Fault{Path: ".*", Times: -1, Kind: forgetest.Store502HTML})
	if again, _ := w.agent(0, "diff", l.UUID); again != patch {
		t.Errorf("without clone and forge the diff is\n%s", again)
	}
	w.wantRestored(l.UUID, "without-the-forge") // nothing of the commit is left in it
}

// saved are the events that say what the files were.
func (w *world) saved(uuid string) []trees.Point {
	w.t.Helper()
	v, err := trees.Open(w.store(), uuid, func(s string) string { return s })
	must(w.t, err)
	return v.Points
}

// wantApplies wants git to make the published files of a patch, but for binary ones.
func (w *world) wantApplies(patch, uuid string) {
	w.t.Helper()
	dir := w.path("applied")
	w.run("git", "clone", "-q", "--branch", "main", w.path("origin.git"), dir)
	before, _, _ := strings.Cut(patch, "diff --git a/data.bin")
	_, after, _ := strings.Cut(patch, "data.bin differ\n")
	must(w.t, os.WriteFile(w.path("change.diff"), []byte(before+after), 0o600))
	w.run("git", "-C", dir, "apply", "--index", w.path("change.diff"))
	branch := strings.TrimSpace(w.run("git", "-C", w.path("origin.git"), "for-each-ref", "--format=%(refname:short)", "refs/heads/agent"))
	w.run("git", "-C", dir, "fetch", "-q", w.path("origin.git"), branch)
	if differ := w.run("git", "-C", dir, "diff", "--cached", "--name-only", "FETCH_HEAD"); differ != "data.bin\n" {
		w.t.Errorf("the diff is not what was published; these differ:\n%s", differ)
	}
}

// wantRestored restores the end of a run into a new directory.
func (w *world) wantRestored(uuid, name string) {
	w.t.Helper()
	dir := w.path(name)
	out, errOut := w.agent(0, "restore", uuid, "--to", dir)
	text, err := os.ReadFile(filepath.Join(dir, "hello.txt"))
	if err != nil || string(text) != "one\nzwei\nthree\n" {
		w.t.Errorf("hello.txt holds %q, %v:\n%s%s", text, err, out, errOut)
	}
	if _, err := os.Stat(filepath.Join(dir, "README.md")); err == nil {
		w.t.Error("a deleted file is there")
	}
	if data, err := os.ReadFile(filepath.Join(dir, "data.bin")); err != nil || string(data) != "a\x00b" {
		w.t.Errorf("data.bin holds %q, %v", data, err)
	}
	w.agent(1, "restore", uuid, "--to", dir) // it is not empty
}

func (w *world) run(program string, args ...string) string {
	w.t.Helper()
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("%s %v: %v\n%s", program, args, err, out)
	}
	return string(out)
}

// TestTwoRuns compares two attempts at a task.
func TestTwoRuns(t *testing.T) {
	t.Parallel()
	first, again := steps("true"), false
	w := newWorld(t, func(n int, r llmtest.Request) llmtest.Reply {
		switch {
		case !again:
			return first(n, r)
		case r.Last().Role == "tool":
			return llmtest.Done("I wrote it.")
		}
		return write("hello.txt", "hello\n")
	})
	w.agent(0, "run")
	one := w.only()
	again = true
	w.forge.AddLabels(testRepo, 1, botLabel)
	w.agent(0, "run")
	var two report.Listed
	for _, l := range w.list(0) {
		if l.UUID != one.UUID {
			two = l
		}
	}
	out, _ := w.agent(0, "diff", one.UUID, two.UUID)
	for _, want := range []string{"The runs part at event", "sh -c", "exit 0", "messages: ", "diff --git a/hello.txt b/hello.txt"} {
		if !strings.Contains(out, want) {
			t.Errorf("comparing lacks %q:\n%s", want, out)
		}
	}
	asJSON, _ := w.agent(0, "diff", one.UUID, two.UUID, "--json")
	var c report.Comparison
	line, _, _ := strings.Cut(asJSON, "\n")
	must(t, json.Unmarshal([]byte(line), &c))
	if c.Parts == nil || c.Runs[0].UUID != one.UUID || c.Runs[0].Change.Files == 0 || c.Runs[0].Change == c.Runs[1].Change || len(c.Runs[0].Commands) != 2 || c.Runs[1].State != "completed" {
		t.Errorf("%+v", c)
	}
	if out, _ := w.agent(0, "diff", one.UUID, one.UUID); !strings.Contains(out, "the same to the end") || strings.Contains(out, "diff --git") {
		t.Errorf("a run beside itself:\n%s", out)
	}

	must(t, os.RemoveAll(w.path("workspaces")))
	w.forge.Fault(forgetest.Fault{Path: ".*", Times: -1, Kind: forgetest.Store502HTML})
	out, errOut := w.agent(1, "restore", two.UUID, "--to", w.path("restored"))
	text, err := os.ReadFile(w.path("restored", "hello.txt"))
	if err != nil || string(text) != "hello\n" || !strings.Contains(out, "missing: README.md") || !strings.Contains(errOut, "cannot be had") {
		t.Errorf("%q, %v:\n%s%s", text, err, out, errOut)
	}
}
