package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"agent/internal/exhaustive"
	"agent/internal/report"
	"agent/llm/llmtest"
)

// hanging hangs at the n-th request (from 0), once.
func hanging(n int, script llmtest.Script) llmtest.Script {
	return func(i int, r llmtest.Request) llmtest.Reply {
		if i == n {
			return llmtest.Hang()
		}
		return script(i, r)
	}
}

// TestPauseSignal pauses by the file pause_signal during a model call, lets
// people comment, and goes on when the file is gone.
func TestPauseSignal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hanging(1, greet()))
	w.forge.AddBot("ci-bot")
	w.forge.AddComment(testRepo, 1, "alice", "Said-before: use English.")
	p := w.start("run")
	w.awaitCalls(2)
	must(t, os.WriteFile(w.path("contexts", "pause_signal"), nil, 0o600))
	if code := p.wait(); code != 0 {
		t.Fatalf("exit %d\n%s%s", code, &p.out, &p.err)
	}
	if !w.model.Requests()[0].Contains("Said-before: use English.") {
		t.Error("the first request lacks the comment that stood there")
	}
	l := w.only()
	w.wantPaused(l)

	w.forge.AddComment(testRepo, 1, "alice", "Said-later: be brief.")
	w.forge.AddComment(testRepo, 1, "bob", "Said-by-bob: be polite.")
	w.forge.AddComment(testRepo, 1, "ci-bot", "Said-by-bot: build 7 is green.")
	if out, _ := w.agent(0, "run"); !strings.Contains(out, "paused: ") || len(w.model.Requests()) != 2 {
		t.Errorf("with the signal standing, run says:\n%s", out)
	}
	must(t, os.Remove(w.path("contexts", "pause_signal")))
	w.agent(0, "run")
	w.wantDone(1, w.only())
	w.wantComment(1, "▶️ **Resumed")
	w.wantHeard(w.model.Requests()[2])
	w.noSecrets()
}

func (w *world) wantPaused(l report.Listed) {
	w.t.Helper()
	w.wantLabels(1, pausedLabel)
	w.wantComment(1, "⏸️ **Paused**")
	var state struct {
		Status       string `json:"status"`
		CommentState struct {
			IDs []string `json:"last_fetched_comment_ids"`
			At  string   `json:"last_fetch_timestamp"`
		} `json:"comment_state"`
	}
	data, err := os.ReadFile(w.path("contexts", "paused", l.UUID, "task_state.json"))
	must(w.t, err)
	must(w.t, json.Unmarshal(data, &state))
	if l.State != "paused" || state.Status != "paused" || len(state.CommentState.IDs) != 1 || state.CommentState.At == "" {
		w.t.Errorf("paused as %s, task_state.json: %s", l.State, data)
	}
}

// wantHeard wants the first request after the pause to hold each comment of a person once.
func (w *world) wantHeard(r llmtest.Request) {
	w.t.Helper()
	all := ""
	for _, m := range r.Messages {
		all += m.Content + "\n"
	}
	for text, want := range map[string]int{"Said-before:": 1, "Said-later:": 1, "Said-by-bob:": 1, "Said-by-bot:": 0, "Paused": 0, "@bob": 1} {
		if got := strings.Count(all, text); got != want {
			w.t.Errorf("the request holds %q %d times, want %d:\n%s", text, got, want, all)
		}
	}
	if last := r.Last().Content; !strings.Contains(last, "Said-later:") || !strings.Contains(last, "Said-by-bob:") {
		w.t.Errorf("the new comments are not the last message:\n%s", last)
	}
}

// TestPauseCommand pauses by command, twice, and resumes by command, twice at once.
func TestPauseCommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hanging(1, greet()))
	uuid := w.pausedByCommand()
	w.agent(0, "pause", uuid)
	if out, _ := w.agent(0, "run"); !strings.Contains(out, "nothing to do") {
		t.Errorf("a paused context goes on:\n%s", out)
	}
	one, two := w.start("resume", uuid), w.start("resume", uuid)
	if one.wait() != 0 || two.wait() != 0 {
		t.Errorf("two resumes at once: %s%s", &one.err, &two.err)
	}
	w.agent(0, "run")
	w.wantDone(1, w.only())
	for _, command := range []string{"pause", "resume", "stop"} {
		w.agent(0, command, uuid)
	}
	if left, _ := os.ReadDir(w.path("contexts", ".control")); len(left) > 0 {
		t.Errorf("signals for a context that has ended are left: %v", left)
	}
	if out, _ := w.agent(0, "run"); !strings.Contains(out, "nothing to do") {
		t.Errorf("a finished context goes on:\n%s", out)
	}
}

// pausedByCommand runs until the second model call and pauses then.
func (w *world) pausedByCommand() (uuid string) {
	w.t.Helper()
	p := w.start("run")
	w.awaitCalls(2)
	uuid = w.only().UUID
	w.agent(0, "pause", uuid[:8])
	if code := p.wait(); code != 0 {
		w.t.Fatalf("exit %d\n%s%s", code, &p.out, &p.err)
	}
	if l := w.only(); l.State != "paused" {
		w.t.Fatalf("%s, want paused", l.State)
	}
	w.wantLabels(1, pausedLabel)
	return uuid
}

// TestPauseAll pauses everything that runs. A resume that came before, while
// it ran, does not end the pause.
func TestPauseAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hanging(1, greet()))
	p := w.start("run")
	w.awaitCalls(2)
	w.agent(0, "resume", w.only().UUID)
	w.agent(0, "pause", "--all")
	p.wait()
	w.agent(0, "run")
	if l := w.only(); l.State != "paused" {
		t.Errorf("%s, want paused", l.State)
	}
	w.agent(0, "resume", "--all")
	w.agent(0, "run")
	w.wantDone(1, w.only())
}

// TestLabelResumes sets the label of a paused task again. That is a person's wish to go on.
func TestLabelResumes(t *testing.T) {
	t.Parallel()
	exhaustive.Slow(t) // TestPauseCommand takes the same way, but for what wakes the task
	w := newWorld(t, hanging(1, greet()))
	w.pausedByCommand()
	w.forge.AddLabels(testRepo, 1, botLabel)
	w.agent(0, "run")
	w.wantDone(1, w.only())
}

// TestLabelsRenamed: the labels are called otherwise in the configuration when a paused task
// goes on, or is stopped. It carries none of the former names then.
func TestLabelsRenamed(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{"resume": "robot: ready", "stop": "robot: given up"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, hanging(1, greet()))
			uuid := w.pausedByCommand()
			w.wantLabels(1, pausedLabel)
			w.hub += "\n  processing_label: 'robot: at work'\n  paused_label: 'robot: rests'\n  done_label: 'robot: ready'\n  stopped_label: 'robot: given up'"
			w.agent(0, command, uuid)
			w.agent(0, "run")
			w.wantLabels(1, want)
			w.wantExact(uuid)
		})
	}
}

// TestStopCommand stops a task that runs, and one that is paused.
func TestStopCommand(t *testing.T) {
	t.Parallel()
	for _, paused := range []bool{false, true} {
		t.Run(map[bool]string{false: "running", true: "paused"}[paused], func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, hanging(1, greet()))
			if paused {
				uuid := w.pausedByCommand()
				w.agent(0, "stop", uuid, "--reason", "solved otherwise")
				w.agent(0, "run")
			} else {
				p := w.start("run")
				w.awaitCalls(2)
				w.agent(0, "stop", w.only().UUID, "--reason", "solved otherwise")
				if code := p.wait(); code != 0 {
					t.Fatalf("exit %d\n%s%s", code, &p.out, &p.err)
				}
			}
			l := w.only()
			if l.State != "stopped" {
				t.Errorf("%s, want stopped", l.State)
			}
			w.wantLabels(1, stoppedLabel)
			if body := w.wantComment(1, "⏹️ **Stopped**"); !strings.Contains(body, "solved otherwise") {
				t.Errorf("comment:\n%s", body)
			}
			w.wantExact(l.UUID)
		})
	}
}
