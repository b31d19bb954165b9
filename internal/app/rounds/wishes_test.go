package rounds_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"agent/forge"
	"agent/internal/app/rounds"
	"agent/internal/webhook"
)

// simple is a configuration without plans, whose tasks end with the first reply.
const simple = "planning: {enabled: false}\ntask_stop: {min_check_interval_seconds: 0}\nlimits: {max_tokens: 1000000}\nlanguage: en\n"

var lastListed = regexp.MustCompile(`"ended": "[^"]*"`)

// listEnded does a round in which the items of ended tasks are due to be listed, in a new process.
func (w *waiting) listEnded() {
	name := filepath.Join(w.dir, "contexts", "scan.json")
	if data, err := os.ReadFile(name); err == nil {
		if err := os.WriteFile(name, lastListed.ReplaceAll(data, []byte(`"ended": "2001-01-01T00:00:00Z"`)), 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
	w.app.Close()
	w.begin()
	w.round()
}

// statuses are the comments that say how far the work is.
func (w *waiting) statuses() (all []string) {
	for _, c := range w.comments() {
		if strings.HasPrefix(c.body, "📊") && c.author == botLogin {
			all = append(all, c.body)
		}
	}
	return all
}

// keyOf is the key of the task.
func (w *waiting) keyOf() string {
	for entry, err := range w.app.Store.List() {
		if err != nil {
			w.t.Fatal(err)
		}
		if first, err := w.app.Store.Creation(entry.UUID); err == nil {
			return first.TaskKey
		}
	}
	return ""
}

// attempts counts the contexts.
func (w *waiting) attempts() int { return w.events("context.created") }

// TestRetryAfterTheEnd: a person who may write gets another attempt at a task that has ended, once for each comment,
// however often the item is looked at and whatever process does; nobody else gets one.
func TestRetryAfterTheEnd(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, make func(*testing.T) hub) {
		w := newWaiting(t, make, simple)
		w.round()
		if w.events("context.completed") != 1 {
			t.Fatalf("%+v", w.comments())
		}
		w.says("eve", w.command("retry"))
		w.says(botLogin, w.command("retry"))
		edited := w.says("bob", "Hm.")
		w.later()
		w.edit(edited, w.command("retry"))
		w.says("bob", "Please do not "+w.command("retry"))
		w.listEnded()
		w.listEnded()
		if n := w.attempts(); n != 1 {
			t.Fatalf("%d attempts: %+v", n, w.comments())
		}
		for n, text := range []string{w.command("retry"), "@" + botLogin + " retry", "agent retry"} {
			id := w.says("bob", text)
			for range 3 {
				w.listEnded()
			}
			if got := w.attempts(); got != n+2 || w.events("context.completed") != n+2 {
				t.Errorf("%q: %d attempts, want %d", text, got, n+2)
			}
			if got := strings.Join(w.reactions(id), " "); !strings.Contains(got, "1") && !strings.Contains(got, "thumbsup") {
				t.Errorf("%q has the reactions %q", text, got)
			}
		}
		w.exact()
	})
}

// TestRetryOfALiveTask: another attempt begins when the one before has stopped, while it works, while it is paused,
// and if the process dies in between, where only the label tells.
func TestRetryOfALiveTask(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, make func(*testing.T) hub) {
		w := newWaiting(t, make, simple)
		w.during[""] = func() { w.say("bob", w.command("pause")) }
		w.round()
		if w.events("context.paused") != 1 {
			t.Fatalf("%+v", w.comments())
		}
		w.during[""] = func() { w.say("bob", w.command("retry")) } // of the second attempt
		w.says("bob", w.command("retry"))
		w.round()
		w.round()
		if n := w.attempts(); n != 3 || w.events("context.stopped") != 2 || w.events("context.completed") != 1 {
			t.Errorf("%d attempts, %d stopped, %d completed: %+v", n, w.events("context.stopped"), w.events("context.completed"), w.comments())
		}
		w.during[""] = func() {
			w.say("bob", w.command("retry"))
			lock, err := w.app.Store.LockKey(w.keyOf()) // as if the process died before it begins
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { _ = lock.Close() })
			w.unlock = lock.Close
		}
		w.says("bob", w.command("retry"))
		w.listEnded()
		if n := w.attempts(); n != 4 || w.events("context.stopped") != 3 {
			t.Fatalf("%d attempts, %d stopped: %+v", n, w.events("context.stopped"), w.comments())
		}
		_ = w.unlock()
		w.round()
		w.listEnded()
		if n := w.attempts(); n != 5 || w.events("context.completed") != 2 {
			t.Errorf("%d attempts, %d completed: %+v", n, w.events("context.completed"), w.comments())
		}
		w.exact()
	})
}

// TestStatusIsTold: a person who may write gets one answer about how far the work is, while a task works, is paused, waits for the approval
// of a plan, and has ended.
func TestStatusIsTold(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, make func(*testing.T) hub) {
		w := newWaiting(t, make, simple)
		w.during[""] = func() {
			w.say("bob", w.command("status"))
			w.say("bob", w.command("budget +500"))
			w.say("bob", w.command("pause"))
		}
		w.round()
		w.saysOnce(1, "working", "of 1000500")
		w.says("bob", w.command("status"))
		w.says("eve", w.command("status"))
		w.round()
		w.saysOnce(2, "paused", "`agent resume ")
		w.says("bob", w.command("resume"))
		w.round()
		w.says("bob", w.command("status"))
		w.says("eve", w.command("status"))
		w.listEnded()
		w.saysOnce(3, "completed", w.command("retry"))
		if n := w.attempts(); n != 1 {
			t.Errorf("%d attempts", n)
		}
		w.exact()
	})
	t.Run("plan", func(t *testing.T) {
		t.Parallel()
		w := newWaiting(t, newOnHub, "")
		w.round()
		w.says("bob", "/status")
		w.round()
		w.saysOnce(1, "**Steps**: 0 of 1 done", "Write the greeting")
		w.says("bob", "/approve")
		w.round()
		if w.events("action.started") != 1 || w.events("context.completed") != 1 {
			t.Errorf("%+v", w.comments())
		}
	})
}

// saysOnce wants n reports, the latest with some words, and no more after further rounds.
func (w *waiting) saysOnce(n int, words ...string) {
	w.t.Helper()
	w.round()
	w.listEnded()
	w.listEnded()
	all := w.statuses()
	if len(all) != n {
		w.t.Fatalf("%d reports, want %d: %+v", len(all), n, w.comments())
	}
	for _, word := range words {
		if !strings.Contains(all[n-1], word) {
			w.t.Errorf("the report has no %q:\n%s", word, all[n-1])
		}
	}
}

// TestEndedItemsCostLittle: an ended task whose item does not change costs its share of a list now and then, and
// no request of its own.
func TestEndedItemsCostLittle(t *testing.T) {
	t.Parallel()
	h := newOnHub(t).(*onHub)
	w := newWaiting(t, func(*testing.T) hub { return h }, simple)
	w.round()
	for range 3 {
		w.listEnded()
	}
	count := func() (comments, lists int) {
		for _, r := range h.s.Requests() {
			switch {
			case strings.Contains(r.Path, "/comments"):
				comments++
			case strings.HasSuffix(r.Path, "/issues"):
				lists++
			}
		}
		return comments, lists
	}
	comments, lists := count()
	for range 5 {
		w.round()
	}
	usual, perRound := count()
	for range 5 {
		w.listEnded()
	}
	more, withEnded := count()
	t.Logf("5 rounds: %d lists; with ended tasks %d; reads of comments %d, %d", perRound-lists, withEnded-perRound, usual-comments, more-usual)
	if usual != comments || more != usual || withEnded-perRound > perRound-lists+3*5 {
		t.Error("an ended task is polled")
	}
}

// TestHookOfACommand: the hook of a comment on an ended task leads to its answer at once, one that is repeated to
// nothing more.
func TestHookOfACommand(t *testing.T) {
	t.Parallel()
	w := newWaiting(t, newOnHub, simple+"loop: {interval_seconds: 86400}\n")
	w.round()
	quiet := func(string) {}
	r := rounds.New(w.app, rounds.Voice{Say: quiet, Note: quiet, Trouble: func(string, error) {}})
	r.Hooks = webhook.NewQueue()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); r.Loop(ctx, 24*time.Hour) }()
	w.says("bob", "/status")
	item := webhook.Item{Key: forge.TaskKey{Host: w.app.Sites[0].Host, Project: "o/r", Kind: forge.GitHubIssue, Number: 1}, Labels: []string{"coding agent done"}, Comment: true}
	r.Hooks.Add(item)
	until(t, func() bool { return len(w.statuses()) == 1 })
	w.says("bob", "/retry")
	r.Hooks.Add(item)
	until(t, func() bool { return w.events("context.completed") == 2 })
	for range 100 {
		r.Hooks.Add(item)
	}
	cancel()
	<-done
	if len(w.statuses()) != 1 || w.attempts() != 2 {
		t.Errorf("%d reports, %d attempts", len(w.statuses()), w.attempts())
	}
}

func until(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not come")
		}
	}
}
