package handlers

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"agent/eventlog/event"
	"agent/handlers/tell"
	"agent/projections"
)

// wall is a context whose comments on progress stand on a wall.
type wall struct {
	t        *testing.T
	s        *projections.State
	now      time.Time
	step     time.Duration // between two events
	comments []string      // bodies, by id - 1
	deleted  map[string]bool
	refuse   bool // nothing can be written
	writes   int
}

func newWall(t *testing.T, planning event.Planning, language string, ms int64) *wall {
	w := &wall{t: t, s: projections.NewState(), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), step: time.Second, deleted: map[string]bool{}}
	w.fold(&event.ContextCreated{Format: 1, UUID: "00000000-0000-4000-8000-000000000001", TaskKey: "github.com/o/r/issues/7", Forge: "github.com", Kind: "github_issue"})
	w.fold(&event.ConfigPinned{Protocol: "json", Language: language, Planning: planning, ProgressMS: ms})
	return w
}

func (w *wall) fold(b event.Body) uint64 {
	w.now = w.now.Add(w.step)
	w.s.Apply(event.Event{Seq: w.s.Seq + 1, Time: w.now, Body: b})
	return w.s.Seq
}

// add folds events. Before each model call it writes what is due.
func (w *wall) add(bodies ...event.Body) *wall {
	for _, b := range bodies {
		if _, ok := b.(*event.LLMRequested); ok {
			w.look()
		}
		w.fold(b)
	}
	return w
}

// look writes what is due now.
func (w *wall) look() *wall {
	for w.post(progress(w.s)) {
	}
	return w
}

// end writes what stands there when the work ends or rests.
func (w *wall) end(status string) *wall {
	for since := w.s.Seq; w.post(lastProgress(w.s, status, since)); {
	}
	return w
}

// post does a write, as the engine and the forge do.
func (w *wall) post(e Effect) bool {
	if e == nil {
		return false
	}
	in := e.(Act).Intent.(*event.CommentRequested)
	if n := utf8.RuneCountInString(in.Body.View()); n > tell.MaxComment {
		w.t.Fatalf("%s has %d characters", in.Purpose, n)
	}
	w.fold(in)
	if w.writes++; w.writes > 5000 {
		w.t.Fatal("it never ends to write")
	}
	switch {
	case w.refuse:
		w.fold(&event.CommentFailed{Kind: "transient", Message: "no"})
	case w.deleted[in.Edit]:
		w.fold(&event.CommentFailed{Kind: "not_found", Message: "gone"})
	case in.Edit != "":
		w.comments[id(in.Edit)] = in.Body.View()
		w.fold(&event.CommentPosted{ID: in.Edit})
	default:
		w.comments = append(w.comments, in.Body.View())
		w.fold(&event.CommentPosted{ID: fmt.Sprint(len(w.comments))})
	}
	return true
}

func id(text string) (n int) {
	_, _ = fmt.Sscan(text, &n)
	return n - 1
}

func (w *wall) String() string {
	out := fmt.Sprintf("%d writes, %d comments\n", w.writes, len(w.comments))
	for i, c := range w.comments {
		out += fmt.Sprintf("\n===== comment %d =====\n%s\n", i+1, c)
	}
	return out
}

// says is a model call and its reply.
func (w *wall) says(purpose, reply string) *wall {
	return w.add(&event.LLMRequested{Purpose: purpose, Protocol: "json"}, &event.LLMReplied{Text: event.T(reply)})
}

func plan(ids ...string) event.ActionPlan {
	var p event.ActionPlan
	for _, id := range ids {
		p.Actions = append(p.Actions, event.Action{ID: id, Tool: "ws/edit", Purpose: "Do @" + id + " <img src=x>"})
	}
	return p
}

// tale is a plan with all that people are to be told of.
func (w *wall) tale() *wall {
	w.add(&event.PhaseEntered{Phase: "understanding"})
	w.says("understanding", `{"comment":"I read it.","understanding":{"comment":"inner"}}`).add(&event.UnderstandingMade{Understanding: event.Understanding{Goal: "Greet"}})
	w.add(&event.PhaseEntered{Phase: "information"}).says("information", `{"information_needs":{}}`).add(&event.InformationPlanned{})
	w.add(&event.PhaseEntered{Phase: "planning"}).says("planning", "no form at all")
	w.add(&event.MessageAdded{Role: "user", Purpose: event.CorrectionMessage}).says("planning", `{"plan":{}}`)
	w.add(&event.PlanMade{Plan: event.Plan{Goal: event.Goal{Objective: "Greet the world"}, Actions: plan("task_1", "task_2", "task_3")}})
	w.add(&event.PhaseEntered{Phase: "execution"}, &event.ActionStarted{Action: "task_1"})
	w.says("work", `{"command":{"comment":"I write.","tool":"ws/edit","args":{}}}`)
	w.add(&event.ToolRequested{Server: "ws", Tool: "edit", Args: event.T(`{"path":"` + strings.Repeat("long/", 20) + `"}`)},
		&event.ToolReplied{IsError: true, Content: event.T("there is no\n@file")})
	w.says("work", `{"done":true}`).add(&event.ActionFinished{Action: "task_1", Status: "success"}, &event.ActionStarted{Action: "task_2"})
	w.add(&event.LLMRequested{Purpose: "work"}, &event.LLMFailed{Kind: "timeout", Message: "no answer in time"})
	w.says("work", `{"done":true,"comment":"I could not."}`).add(&event.ActionFinished{Action: "task_2", Status: "failed"})
	w.add(&event.PhaseEntered{Phase: "reflection"}).says("reflection", `{"reflection":{}}`)
	w.add(&event.ReflectionMade{}, &event.PhaseEntered{Phase: "execution"}, &event.ActionStarted{Action: "task_3"})
	w.says("work", `{"done":true,"comment":"Third."}`).add(&event.ActionFinished{Action: "task_3", Status: "success"})
	w.add(&event.PhaseEntered{Phase: "verification"}).says("verification", `{"verification_result":{}}`)
	w.add(&event.VerificationMade{Round: 1, Result: event.Verification{Additional: plan("verify_1").Actions}})
	return w.add(&event.PhaseEntered{Phase: "execution"}, &event.ActionStarted{Action: "verify_1"})
}

func planning(mode string) event.Planning {
	return event.Planning{Enabled: true, Comments: mode, Checklist: true, MaxHistory: 100, Understand: true, ReflectEvery: 2, VerifyRounds: 2,
		Notify: event.Notify{Start: true, Understanding: true, Collection: true}}
}

// TestProgressComments compares what stands on a task at a time in the middle of
// the work, and after it has ended, with testdata.
func TestProgressComments(t *testing.T) {
	for _, mode := range []string{"off", "phase", "task", "call"} {
		for _, language := range []string{"en", "ja"} {
			w := newWall(t, planning(mode), language, 10_000).tale()
			out := "# while it works: " + w.String()
			w.says("work", `{"done":true,"comment":"More."}`).add(&event.ActionFinished{Action: "verify_1", Status: "success"})
			out += "\n# at the end: " + w.end("partial").String()
			golden(t, filepath.Join("testdata", "progress", mode+"."+language+".md"), out)
		}
	}
}

// TestErrorIsNoLastWord wants a tool's error to stand above a stage only while the stage goes on.
func TestErrorIsNoLastWord(t *testing.T) {
	failed := func() *wall {
		w := newWall(t, planning("phase"), "en", 0)
		w.add(&event.PhaseEntered{Phase: "information"}).says("information", `{"comment":"I look for it.","information_needs":{}}`)
		return w.add(&event.InformationPlanned{}, &event.ToolRequested{Server: "ws", Tool: "read", Args: event.T("{}")},
			&event.ToolReplied{IsError: true, Content: event.T("no such file")})
	}
	if got := failed().look().comments[0]; !strings.HasPrefix(got, "## ❌ Error - `ws/read`") {
		t.Errorf("while it goes on:\n%s", got)
	}
	got := failed().add(&event.PhaseEntered{Phase: "planning"}).look().comments[0]
	if !strings.HasPrefix(got, "## ✅ Pre-Planning - model call #1\n\nI look for it.") || !strings.Contains(got, "History (2)") || !strings.Contains(got, "❌ `ws/read {}`: no such file") {
		t.Errorf("after it:\n%s", got)
	}
}

// TestBurst wants many events in short time to cost one edit, and the last state to stand there.
func TestBurst(t *testing.T) {
	for _, mode := range []string{"simple", "phase", "task", "call"} {
		p := planning(mode)
		p.Enabled, p.Checklist = mode != "simple", false
		w := newWall(t, p, "en", 10_000)
		w.step = time.Millisecond
		w.add(&event.PhaseEntered{Phase: "execution"})
		before := w.writes
		for i := range 40 {
			w.says("work", fmt.Sprintf(`{"command":{"comment":"Step %d.","tool":"ws/x"}}`, i))
		}
		if n := w.writes - before; n > 1 {
			t.Errorf("%s: %d writes for a burst", mode, n)
		}
		w.now = w.now.Add(10 * time.Second)
		w.add(&event.TimerFired{}).look()
		if n := w.writes - before; n > 2 || !strings.Contains(w.String(), "Step 39.") {
			t.Errorf("%s: %d writes after the burst\n%s", mode, n, w)
		}
		w.says("work", `{"command":{"comment":"The last.","tool":"ws/x"}}`)
		if strings.Contains(w.String(), "The last.") || !strings.Contains(w.end("completed").String(), "The last.") {
			t.Errorf("%s: written too early, or not at the end:\n%s", mode, w)
		}
		if n := w.writes; w.end("completed").writes > n+1 {
			t.Errorf("%s: %d writes at a second end", mode, w.writes-n)
		}
	}
}

// TestProgressSize wants the longest words of five hundred calls to fit, and to leave nothing open.
func TestProgressSize(t *testing.T) {
	long := "```go\n" + strings.Repeat("f() // 長い\n", 5000)
	for _, mode := range []string{"simple", "phase", "task", "call"} {
		p := planning(mode)
		p.Enabled, p.MaxHistory = mode != "simple", 400
		w := newWall(t, p, "ja", 0)
		var ids []string
		for i := range 300 {
			ids = append(ids, fmt.Sprint("task_", i, strings.Repeat("x", 500)))
		}
		w.add(&event.PlanMade{Plan: event.Plan{Actions: plan(ids...)}}, &event.PhaseEntered{Phase: "execution"})
		for i := range 500 {
			if i%100 == 0 {
				w.look()
			}
			w.fold(&event.LLMRequested{Purpose: "work"})
			w.fold(&event.LLMReplied{Text: event.T(fmt.Sprintf(`{"command":{"comment":%q,"tool":"ws/x"}}`, fmt.Sprint(i, " ", strings.Repeat("長い *words* ", 100))))})
		}
		w.says("work", fmt.Sprintf(`{"command":{"comment":%q,"tool":"ws/x"}}`, long)).look()
		for _, c := range w.comments {
			if strings.Count(c, "<details>") != strings.Count(c, "</details>") || fences(c)%2 != 0 {
				t.Errorf("%s: left open: …%s", mode, c[max(0, len(c)-300):])
			}
		}
		if !strings.Contains(w.String(), "以前の") {
			t.Errorf("%s does not count what is left out", mode)
		}
	}
}

func fences(text string) (n int) {
	for l := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(l, "```") {
			n++
		}
	}
	return n
}

// TestDeletedProgress wants a comment that somebody deleted to be made anew, whole.
func TestDeletedProgress(t *testing.T) {
	w := newWall(t, planning("task"), "en", 0).tale()
	w.deleted["1"] = true
	w.says("work", `{"done":true,"comment":"More."}`).look()
	if len(w.comments) != 2 || !strings.Contains(w.comments[1], "I read it.") || !strings.Contains(w.comments[1], "More.") {
		t.Error(w)
	}
}

// TestRefusedProgress wants a forge that takes no comment to be asked less and
// less, and what was missed to be said in the end.
func TestRefusedProgress(t *testing.T) {
	w := newWall(t, event.Planning{}, "en", 10_000)
	w.refuse = true
	for i := range 500 {
		w.says("work", fmt.Sprintf(`{"command":{"comment":"Step %d.","tool":"ws/x"}}`, i))
	}
	if w.writes < 3 || w.writes > 10 {
		t.Errorf("%d writes in %d seconds", w.writes, 1000)
	}
	w.refuse = false
	if w.end("completed"); len(w.comments) != 1 || !strings.Contains(w.comments[0], "Step 499.") {
		t.Error(w)
	}
}

// TestQuietPhases wants nothing said of phases that people do not want to hear of, but of errors.
func TestQuietPhases(t *testing.T) {
	p := planning("phase")
	p.Notify = event.Notify{}
	w := newWall(t, p, "en", 0)
	w.add(&event.PhaseEntered{Phase: "understanding"}).says("understanding", `{"comment":"Secretly."}`)
	if w.add(&event.UnderstandingMade{}).look(); len(w.comments) != 0 {
		t.Error(w)
	}
	w.add(&event.LLMRequested{Purpose: "understanding"}, &event.LLMFailed{Kind: "timeout", Message: "no answer"}).look()
	if len(w.comments) != 1 || !strings.Contains(w.comments[0], "did not answer") || strings.Contains(w.comments[0], "Secretly") {
		t.Error(w)
	}
}

// TestChecklistIsHonest: work that a verification adds is listed once and open
// (B21), and nothing is called complete that is not (B9).
func TestChecklistIsHonest(t *testing.T) {
	const all = "All actions are done"
	finished := func(w *wall, id string) {
		w.add(&event.ActionStarted{Action: id}, &event.ActionFinished{Action: id, Status: "success"})
	}
	w := newWall(t, planning("off"), "en", 0)
	w.add(&event.PlanMade{Plan: event.Plan{Actions: plan("task_1")}})
	finished(w, "task_1")
	if got := w.look().comments[0]; strings.Contains(got, all) || !strings.Contains(got, "1/1 (100%)") {
		t.Errorf("before the verification:\n%s", got)
	}
	w.add(&event.VerificationMade{Round: 1, Result: event.Verification{Additional: plan("verify_1").Actions}})
	if got := w.look().comments[0]; strings.Count(got, "verify_1**") != 1 || !strings.Contains(got, "- [ ] **verify_1**") || !strings.Contains(got, "1/2 (50%)") {
		t.Errorf("after it asked for more:\n%s", got)
	}
	finished(w, "verify_1")
	w.add(&event.VerificationMade{Round: 2})
	if got := w.look().comments[0]; strings.Contains(got, all) || !strings.Contains(got, "did not pass") {
		t.Errorf("after the last round:\n%s", got)
	}
	if status := tell.FinalStatus(w.s, &projections.Ending{Status: projections.Completed, Reason: "done"}); status != "partial" {
		t.Errorf("it ends %s", status)
	}
	w.add(&event.VerificationMade{Round: 3, Result: event.Verification{Passed: true}})
	if got := w.look().comments[0]; !strings.Contains(got, all) || len(w.comments) != 1 {
		t.Errorf("after it passed:\n%s", w)
	}
	failed := newWall(t, planning("off"), "en", 0).add(&event.PlanMade{Plan: event.Plan{Actions: plan("task_1")}}, &event.ActionStarted{Action: "task_1"},
		&event.ActionFinished{Action: "task_1", Status: "failed"}, &event.VerificationMade{Round: 1, Result: event.Verification{Passed: true}})
	if got := failed.look().comments[0]; strings.Contains(got, all) || !strings.Contains(got, "failed: 1") || !strings.Contains(got, "❌") {
		t.Errorf("with a failed action:\n%s", got)
	}
}

// TestRetryIsPromisedOnlyIfMade: S3 says that a failed model call is tried again
// also where it is not.
func TestRetryIsPromisedOnlyIfMade(t *testing.T) {
	w := newWall(t, planning("phase"), "en", 0)
	w.add(&event.PhaseEntered{Phase: "planning"}, &event.LLMRequested{Purpose: "planning"}, &event.LLMFailed{Kind: "timeout", Message: "slow"}).look()
	if got := w.String(); !strings.Contains(got, "Trying again...") {
		t.Errorf("while it is tried again:\n%s", got)
	}
	w = newWall(t, planning("phase"), "en", 0)
	w.add(&event.PhaseEntered{Phase: "planning"}, &event.LLMRequested{Purpose: "planning"}, &event.LLMFailed{Kind: "auth", Message: "bad key"})
	if got := w.end("paused").String(); !strings.Contains(got, "bad key") || strings.Contains(got, "Trying again") {
		t.Errorf("at a pause:\n%s", cmp.Or(got, "nothing"))
	}
}
