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
	"agent/internal/fork"
	"agent/llm/llmtest"
)

// fork gives what fork --json prints. It runs in the process of the test.
func (w *world) fork(args ...string) fork.Answer {
	w.t.Helper()
	out, errOut, code := w.look(append([]string{"fork", "--json"}, args...)...)
	if code != 0 {
		w.t.Fatalf("agent fork %q: exit %d: %s", args, code, errOut)
	}
	var f fork.Answer
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
			if b.Purpose == event.RestoredMessage {
				continue // a fork's copy is new: after a command the model has to know that ignored files are not in it
			}
			lines = append(lines, b.Role+" "+string(b.Purpose)+": "+took.ReplaceAllString(b.Content.View(), "[took]"))
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

// greets writes hello.txt, whenever it is asked.
func greets(_ int, r llmtest.Request) llmtest.Reply {
	if strings.Contains(fmt.Sprint(r.Messages), "bytes to hello.txt") {
		return llmtest.Done("I wrote hello.txt.")
	}
	return write("hello.txt", "hello\n")
}

// A live fork works on its task: comments, labels and a branch of its own, once the origin
// has ended. Rounds leave every fork alone.
func TestLiveFork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greets)
	w.agent(0, "run")
	origin := w.only()
	before, comments := w.log(origin.UUID), w.forge.Comments(testRepo, 1)
	idle := w.fork(origin.UUID, "--at", fmt.Sprint(w.seqOf(origin.UUID, "tool.replied", 1)))
	out, _ := w.agent(0, "fork", origin.UUID, "--at", fmt.Sprint(w.seqOf(origin.UUID, "message.added", 2)), "--live", "--json")
	var live fork.Answer
	must(t, json.Unmarshal([]byte(out), &live))
	if !live.Live {
		t.Fatalf("%+v", live)
	}
	w.agent(1, "fork", origin.UUID, "--live") // the task has one
	if out, _ := w.agent(0, "run", "--dry-run"); !strings.Contains(out, "nothing to do") {
		t.Errorf("of forks a dry run says\n%s", out)
	}
	w.forge.AddLabels(testRepo, 1, botLabel)
	w.wantDry(0, "skip", "a fork of an earlier attempt works on it")
	w.agent(0, "run") // nor does a round take it because of the label
	for _, uuid := range []string{idle.UUID, live.UUID} {
		if s := w.fold(uuid); s.Status != "paused" || s.Resumes > 0 {
			t.Errorf("%s was taken by a round", uuid)
		}
	}
	w.agent(0, "run", live.UUID)
	s := w.fold(live.UUID)
	opened := s.Publishing.Opened
	if s.Status != "completed" || opened == nil || opened.Number == 0 || opened.Simulated != "" {
		t.Fatalf("it ended as %s with %+v", s.Status, opened)
	}
	now := w.forge.Comments(testRepo, 1)
	if len(now) <= len(comments) || fmt.Sprint(now[:len(comments)]) != fmt.Sprint(comments) {
		t.Errorf("the comments are\n%v\nand were\n%v", now, comments)
	}
	w.wantLabels(1, doneLabel)
	if branches := w.run("git", "-C", w.path("origin.git"), "for-each-ref", "refs/heads/agent"); strings.Count(branches, "\n") != 2 || !strings.Contains(branches, live.UUID[:8]) {
		t.Errorf("the branches are\n%s", branches)
	}
	if w.log(origin.UUID) != before {
		t.Error("the origin's log has changed")
	}
	w.wantExact(live.UUID)
}

// A live fork of a context that has not ended stops it, if the operator says so.
func TestLiveForkStops(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greets)
	w.agent(0, "run")
	out, _, _ := w.look("fork", w.only().UUID, "--drop-last", "1", "--live", "--json")
	var first, second fork.Answer
	must(t, json.Unmarshal([]byte(out), &first))
	if _, errOut, code := w.look("fork", first.UUID, "--live"); code != 2 || !strings.Contains(errOut, "--yes") {
		t.Errorf("without a word: exit %d, %s", code, errOut)
	}
	out, _ = w.agent(0, "fork", first.UUID, "--live", "--yes", "--json")
	must(t, json.Unmarshal([]byte(out), &second))
	if s := w.fold(first.UUID); s.Status != "stopped" {
		t.Errorf("its origin is %s", s.Status)
	}
	w.agent(0, "run", second.UUID)
	if s := w.fold(second.UUID); s.Status != "completed" {
		t.Errorf("it is %s", s.Status)
	}
	w.wantLabels(1, doneLabel)
	w.wantExact(second.UUID)
}

// A fork of a context that worked in place has a copy of its own, also of what was never
// committed there; the directory stays as it is.
func TestForkInPlace(t *testing.T) {
	t.Parallel()
	turns := llmtest.Turns(write("hello.txt", "one\n"), write("hello.txt", "two\n"), llmtest.Done("I wrote it."))
	w := newWorld(t, func(n int, r llmtest.Request) llmtest.Reply {
		if strings.Contains(fmt.Sprint(r.Messages), "Please leave it") {
			return llmtest.Done("I left it.")
		}
		return turns(n, r)
	})
	w.inPlace()
	must(t, os.WriteFile(w.path("work", "mine.txt"), []byte("not committed\n"), 0o600))
	w.agent(0, "run")
	origin := w.only()
	f := w.fork(origin.UUID, "--at", fmt.Sprint(w.seqOf(origin.UUID, "tool.replied", 1)), "--say", "Please leave it.")
	w.agent(0, "run", f.UUID)
	s := w.fold(f.UUID)
	if s.Status != "completed" || s.Workspace.Dir != w.path("workspaces", f.UUID) {
		t.Fatalf("%s in %s", s.Status, s.Workspace.Dir)
	}
	for path, want := range map[string]string{w.path("workspaces", f.UUID, "hello.txt"): "one\n", w.path("workspaces", f.UUID, "mine.txt"): "not committed\n",
		w.path("work", "hello.txt"): "two\n"} {
		if text, err := os.ReadFile(path); err != nil || string(text) != want {
			t.Errorf("%s holds %q, want %q (%v)", path, text, want, err)
		}
	}
	w.wantExact(f.UUID)
}

// A fork of an archived origin, of one that runs, and of a fork; the origin is removed, and
// the forks go on. forget names them.
func TestForkWithoutItsOrigin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, planner)
	w.extra = planningOn
	w.agent(0, "run")
	origin := w.only()
	want := w.spoken(origin.UUID)
	_, err := w.opened(false).Archive(origin.UUID)
	must(t, err)
	first := w.fork(origin.UUID, "--at", fmt.Sprint(w.seqOf(origin.UUID, "plan.made", 1)))
	second := w.fork(first.UUID)
	if second.Origin != first.UUID && second.Origin != origin.UUID {
		t.Errorf("%+v", second)
	}
	out, _ := w.agent(0, "forget", origin.UUID, "--yes")
	for _, uuid := range []string{first.UUID, second.UUID} {
		if !strings.Contains(out, uuid+" is a fork of it") {
			t.Errorf("forget does not name %s:\n%s", uuid, out)
		}
	}
	w.agent(0, "run", second.UUID)
	if got := w.spoken(second.UUID); !slices.Equal(got, want) {
		t.Error(firstDifference(got, want))
	}
	w.wantExact(second.UUID)
	w.agent(0, "verify")
	w.agent(0, "forget", first.UUID, "--yes") // paused, and nothing waits for it
}

// A fork whose process is killed goes on like any other context, when a person runs it.
func TestForkKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, planner)
	w.extra = planningOn
	w.agent(0, "run")
	origin := w.only()
	want := w.spoken(origin.UUID)
	f := w.fork(origin.UUID, "--at", fmt.Sprint(w.seqOf(origin.UUID, "plan.made", 1)))
	since, calls := len(w.forge.Requests()), len(w.model.Requests())
	for n := range 3 {
		p := w.start("run", f.UUID)
		w.awaitCalls(calls + 2*n + 1)
		p.kill()
	}
	w.agent(0, "run") // no round takes it
	w.agent(0, "run", f.UUID)
	if s := w.fold(f.UUID); s.Status != "completed" || s.Work.Corrections > 0 {
		t.Errorf("it ended as %s", s.Status)
	}
	last := func(lines []string) string {
		for _, l := range slices.Backward(lines) {
			if strings.HasPrefix(l, "files: ") {
				return l
			}
		}
		return ""
	}
	if last(w.spoken(f.UUID)) != last(want) {
		t.Errorf("the files are %s, want %s", last(w.spoken(f.UUID)), last(want))
	}
	if writes := w.writes(since); len(writes) > 0 {
		t.Errorf("it wrote %q", writes)
	}
	w.wantExact(f.UUID)
}
