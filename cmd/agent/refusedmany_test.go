package main

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agent/llm/llmtest"
)

// TestManyAreRefused: workers that begin tasks at the same moment are all refused, for
// a reason that concerns none of them. One task pauses and says so, in one comment;
// the others are left without a word, in this and in later rounds, and go on when
// the one does.
func TestManyAreRefused(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]llmtest.Reply{
		"account": llmtest.Error(402, "insufficient_quota", "Insufficient credits"),
		"key":     llmtest.Error(401, "invalid_api_key", "Incorrect API key provided"),
		"model":   llmtest.Error(404, "model_not_found", "The model does not exist"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const issues = 3
			var mended atomic.Bool
			script := greet()
			w := newWorld(t, func(n int, r llmtest.Request) llmtest.Reply {
				if mended.Load() {
					return script(n, r)
				}
				refusal.Delay = 300 * time.Millisecond // until all have asked
				return refusal
			})
			w.extra = "workers: 3"
			w.issue("Greet the moon")
			w.issue("Greet the sun")
			w.agent(78, "run")
			paused := w.onePaused(issues)
			for range 2 {
				calls := len(w.model.Requests())
				_, errOut := w.agent(78, "run")
				if strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, "agent resume ") {
					t.Errorf("it says\n%s", errOut)
				}
				if n := len(w.model.Requests()); n != calls || w.onePaused(issues) != paused {
					t.Errorf("%d more calls of the model", n-calls)
				}
			}
			if out, _ := w.agent(0, "status"); !strings.Contains(out, "stopped the work") || !strings.Contains(out, "agent resume") {
				t.Errorf("status says\n%s", out)
			}
			mended.Store(true)
			w.forge.AddLabels(testRepo, paused, botLabel)
			w.agent(0, "run")
			w.agent(0, "run")
			for n := range issues {
				w.wantLabels(n+1, doneLabel)
			}
			for _, l := range w.list(0) {
				w.wantExact(l.UUID)
			}
			if out, _ := w.agent(0, "status"); strings.Contains(out, "stopped the work") {
				t.Errorf("status still says\n%s", out)
			}
		})
	}
}

// onePaused gives the one issue that is paused, with one comment, and wants no comment on the others.
func (w *world) onePaused(issues int) int {
	w.t.Helper()
	var with []int
	comments := 0
	for n := range issues {
		if c := len(w.forge.Comments(testRepo, n+1)); c > 0 {
			with, comments = append(with, n+1), comments+c
		}
		if slices.Contains(w.forge.Labels(testRepo, n+1), pausedLabel) != (len(with) > 0 && with[len(with)-1] == n+1) {
			w.t.Errorf("#%d has the labels %v", n+1, w.forge.Labels(testRepo, n+1))
		}
	}
	if comments != 1 {
		w.t.Fatalf("%d comments on issues %v, want one in all", comments, with)
	}
	return with[0]
}
