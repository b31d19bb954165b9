package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"agent/forge/forgetest"
	"agent/internal/exhaustive"
	"agent/llm/llmtest"
)

// noting notes the labels of the item at each request of the model.
func (c *talk) noting(script llmtest.Script) (noted llmtest.Script, labels func(n int) string) {
	var mu sync.Mutex
	seen := map[int]string{}
	noted = func(n int, r llmtest.Request) llmtest.Reply {
		mu.Lock()
		seen[n] = strings.Join(c.labels(), ",")
		mu.Unlock()
		return script(n, r)
	}
	return noted, func(n int) string { mu.Lock(); defer mu.Unlock(); return seen[n] }
}

// later lets a talk be made before its script is.
type later struct{ script llmtest.Script }

func (l *later) play(n int, r llmtest.Request) llmtest.Reply { return l.script(n, r) }

// TestTalk goes the whole way with each kind: labelled, picked up, paused in
// mid-call, spoken to, resumed, done. The model hears what people said, once.
func TestTalk(t *testing.T) { each(t, talkThrough) }

func talkThrough(t *testing.T, kind string) {
	var script later
	c := newTalk(t, kind, script.play)
	noted, labels := c.noting(hanging(1, greet()))
	script.script = noted
	for _, text := range []string{"Said-before: use English.", "Said-first: be quick.", "Said-second: be exact."} {
		c.say("alice", text)
	}
	c.noise()
	c.pauseIn(2)
	c.wantState("paused", pausedLabel)
	c.wantCommentState(4)
	c.wantSaid(1, "⏸️ **Paused**")

	c.say("alice", "Said-later: be brief.")
	c.say("bob", "Said-by-bob: be polite.")
	c.noise()
	c.agent(0, "run")
	if labels(0) != processingLabel || labels(1) != processingLabel || labels(2) != processingLabel {
		t.Errorf("labels while it works: %q, %q, %q", labels(0), labels(1), labels(2))
	}
	l := c.wantState("completed", doneLabel)
	c.wantSaid(1, "▶️ **Resumed")
	c.wantSaid(1, "✅ **Done** @alice")
	first, resumed := c.model.Requests()[0], c.model.Requests()[2]
	wantTold(t, first, map[string]int{"Said-before:": 1, "Said-first:": 1, "Said-second:": 1, "Said-by-machine:": 0})
	wantTold(t, resumed, map[string]int{"Said-before:": 1, "Said-first:": 1, "Said-later:": 1, "Said-by-bob:": 1,
		"Said-by-machine:": 0, "Paused": 0, "Resumed": 0, "@bob": 1})
	last := resumed.Last().Content
	if before, after, _ := strings.Cut(last, "Said-later:"); strings.Contains(before, "Said-") || !strings.Contains(after, "Said-by-bob:") {
		t.Errorf("the new comments are not the last message, in order:\n%s", last)
	}
	c.wantExact(l.UUID)
	c.wantPublished()
	c.noSecrets()
}

// pauseIn runs the agent until its n-th model call and pauses it there by the signal file.
func (c *talk) pauseIn(n int) {
	c.t.Helper()
	p := c.start("run")
	c.awaitCalls(n)
	signal := c.path("contexts", "pause_signal")
	must(c.t, os.WriteFile(signal, nil, 0o600))
	if code := p.wait(); code != 0 {
		c.t.Fatalf("exit %d\n%s%s", code, &p.out, &p.err)
	}
	must(c.t, os.Remove(signal))
}

// wantCommentState wants the ids of n comments or more in task_state.json, as strings.
func (c *talk) wantCommentState(n int) {
	c.t.Helper()
	data, err := os.ReadFile(c.path("contexts", "paused", c.only().UUID, "task_state.json"))
	must(c.t, err)
	var state struct {
		Comments map[string]any `json:"comment_state"`
	}
	must(c.t, json.Unmarshal(data, &state))
	ids, _ := state.Comments["last_fetched_comment_ids"].([]any)
	for _, id := range ids {
		if _, isText := id.(string); !isText {
			c.t.Errorf("%v is no string", id)
		}
	}
	if at, _ := state.Comments["last_fetch_timestamp"].(string); len(ids) < n || at == "" || strings.Contains(string(data), "Said-") {
		c.t.Errorf("%d ids, want at least %d: %s", len(ids), n, data)
	}
}

// wantTold counts texts in all messages of a request.
func wantTold(t *testing.T, r llmtest.Request, want map[string]int) {
	t.Helper()
	all := ""
	for _, m := range r.Messages {
		all += m.Content + "\n"
	}
	for text, n := range want {
		if got := strings.Count(all, text); got != n {
			t.Errorf("the request holds %q %d times, want %d:\n%s", text, got, n, tail(all))
		}
	}
}

// wantPublished wants the work where it belongs: on the branch of the request
// that the task is, or on one of its own, in one new request.
func (c *talk) wantPublished() { c.t.Helper(); c.wantPublishedAs("hello\n") }

func (c *talk) wantPublishedAs(content string) {
	c.t.Helper()
	branch := c.branch()
	if branch == "" {
		branch = strings.TrimSpace(c.git("for-each-ref", "--format=%(refname:short)", "refs/heads/agent"))
	} else if left := c.git("for-each-ref", "refs/heads/agent"); left != "" {
		c.t.Errorf("there is a branch of our own: %s", left)
	}
	if got := c.git("show", branch+":hello.txt"); got != content || c.changes() != 1 {
		c.t.Errorf("%q holds %q, and there are %d requests", branch, got, c.changes())
	}
}

// TestManyComments adds 100 comments to a paused task. A resume that cannot
// read them says so and goes on; the next one has the newest 50 of them.
func TestManyComments(t *testing.T) {
	exhaustive.Only(t)
	each(t, func(t *testing.T, kind string) {
		c := newTalk(t, kind, hanging(1, hanging(2, greet())))
		c.extra = "language: ja\nnew_comment_handling: {notify_fetch_failure: true}"
		c.pauseIn(2)
		for i := range 100 {
			c.say("alice", fmt.Sprintf("Said-%03d.", i))
		}
		c.fault(forgetest.Fault{Method: "GET", Path: c.listPath(), Kind: forgetest.Answer, Status: 403, Times: -1, Body: `{"message":"no"}`})
		c.pauseIn(3)
		if r := c.model.Requests()[2]; r.Contains("Said-") || r.Contains("他に") {
			t.Errorf("comments that could not be read:\n%s", r.Last().Content)
		}
		c.wantSaid(1, "▶️ **再開しました。** 新しいコメントを取得できなかったため、最新のコメントが反映されていない可能性があります。")
		c.wantLogged("comments could not be read")
		c.clearFaults()
		c.agent(0, "run")
		c.wantState("completed", doneLabel)
		r := c.model.Requests()[3]
		wantTold(t, r, map[string]int{"Said-": 50, "Said-049.": 0, "Said-050.": 1, "Said-099.": 1, "他に 50 件のコメントがあります": 1,
			"[再開時の新規コメント通知]": 1})
		if last := r.Last().Content; strings.Index(last, "Said-050.") > strings.Index(last, "Said-099.") {
			t.Errorf("not in order:\n%s", last)
		}
	})
}

func (w *world) wantLogged(text string) {
	w.t.Helper()
	found := false
	entries, err := os.ReadDir(w.path("logs"))
	must(w.t, err)
	for _, e := range entries {
		data, err := os.ReadFile(w.path("logs", e.Name()))
		must(w.t, err)
		found = found || strings.Contains(string(data), text)
	}
	if !found {
		w.t.Errorf("no log holds %q", text)
	}
}
