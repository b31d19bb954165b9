package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agent/forge/forgetest"
	"agent/internal/report"
	"agent/llm/llmtest"
)

// TestUnfinishedWork: the work of an attempt that a limit ended is kept, and the next
// attempt continues from there, from a branch and from a patch.
func TestUnfinishedWork(t *testing.T) {
	t.Parallel()
	for name, branch := range map[string]bool{"push": true, "patch": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const taken = "An earlier attempt at this task did not come to its end."
			w := newWorld(t, func(_ int, r llmtest.Request) llmtest.Reply {
				if r.Contains(taken) {
					return llmtest.Done("It was there already.")
				}
				return write("hello.txt", "hello\n")
			})
			w.extra = "max_llm_process_num: 1\nchange_requests: {unfinished: " + name + "}"
			w.agent(0, "run")
			w.wantLabels(1, doneLabel)
			if opened := w.forge.PullRequests(testRepo); len(opened) != 0 {
				t.Fatalf("requests: %+v", opened)
			}
			if out := w.git("branch", "--list", "agent/*"); (out != "") != branch {
				t.Errorf("branches: %q", out)
			}
			w.wantSaid(1, map[bool]string{true: "The unfinished work is on the branch `agent/issue-1-greet-the-world-", false: "as `change.patch`"}[branch])
			w.forge.AddLabels(testRepo, 1, botLabel)
			w.agent(0, "run")
			opened := w.forge.PullRequests(testRepo)
			if len(opened) != 1 || w.git("show", opened[0].Head+":hello.txt") != "hello\n" {
				t.Fatalf("requests: %+v", opened)
			}
			w.wantSaid(1, "I continue with the unfinished work of the context")
			for _, l := range w.list(0) {
				w.wantExact(l.UUID)
			}
		})
	}
}

// TestStoppedWork: what a person stopped is pushed nowhere, but kept.
func TestStoppedWork(t *testing.T) {
	t.Parallel()
	var w *world
	script := llmtest.Turns(write("hello.txt", "hello\n"), write("other.txt", "other\n"), llmtest.Done("Done."))
	w = newWorld(t, then(script, 1, func() { w.agent(0, "stop", w.only().UUID) }))
	w.agent(0, "run")
	w.wantLabels(1, stoppedLabel)
	if out := w.git("branch", "--list", "agent/*"); out != "" {
		t.Errorf("branches: %q", out)
	}
	found, _ := filepath.Glob(w.path("contexts", "completed", "*", "change.patch"))
	if len(found) != 1 {
		t.Fatalf("patches: %v", found)
	}
	data, err := os.ReadFile(found[0])
	must(t, err)
	if !strings.Contains(string(data), "+hello") {
		t.Errorf("the patch is\n%s", data)
	}
	w.wantSaid(1, "as `change.patch`")
}

// TestPausedWork: a pause for a person names the working copy and keeps a patch too,
// whatever the pause is for; a resume goes on with both. agent resume of the context
// that has ended says what helps.
func TestPausedWork(t *testing.T) {
	t.Parallel()
	work := llmtest.Turns(write("hello.txt", "hello\n"), llmtest.Done("I wrote hello.txt."))
	for name, c := range map[string]struct {
		extra  string
		code   int
		script llmtest.Script
	}{
		"account": {"", 78, func(n int, r llmtest.Request) llmtest.Reply {
			if n == 1 {
				return llmtest.Error(402, "insufficient_quota", "Insufficient credits")
			}
			return work(n, r)
		}},
		"approval": {"change_requests: {protected_paths: [hello.txt]}", 0, work},
		"limit":    {"limits: {max_tokens: 1}", 0, work},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.script)
			w.extra = c.extra
			w.agent(c.code, "run")
			l := w.only()
			w.wantLabels(1, pausedLabel)
			w.wantSaid(1, "is in the working copy `"+l.UUID+"`")
			w.wantSaid(1, "It is also kept with the context `"+l.UUID+"` as `change.patch`")
			patch, err := os.ReadFile(w.path("contexts", "paused", l.UUID, "change.patch"))
			if err != nil || !strings.Contains(string(patch), "+hello") {
				t.Errorf("%v, the patch is\n%s", err, patch)
			}
			if out, _ := w.agent(0, "why", l.UUID); l.Work != "change.patch" || !strings.Contains(out, "change.patch") {
				t.Errorf("list says %q, why\n%s", l.Work, out)
			}
			w.agent(0, "resume", l.UUID, "--add", "1000000")
			w.agent(0, "run")
			l = w.only()
			w.wantLabels(1, doneLabel)
			if l.Work != "" || w.git("show", w.forge.PullRequests(testRepo)[0].Head+":hello.txt") != "hello\n" {
				t.Errorf("list says that work is kept: %q", l.Work)
			}
			w.wantExact(l.UUID)
			out, _ := w.agent(0, "resume", l.UUID)
			for _, want := range []string{"is completed: nothing to resume", "set the label on the item again, or: agent run http"} {
				if !strings.Contains(out, want) {
					t.Errorf("resume of a context that has ended says\n%s", out)
				}
			}
		})
	}
}

// TestResumeOfEnded: who resumes a context that failed or was stopped learns what to
// do instead, and what a new attempt begins with.
func TestResumeOfEnded(t *testing.T) {
	t.Parallel()
	for state, script := range map[string]llmtest.Script{
		"failed": func(n int, _ llmtest.Request) llmtest.Reply {
			if n == 0 {
				return write("hello.txt", "hello\n")
			}
			return llmtest.Text(`<tool_call>{"name": "workspace__wri`)
		},
		"stopped": llmtest.Turns(write("hello.txt", "hello\n"), write("other.txt", "other\n"), llmtest.Done("Done.")),
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			var w *world
			if state == "stopped" {
				script = then(script, 1, func() { w.agent(0, "stop", w.only().UUID) })
			}
			w = newWorld(t, script)
			code := map[string]int{"failed": 1, "stopped": 0}[state]
			w.agent(code, "run")
			out, _ := w.agent(0, "resume", w.only().UUID)
			for _, want := range []string{"is " + state + ": nothing to resume", "set the label on the item again, or: agent run http", "continues from there: "} {
				if !strings.Contains(out, want) {
					t.Errorf("resume says\n%s\nwithout %q", out, want)
				}
			}
		})
	}
}

// wantSaid wants a text in a comment of the bot.
func (w *world) wantSaid(number int, text string) {
	w.t.Helper()
	if all := strings.Join(w.bodies(number), "\n=====\n"); !strings.Contains(all, text) {
		w.t.Errorf("no comment on #%d says %q:\n%s", number, text, all)
	}
}

// TestLastWordRefused: a last comment that the forge does not take for now is posted in
// a later round; a shorter one where it is too long; none where the item is locked.
func TestLastWordRefused(t *testing.T) {
	t.Parallel()
	answer := func(status int, message string, times int) forgetest.Fault {
		return forgetest.Fault{Method: "POST", Path: ".*/comments", Kind: forgetest.Answer, Status: status, Times: times, Body: `{"message":"` + message + `"}`}
	}
	t.Run("permission", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, greet())
		w.forge.Fault(answer(403, "Resource not accessible by personal access token", -1))
		w.agent(75, "run")
		w.wantLabels(1, processingLabel)
		w.forge.ClearFaults()
		w.agent(0, "run")
		w.wantLabels(1, doneLabel)
		w.wantSaid(1, "I wrote hello.txt.")
		w.wantExact(w.only().UUID)
	})
	t.Run("too long", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, llmtest.Turns(write("hello.txt", "hello\n"), llmtest.Done(strings.Repeat("I wrote hello.txt. ", 500))))
		w.forge.Fault(answer(422, "Body is too long", 1))
		w.agent(0, "run")
		w.wantLabels(1, doneLabel)
		w.wantSaid(1, "agent verify")
	})
	t.Run("locked", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, greet())
		w.forge.Fault(answer(403, "Unable to create comment because issue is locked.", -1))
		out, err := w.agent(0, "run")
		w.wantLabels(1, doneLabel)
		w.wantRefused(out+err, "comment: Unable to create comment because issue is locked.")
	})
	t.Run("locked, labels too", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, greet())
		w.forge.Fault(answer(403, "Unable to create comment because issue is locked.", -1))
		w.forge.Fault(forgetest.Fault{Method: "POST", Path: ".*/issues/1/labels", Nth: 2, Kind: forgetest.Answer, Status: 422, Times: -1, Body: `{"message":"Label is invalid"}`})
		out, err := w.agent(0, "run")
		w.wantLabels(1, processingLabel)
		w.wantRefused(out+err, "comment: Unable to create comment because issue is locked.", "labels: Label is invalid")
	})
}

// wantRefused wants everybody who may ask to learn what the forge did not take at the
// end: the run's line, status in both forms, and the program's log.
func (w *world) wantRefused(run string, refused ...string) {
	w.t.Helper()
	r := jsonOf[report.Status](w, 0, "status", "--check") // nobody has to act
	if len(r.Refused) != 1 || r.Refused[0].UUID != w.only().UUID || !slices.Equal(r.Refused[0].Refused, refused) {
		w.t.Errorf("status has %+v", r.Refused)
	}
	status, _ := w.agent(0, "status")
	log, err := os.ReadFile(w.path("logs", "agent.log"))
	must(w.t, err)
	warned := strings.Join(regexp.MustCompile(`(?m)^.*WARN.*$`).FindAllString(string(log), -1), "\n")
	if !strings.Contains(warned, w.only().TaskKey) {
		w.t.Errorf("the log warns %q", warned)
	}
	for where, text := range map[string]string{"run": run, "status": status, "log": warned} {
		for _, words := range refused {
			if where == "log" {
				_, words, _ = strings.Cut(words, ": ") // it names the kind of write in its own words
			}
			if !strings.Contains(text, words) {
				w.t.Errorf("%s does not say %q:\n%s", where, words, text)
			}
		}
	}
}
