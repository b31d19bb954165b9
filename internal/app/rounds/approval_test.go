package rounds_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agent/contexts"
	"agent/forge/forgetest"
	"agent/handlers/engine"
	"agent/internal/exhaustive"
)

const (
	botLogin = "agent-bot"
	botToken = "tok-0123456789"
	label    = "coding agent"
)

// revise makes a second version of the plan.
func (w *waiting) revise() {
	w.says("bob", "Please greet the moon, too.")
	w.round()
}

const another = `{"task_id":"moon","tool":"ws/write_file","parameters":{"path":"moon.txt"},"purpose":"Greet the moon"}`

func approving(f func(w *waiting)) func(w *waiting) {
	return func(w *waiting) {
		f(w)
		w.says("bob", w.command("approve"))
	}
}

var attacks = map[string]attack{
	"nobody answers":    {},
	"a stranger":        {do: func(w *waiting) { w.says("eve", w.command("approve")) }},
	"the author":        {do: func(w *waiting) { w.says("alice", w.command("approve")) }},
	"a stranger's hash": {do: func(w *waiting) { _, h := w.newest(); w.says("eve", "approve "+h) }},
	"a deleted account": {do: func(w *waiting) { w.says("", w.command("approve")) }},
	"a bot that may write": {do: func(w *waiting) {
		w.permit("helper[bot]")
		w.says("helper[bot]", w.command("approve"))
		if !w.slash() { // a token's account on GitLab
			w.permit("project_1_bot_0123456789abcdef0123456789abcdef")
			w.says("project_1_bot_0123456789abcdef0123456789abcdef", w.command("approve"))
		}
	}},
	"our own account":      {do: func(w *waiting) { w.permit(botLogin); w.says(botLogin, w.command("approve")) }},
	"a wrong hash":         {do: func(w *waiting) { w.says("bob", "approve 0123456789ab") }},
	"a hash with an error": {do: func(w *waiting) { _, h := w.newest(); w.says("bob", w.command("approve "+h[:11]+"x")) }},
	"a hash cut too short": {do: func(w *waiting) { _, h := w.newest(); w.says("bob", "approve "+h[:6]) }},
	"a hash and more":      {do: func(w *waiting) { _, h := w.newest(); w.says("bob", "approve "+h+"0") }},
	"an old hash":          {do: func(w *waiting) { _, h := w.newest(); w.revise(); w.says("bob", "approve "+h) }},
	"an old hash, edited in": {do: func(w *waiting) {
		_, old := w.newest()
		w.revise()
		id := w.says("bob", "approve "+old)
		w.later()
		_, h := w.newest()
		w.edit(id, "approve "+h)
	}},
	"before the work":           {before: func(w *waiting) { w.says("bob", w.command("approve")) }},
	"while it is planned":       {before: func(w *waiting) { w.during["planning"] = func() { w.say("bob", w.command("approve")) } }},
	"while it is revised":       {do: func(w *waiting) { w.during["revision"] = func() { w.say("bob", w.command("approve")) }; w.revise() }},
	"edited before it was read": {do: func(w *waiting) { id := w.says("bob", "Hm."); w.later(); w.edit(id, w.command("approve")) }},
	"edited after it was read":  {do: func(w *waiting) { id := w.says("bob", "Hm."); w.round(); w.later(); w.edit(id, w.command("approve")) }},
	"an approval edited": {do: func(w *waiting) {
		id := w.says("bob", w.command("approve"))
		w.later()
		w.edit(id, w.command("approve")+"\n")
	}},
	"a thumb of a stranger":         {do: func(w *waiting) { id, _ := w.newest(); w.react("eve", id, true) }},
	"a thumb of a bot":              {do: func(w *waiting) { id, _ := w.newest(); w.permit("helper[bot]"); w.react("helper[bot]", id, true) }},
	"our own thumb":                 {do: func(w *waiting) { id, _ := w.newest(); w.permit(botLogin); w.react(botLogin, id, true) }},
	"a thumb on the old plan":       {do: func(w *waiting) { id, _ := w.newest(); w.revise(); w.react("bob", id, true) }},
	"a thumb from before a new one": {do: func(w *waiting) { id, _ := w.newest(); w.react("bob", id, true); w.revise() }},
	"a thumb on another comment":    {do: func(w *waiting) { w.react("bob", w.says("eve", "👋"), true) }},
	"a thumb that was taken back":   {do: func(w *waiting) { id, _ := w.newest(); w.react("bob", id, true); w.unreact("bob", id) }},
	"another reaction":              {do: func(w *waiting) { id, _ := w.newest(); w.react("bob", id, false) }},
	"a thumb as a comment":          {do: func(w *waiting) { w.says("bob", "👍") }},
	"a thumb, and words":            {do: func(w *waiting) { id, _ := w.newest(); w.react("bob", id, true); w.says("bob", "But not today.") }},
	"in a code fence":               {do: func(w *waiting) { w.says("bob", "```\n"+w.command("approve")+"\n```") }},
	"in a fence within a fence":     {do: func(w *waiting) { w.says("bob", "````\n```\n"+w.command("approve")+"\n```\n````") }},
	"in inline code":                {do: func(w *waiting) { w.says("bob", "Use `"+w.command("approve")+"`.") }},
	"in a quote":                    {do: func(w *waiting) { w.says("bob", "> "+w.command("approve")+"\n\nNo.") }},
	"in a quote's last line":        {do: func(w *waiting) { w.says("bob", "> he wrote\n"+w.command("approve")) }},
	"in the middle of a line":       {do: func(w *waiting) { w.says("bob", "I would "+w.command("approve")) }},
	"in a list":                     {do: func(w *waiting) { w.says("bob", "- "+w.command("approve")) }},
	"in hidden HTML":                {do: func(w *waiting) { w.says("bob", "<!--\n"+w.command("approve")+"\n-->\nHm.") }},
	"behind an invisible character": {do: func(w *waiting) { w.says("bob", "\u200b"+w.command("approve")) }},
	"the word alone":                {do: func(w *waiting) { w.says("bob", "approve") }},
	"another one is asked":          {do: func(w *waiting) { w.says("bob", "@carol approve") }},
	"the forge's own command": {do: func(w *waiting) {
		if !w.slash() {
			w.says("bob", "/approve")
		}
	}},
	"other commands": {do: func(w *waiting) { w.says("bob", w.command("resume")); w.says("bob", w.command("retry")) }},
	"approved, then revised": {do: func(w *waiting) {
		w.says("bob", w.command("approve"))
		w.says("bob", w.command("revise greet the sun"))
	}},
	"approved and revised":    {do: func(w *waiting) { w.says("bob", w.command("approve")+"\n"+w.command("revise greet the sun")) }},
	"approved, then doubted":  {do: func(w *waiting) { w.says("bob", w.command("approve")); w.says("bob", "Wait, not yet.") }},
	"approved, then stopped":  {do: func(w *waiting) { w.says("bob", w.command("approve")); w.says("bob", w.command("stop")) }},
	"label of a stranger":     {do: func(w *waiting) { w.relabel("eve") }},
	"label while it is made":  {before: func(w *waiting) { w.during["planning"] = func() { w.relabel("bob") } }},
	"label, and words":        {do: func(w *waiting) { w.relabel("bob"); w.says("bob", "Not the greeting.") }},
	"label, and a stop":       {do: func(w *waiting) { w.relabel("bob"); w.says("bob", w.command("stop")) }},
	"the pause file goes":     {do: func(w *waiting) { w.pauseFile(true); w.round(); w.pauseFile(false) }},
	"permissions are unknown": {do: func(w *waiting) { w.fault(unanswered(".*(permission|members).*")); w.says("bob", w.command("approve")) }},
	"comments are unknown":    {do: func(w *waiting) { w.fault(unanswered(w.commentPath())); w.says("bob", w.command("approve")) }},
	"reactions are unknown":   {do: func(w *waiting) { w.fault(unanswered(".*(reactions|award_emoji)")) }},
	"killed, and a stranger": {before: func(w *waiting) {
		w.fault(forgetest.Fault{Method: "POST", Path: w.commentPath(), Kind: forgetest.StoreDrop, Times: -1})
	},
		do: func(w *waiting) { w.app.Close(); w.begin(); w.says("eve", w.command("approve")) }},
	"the text was edited before the approval": {do: approving(func(w *waiting) { w.revised = another; w.later(); w.rewrite("bob", "Greet the moon.") })},
	"another task's hash": {do: func(w *waiting) {
		_, first := w.newest()
		w.open("Another")
		w.round()
		for _, h := range w.hashesOfAll() {
			if h != first {
				w.says("bob", "approve "+h)
			}
		}
	}},
	"a new file after the approval": {do: approving(func(w *waiting) { w.more = another }), ran: 1},
	"a new command after the approval": {ran: 1, do: approving(func(w *waiting) {
		w.more = `{"task_id":"rm","tool":"ws/run_command","parameters":{"argv":["rm","-rf","hello.txt"]},"purpose":"Clean up"}`
	})},
	"a new step without a tool":      {ran: 1, do: approving(func(w *waiting) { w.more = `{"task_id":"free","purpose":"Do what is left"}` })},
	"more actions than a change may": {ran: 1, do: approving(func(w *waiting) { w.more = again(3) })},
}

// again are so many actions on the file of the plan.
func again(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"task_id":"again-%d","tool":"ws/write_file","parameters":{"path":"hello.txt"},"purpose":"Write it again, %d"}`, i, i))
	}
	return strings.Join(all, ",")
}

func unanswered(path string) forgetest.Fault {
	return forgetest.Fault{Method: "GET", Path: path, Kind: forgetest.Answer, Status: 500, Body: "{}", Times: -1}
}

func (w *waiting) pauseFile(there bool) {
	name := filepath.Join(w.dir, "contexts", "pause_signal")
	if there {
		_ = os.WriteFile(name, nil, 0o600)
	} else {
		_ = os.Remove(name)
	}
}

// hashesOfAll are those in the logs of all tasks.
func (w *waiting) hashesOfAll() (hashes []string) {
	logs, _ := filepath.Glob(filepath.Join(w.dir, "contexts", "*", "*", "events.jsonl"))
	for _, name := range logs {
		data, _ := os.ReadFile(name)
		for line := range strings.Lines(string(data)) {
			var e struct {
				Data struct{ Purpose, Plan string }
			}
			if json.Unmarshal([]byte(line), &e) == nil && e.Data.Purpose == "plan" {
				hashes = append(hashes, e.Data.Plan)
			}
		}
	}
	return hashes
}

// TestNothingRunsUnapproved: nothing but an approval of the newest plan, by a person who
// may write, lets an action begin.
func TestNothingRunsUnapproved(t *testing.T) {
	t.Parallel()
	if len(attacks) < 30 {
		t.Fatalf("%d attacks", len(attacks))
	}
	onEach(t, func(t *testing.T, make func(*testing.T) hub) {
		for name, a := range exhaustive.SampleMap(attacks, 5) {
			t.Run(name, func(t *testing.T) {
				w := newWaiting(t, make, "")
				if a.before != nil {
					a.before(w)
				}
				w.round()
				if len(w.hashesOfAll()) == 0 {
					t.Fatalf("no plan was posted: %+v", w.comments())
				}
				if a.do != nil {
					a.do(w)
				}
				w.round()
				w.round()
				if got := w.events("action.started"); got != a.ran {
					t.Errorf("%d actions began, %d were approved; comments %+v", got, a.ran, w.comments())
				}
				if _, hashes := w.plans(); len(slices.Compact(slices.Sorted(slices.Values(hashes)))) != len(hashes) {
					t.Errorf("a version of the plan was posted twice: %v", hashes)
				}
				w.exact()
				if got := w.events("context.completed"); got > 0 {
					t.Errorf("%d tasks were completed", got)
				}
			})
		}
	})
}

// approvals are the ways to approve a plan.
var approvals = map[string]func(w *waiting) (comment int64){
	"command":             func(w *waiting) int64 { return w.says("bob", w.command("approve")) },
	"command with hash":   func(w *waiting) int64 { _, h := w.newest(); return w.says("bob", w.command("approve "+h)) },
	"hash":                func(w *waiting) int64 { _, h := w.newest(); return w.says("bob", "approve "+strings.ToUpper(h)) },
	"agent":               func(w *waiting) int64 { return w.says("bob", "agent approve") },
	"mention":             func(w *waiting) int64 { return w.says("bob", "@"+botLogin+" approve") },
	"mention with hash":   func(w *waiting) int64 { _, h := w.newest(); return w.says("bob", "@"+botLogin+" approve "+h) },
	"with other words":    func(w *waiting) int64 { return w.says("bob", "Looks good.\n\n"+w.command("approve")) },
	"after a stranger":    func(w *waiting) int64 { w.says("eve", "No!"); return w.says("bob", w.command("approve")) },
	"after words of ours": func(w *waiting) int64 { w.says("bob", "Hm."); return w.says("bob", w.command("approve")) },
	"thumb":               func(w *waiting) int64 { id, _ := w.newest(); w.react("bob", id, true); return 0 },
	"label":               func(w *waiting) int64 { w.relabel("bob"); return 0 },
	"operator":            func(w *waiting) int64 { w.signal(); return 0 },
}

// exact wants a replay of each log to decide the same.
func (w *waiting) exact() {
	for entry, err := range w.app.Store.List() {
		if err != nil {
			w.t.Fatal(err)
		}
		report, files, err := engine.ReplayContext(w.app.Store, entry.UUID)
		if err != nil || len(report.Differences)+len(files) > 0 {
			w.t.Errorf("a replay of %s: %+v, files %v, %v", entry.UUID, report.Differences, files, err)
		}
	}
}

// signal is what `agent resume` leaves.
func (w *waiting) signal() {
	dirs, _ := filepath.Glob(filepath.Join(w.dir, "contexts", "paused", "*"))
	if len(dirs) != 1 {
		w.t.Fatalf("paused are %v", dirs)
	}
	if err := w.app.Store.Send(filepath.Base(dirs[0]), contexts.Resume, []byte(`{"by":"root"}`)); err != nil {
		w.t.Fatal(err)
	}
}

// TestApprovedPlansRun: each way to approve a plan lets it run, once, and a command is
// answered with a reaction.
func TestApprovedPlansRun(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, make func(*testing.T) hub) {
		for name, approve := range exhaustive.SampleMap(approvals, 3) {
			t.Run(name, func(t *testing.T) {
				w := newWaiting(t, make, "")
				w.round()
				w.round()
				if ids, _ := w.plans(); len(ids) != 1 {
					t.Fatalf("%d comments show the plan", len(ids))
				}
				comment := approve(w)
				w.round()
				if w.events("action.started") != 1 || w.events("context.completed") != 1 {
					t.Errorf("%d actions began, %d tasks completed: %+v", w.events("action.started"), w.events("context.completed"), w.comments())
				}
				w.exact()
				if comment != 0 {
					if got := strings.Join(w.reactions(comment), ", "); !strings.HasPrefix(got, botLogin+" ") || strings.Contains(got, "eyes") {
						t.Errorf("the command has the reactions %q", got)
					}
				}
			})
		}
	})
}

// TestPlanIsRevised: whatever else a person says makes another version, with a comment and
// a hash of its own, which can be approved; a change within what was approved needs none.
func TestPlanIsRevised(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, make func(*testing.T) hub) {
		w := newWaiting(t, make, "")
		w.round()
		w.revised = another
		w.says("bob", w.command("revise the moon only"))
		w.round()
		ids, hashes := w.plans()
		if len(ids) != 2 || hashes[0] == hashes[1] || !strings.Contains(w.bodyOf(ids[1]), "moon.txt") || strings.Contains(w.bodyOf(ids[1]), "hello.txt") {
			t.Fatalf("plans %v: %+v", hashes, w.comments())
		}
		w.more = `{"task_id":"again","tool":"ws/write_file","parameters":{"path":"moon.txt"},"purpose":"Write it again"}`
		w.says("bob", "approve "+hashes[1])
		w.round()
		if w.events("action.started") != 2 || w.events("context.completed") != 1 {
			t.Errorf("%d actions began: %+v", w.events("action.started"), w.comments())
		}
	})
}

func (w *waiting) bodyOf(id int64) string {
	for _, c := range w.comments() {
		if c.id == id {
			return c.body
		}
	}
	return ""
}

// TestPlanIsStopped by a command.
func TestPlanIsStopped(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, make func(*testing.T) hub) {
		w := newWaiting(t, make, "")
		w.round()
		w.says("eve", w.command("stop"))
		w.round()
		if w.events("context.stopped") != 0 {
			t.Fatal("a stranger stopped it")
		}
		w.says("bob", w.command("stop"))
		w.round()
		if w.events("context.stopped") != 1 || w.events("action.started") != 0 {
			t.Errorf("%+v", w.comments())
		}
	})
}

// TestAutoAsks for public projects, large plans and protected paths.
func TestAutoAsks(t *testing.T) {
	t.Parallel()
	auto := func(actions int) string {
		return fmt.Sprintf("planning: {enabled: true, approval: auto, approval_actions: %d, pre_planning: {enabled: false}, reflection: {enabled: false}, llm_call_comments: {enabled: false}, progress_comment: {enabled: false}}\n", actions)
	}
	private := func(t *testing.T) hub { return labWith(t, forgetest.Project{Private: true}) }
	for name, c := range map[string]struct {
		hub  func(*testing.T) hub
		more string
		asks bool
	}{
		"a public project":   {newOnHub, auto(10), true},
		"a small plan":       {private, auto(10), false},
		"a large plan":       {private, auto(0), true},
		"a protected path":   {private, auto(10) + "change_requests: {protected_paths: [hello.txt]}\n", true},
		"another path":       {private, auto(10) + "change_requests: {protected_paths: [deploy/]}\n", false},
		"never, by default":  {newOnHub, strings.Replace(auto(0), "approval: auto, ", "", 1), false},
		"always, and silent": {private, strings.Replace(auto(10), "auto", "always", 1), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWaiting(t, c.hub, c.more)
			w.round()
			if ids, _ := w.plans(); (len(ids) == 1) != c.asks || (w.events("action.started") == 0) != c.asks {
				t.Errorf("%d plans, %d actions began", len(ids), w.events("action.started"))
			}
		})
	}
}
