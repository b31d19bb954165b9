package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/internal/exhaustive"
	"agent/llm/llmtest"
)

// fork gives what fork --json prints. It runs in the process of the test.
func (w *world) fork(args ...string) forkedAnswer {
	w.t.Helper()
	out, errOut, code := w.look(append([]string{"fork", "--json"}, args...)...)
	if code != 0 {
		w.t.Fatalf("agent fork %q: exit %d: %s", args, code, errOut)
	}
	var f forkedAnswer
	must(w.t, json.Unmarshal([]byte(out), &f))
	return f
}

// log is the bytes of a context's log.
func (w *world) log(uuid string) string {
	w.t.Helper()
	dir, err := w.store().DirOf(uuid)
	must(w.t, err)
	data, err := os.ReadFile(w.path("contexts", string(dir), uuid, "events.jsonl"))
	must(w.t, err)
	return string(data)
}

// writes counts what a forge was asked to change since a request.
func (w *world) writes(since int) (writes []string) {
	for _, r := range w.forge.Requests()[since:] {
		if r.Method != "GET" && !strings.HasSuffix(r.Path, "graphql") && !strings.Contains(r.Path, "git-upload-pack") {
			writes = append(writes, r.Method+" "+r.Path)
		}
	}
	return writes
}

// took is how long a command took, by the words of its tool.
var took = regexp.MustCompile(`\[[0-9.]+ s\]`)

// spoken is what a run's model was told and said, and what its tools did, in order.
func (w *world) spoken(uuid string) (lines []string) {
	for _, ev := range w.events(uuid) {
		switch b := ev.Body.(type) {
		case *event.MessageAdded:
			lines = append(lines, b.Role+" "+b.Purpose+": "+took.ReplaceAllString(b.Content.View(), "[took]"))
		case *event.LLMReplied:
			lines = append(lines, "reply: "+b.Text.View())
		case *event.ToolReplied:
			lines = append(lines, "tool: "+took.ReplaceAllString(b.Content.View(), "[took]"))
		case *event.WorkspaceSaved:
			lines = append(lines, "files: "+b.Tree)
		}
	}
	return lines
}

// A fork at each of 20 steps of a planning run, in which nothing is different: it opens,
// runs to the same end by the same words and files, replays exactly, and leaves the
// origin's log and the task as they are.
func TestForkAnywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, planner)
	w.extra = planningOn
	w.agent(0, "run")
	origin := w.only()
	w.wantDone(1, origin)
	want, before := w.spoken(origin.UUID), w.log(origin.UUID)
	comments, labels := fmt.Sprint(w.forge.Comments(testRepo, 1)), fmt.Sprint(w.forge.Labels(testRepo, 1))
	branches := w.run("git", "-C", w.path("origin.git"), "for-each-ref")
	since := len(w.forge.Requests())
	last := len(w.events(origin.UUID))
	steps := exhaustive.Of(5, 20)
	for n := range steps {
		at := 1 + n*(last-1)/(steps-1)
		f := w.fork(origin.UUID, "--at", fmt.Sprint(at))
		if f.Seq > uint64(at) || f.Origin != origin.UUID {
			t.Errorf("at %d: %+v", at, f)
		}
		if !strings.HasPrefix(w.log(f.UUID), strings.Join(strings.SplitAfter(before, "\n")[:f.Seq], "")) {
			t.Errorf("at %d: the fork's log does not begin with the origin's", at)
		}
		w.agent(0, "run", f.UUID)
		state := w.fold(f.UUID)
		if state.Status != "completed" {
			t.Errorf("at %d: it ended as %s", at, state.Status)
		}
		if got := w.spoken(f.UUID); !slices.Equal(got, want) {
			t.Errorf("at %d: %s", at, firstDifference(got, want))
		}
		w.wantExact(f.UUID)
		w.agent(0, "verify", f.UUID)
	}
	if w.log(origin.UUID) != before {
		t.Error("the origin's log has changed")
	}
	if now := fmt.Sprint(w.forge.Comments(testRepo, 1)); now != comments {
		t.Errorf("the comments are\n%s\nand were\n%s", now, comments)
	}
	if now := fmt.Sprint(w.forge.Labels(testRepo, 1)); now != labels {
		t.Errorf("the labels are %s and were %s", now, labels)
	}
	if now := w.run("git", "-C", w.path("origin.git"), "for-each-ref"); now != branches {
		t.Errorf("the branches are\n%s\nand were\n%s", now, branches)
	}
	if writes := w.writes(since); len(writes) > 0 {
		t.Errorf("the forge was asked to write: %q", writes)
	}
	w.noSecrets()
}

func firstDifference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		var a, b string
		if i < len(got) {
			a = got[i]
		}
		if i < len(want) {
			b = want[i]
		}
		if a != b {
			return fmt.Sprintf("line %d is\n%s\nnot\n%s", i, a, b)
		}
	}
	return ""
}

// seqOf is the n-th event of a type, from 1 on.
func (w *world) seqOf(uuid, kind string, n int) uint64 {
	w.t.Helper()
	for _, ev := range w.events(uuid) {
		if ev.Body.Type() == kind {
			if n--; n == 0 {
				return ev.Seq
			}
		}
	}
	w.t.Fatalf("%s has no such %s", uuid, kind)
	return 0
}

// listens is a model that says what it was told: the last comment, and whose model and
// prompt it is.
func listens(_ int, r llmtest.Request) llmtest.Reply {
	said := ""
	for _, m := range r.Messages {
		if _, after, found := strings.Cut(m.Content, "Please say "); found {
			said, _, _ = strings.Cut(after, " today")
		}
	}
	if n := strings.Count(fmt.Sprint(r.Messages), "bytes to file-"); n < 3 {
		return write(fmt.Sprintf("file-%d.txt", n), fmt.Sprintf("%s %s %v\n", said, r.Model, strings.Contains(r.System(), "Be strict")))
	}
	return llmtest.Done("I said " + said + ".")
}

// What a fork was told to do differently, it does differently from there on, and nothing else.
func TestForkDiffers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, listens)
	w.agent(0, "run")
	origin := w.only()
	must(t, os.WriteFile(w.path("strict.md"), []byte("You are {role}. Be strict. "+testToken), 0o600))
	second := w.seqOf(origin.UUID, "tool.replied", 2)
	f := w.fork(origin.UUID, "--at", fmt.Sprint(second), "--model", "other", "--system-prompt", w.path("strict.md"), "--say", "Please say peace "+testToken+" today")
	if f.Seq != second || f.Moved != "" {
		t.Errorf("it begins elsewhere: %+v", f)
	}
	since := len(w.forge.Requests())
	w.agent(0, "run", f.UUID)
	if writes := w.writes(since); len(writes) > 0 {
		t.Errorf("it wrote %q", writes)
	}
	w.wantExact(f.UUID)
	tree := func(uuid, path string) string {
		out, _ := w.agent(0, "files", uuid, path)
		return out
	}
	for path, want := range map[string]string{"file-0.txt": " scripted false\n", "file-1.txt": " scripted false\n"} {
		if got := tree(f.UUID, path); got != want {
			t.Errorf("%s was %q before the fork, and is %q", path, want, got)
		}
	}
	if got := tree(f.UUID, "file-2.txt"); !strings.HasPrefix(got, "peace ") || !strings.HasSuffix(got, " other true\n") {
		t.Errorf("file-2.txt is %q", got)
	}
	if got := tree(origin.UUID, "file-2.txt"); got != " scripted false\n" {
		t.Errorf("the origin's file-2.txt is %q", got)
	}
	state := w.fold(f.UUID)
	if opened := state.Publishing.Opened; opened == nil || opened.Simulated != event.NotDone || opened.Number != 0 || opened.Patch.IsZero() {
		t.Errorf("its work became %+v", opened)
	}
	if text, _ := w.agent(0, "inspect", f.UUID); strings.Count(text, "not done: this is a fork") < 3 || !strings.Contains(text, "from "+origin.UUID[:8]) && !strings.Contains(text, "fork of "+origin.UUID) {
		t.Errorf("inspect shows\n%s", text)
	}
	if out, _ := w.agent(0, "list"); !strings.Contains(out, "fork of "+origin.UUID[:8]+" at "+fmt.Sprint(second)) {
		t.Errorf("list shows\n%s", out)
	}
	if out, _ := w.agent(0, "why", f.UUID); !strings.Contains(out, "fork of") || !strings.Contains(out, "not done") {
		t.Errorf("why says\n%s", out)
	}
	w.noSecrets()

	shorter := w.fork(origin.UUID, "--drop-last", "2")
	if want := w.seqOf(origin.UUID, "tool.replied", 2); shorter.Seq != want || shorter.Dropped != 2 {
		t.Errorf("without two turns it begins at %d, want %d: %+v", shorter.Seq, want, shorter)
	}
	if _, errOut, code := w.look("fork", origin.UUID, "--drop-last", "9"); code != 2 || !strings.Contains(errOut, "4 before") {
		t.Errorf("nine turns: %d %s", code, errOut)
	}
	for _, args := range [][]string{{"--at", "999"}, {"--drop-last", "-1"}, {"--system-prompt", "/nowhere"}, {"--system-prompt", os.DevNull}} {
		if _, errOut, code := w.look(append([]string{"fork", origin.UUID}, args...)...); code != 2 {
			t.Errorf("%q: exit %d: %s", args, code, errOut)
		}
	}
}

// A fork in the middle of a step begins before it, at the end of a run before its end
// began, and says so.
func TestForkMovesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	w.agent(0, "run")
	origin := w.only()
	for _, kind := range []string{"llm.requested", "tool.requested", "comment.requested", "labels.requested", "change.requested", "workspace.saved"} {
		n := 1
		if kind == "comment.requested" || kind == "workspace.saved" {
			n = 2
		}
		if kind == "comment.requested" {
			n = 1
		}
		at := w.seqOf(origin.UUID, kind, n)
		f := w.fork(origin.UUID, "--at", fmt.Sprint(at))
		if f.Moved == "" || f.Seq >= at || f.Asked != at {
			t.Errorf("at %s (%d): %+v", kind, at, f)
		}
	}
	out, _, _ := w.look("fork", origin.UUID, "--at", fmt.Sprint(w.seqOf(origin.UUID, "tool.requested", 1)))
	if !strings.Contains(out, "a step was open (tool.requested)") {
		t.Errorf("it says\n%s", out)
	}
	out, _, _ = w.look("fork", origin.UUID, "--at", fmt.Sprint(len(w.events(origin.UUID))))
	if !strings.Contains(out, "already ending") || !strings.Contains(out, "agent run ") {
		t.Errorf("it says\n%s", out)
	}
}
