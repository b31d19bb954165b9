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
)

// made is what fork --json prints.
func (w *world) fork(args ...string) forkedAnswer {
	w.t.Helper()
	out, _ := w.agent(0, append([]string{"fork", "--json"}, args...)...)
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
