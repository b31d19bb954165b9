package rounds_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agent/contexts"
	"agent/forge/forgetest"
	"agent/handlers/engine"
	"agent/internal/app"
	"agent/internal/app/rounds"
	"agent/internal/config"
	"agent/internal/exhaustive"
	"agent/internal/lazyregexp"
	"agent/llm"
	"agent/llm/llmtest"
)

const (
	botLogin = "agent-bot"
	botToken = "tok-0123456789"
	label    = "coding agent"
)

// hub is a fake forge with one labelled issue of a public project, as people use it.
type hub interface {
	section() string // of the configuration
	slash() bool     // whether a command may begin with a slash
	open(title string)
	say(login, text string) (id int64)
	edit(id int64, text string)
	react(login string, id int64, thumb bool)
	unreact(login string, id int64)
	reactions(id int64) []string
	permit(login string)
	rewrite(login, text string)
	relabel(login string)
	comments() (all []said)
	commentPath() string
	fault(forgetest.Fault)
	clock(func() time.Time)
}

// said is a comment.
type said struct {
	id           int64
	author, body string
}

type onHub struct {
	s *forgetest.Server
	n int
}

func newOnHub(t *testing.T) hub {
	s := forgetest.New()
	t.Cleanup(s.Close)
	s.AddToken(botToken, botLogin)
	s.AddRepository("o/r", forgetest.Repository{})
	h := &onHub{s: s}
	h.open("Greet")
	h.n = 1
	return h
}

func (h *onHub) section() string {
	return fmt.Sprintf("task_source: github\ngithub: {api_url: '%s', personal_access_token: %s, bot_name: %s, repositories: [o/r]}\n", h.s.URL(), botToken, botLogin)
}
func (h *onHub) slash() bool { return true }
func (h *onHub) open(title string) {
	n := h.s.AddIssue("o/r", title, "Please greet.", "alice")
	h.s.SetPermission("o/r", "bob", "write")
	h.s.AddLabelsAs("o/r", n, "bob", label)
}
func (h *onHub) say(login, text string) int64 { return h.s.AddComment("o/r", h.n, login, text) }
func (h *onHub) edit(id int64, text string)   { h.s.EditComment("o/r", id, text) }
func (h *onHub) react(login string, id int64, thumb bool) {
	h.s.React("o/r", id, login, map[bool]string{true: "+1", false: "eyes"}[thumb])
}
func (h *onHub) unreact(login string, id int64) { h.s.Unreact("o/r", id, login, "+1") }
func (h *onHub) reactions(id int64) []string    { return h.s.Reactions("o/r", id) }
func (h *onHub) permit(login string)            { h.s.SetPermission("o/r", login, "write") }
func (h *onHub) rewrite(login, text string)     { h.s.EditIssueAs("o/r", h.n, login, "Greet", text) }
func (h *onHub) relabel(login string) {
	h.s.RemoveLabels("o/r", h.n, label)
	h.s.AddLabelsAs("o/r", h.n, login, label)
}
func (h *onHub) comments() (all []said) {
	for n := 1; n <= 2; n++ {
		if n == 1 || h.n > 1 {
			for _, c := range h.s.Comments("o/r", n) {
				all = append(all, said{c.ID, c.Author, c.Body})
			}
		}
	}
	return all
}
func (h *onHub) commentPath() string      { return ".*/issues/[0-9]+/comments" }
func (h *onHub) fault(f forgetest.Fault)  { h.s.Fault(f) }
func (h *onHub) clock(f func() time.Time) { h.s.SetClock(f) }

type onLab struct {
	g    *forgetest.GitLab
	item *forgetest.Item
}

func newOnLab(t *testing.T) hub { return labWith(t, forgetest.Project{}) }

func labWith(t *testing.T, p forgetest.Project) hub {
	g := forgetest.NewGitLab()
	t.Cleanup(g.Close)
	g.AddToken(botToken, botLogin)
	g.AddProject("o/r", p)
	h := &onLab{g: g}
	h.open("Greet")
	return h
}

func (h *onLab) section() string {
	return fmt.Sprintf("task_source: gitlab\ngitlab: {api_url: '%s', personal_access_token: %s, bot_name: %s, projects: [o/r]}\n", h.g.URL(), botToken, botLogin)
}
func (h *onLab) slash() bool { return false }
func (h *onLab) open(title string) {
	item := h.g.AddIssue("o/r", title, "Please greet.", "alice")
	h.g.SetAccess("o/r", "bob", forgetest.Developer)
	item.AddLabelsAs("bob", label)
	if h.item == nil {
		h.item = item
	}
}
func (h *onLab) say(login, text string) int64 { return h.item.AddNote(login, text) }
func (h *onLab) edit(id int64, text string)   { h.item.EditNote(id, text) }
func (h *onLab) react(login string, id int64, thumb bool) {
	h.item.React(id, login, map[bool]string{true: "thumbsup", false: "eyes"}[thumb])
}
func (h *onLab) unreact(login string, id int64) { h.item.Unreact(id, login, "thumbsup") }
func (h *onLab) reactions(id int64) []string    { return h.item.Reactions(id) }
func (h *onLab) permit(login string)            { h.g.SetAccess("o/r", login, forgetest.Developer) }
func (h *onLab) rewrite(login, text string)     { h.item.EditAs(login, "Greet", text) }
func (h *onLab) relabel(login string) {
	h.item.RemoveLabels(label)
	h.item.AddLabelsAs(login, label)
}
func (h *onLab) comments() (all []said) {
	for _, i := range []*forgetest.Item{h.item} {
		for _, n := range i.Notes() {
			if !n.System {
				all = append(all, said{n.ID, n.Author, n.Body})
			}
		}
	}
	return all
}
func (h *onLab) commentPath() string      { return ".*/issues/[0-9]+/notes" }
func (h *onLab) fault(f forgetest.Fault)  { h.g.Fault(f) }
func (h *onLab) clock(f func() time.Time) { h.g.SetClock(f) }

// waiting is a task whose plan waits for an approval, with what the model says next.
type waiting struct {
	hub
	t       *testing.T
	dir     string
	app     *app.App
	during  map[string]func() // what people do while the model is in a phase, once
	revised string            // actions of a revision; "": the same plan
	more    string            // actions that a verification adds
	unlock  func() error
	at      atomic.Int64
}

// plan is what the model plans first.
const plan = `{"task_id":"greet","tool":"ws/write_file","parameters":{"path":"hello.txt"},"purpose":"Write the greeting"}`

func newWaiting(t *testing.T, make func(*testing.T) hub, more string) *waiting {
	w := &waiting{hub: make(t), t: t, dir: t.TempDir(), during: map[string]func(){}}
	w.at.Store(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).Unix())
	w.clock(func() time.Time { return time.Unix(w.at.Load(), 0) })
	model := llmtest.New(func(_ int, r llmtest.Request) llmtest.Reply { return w.reply(r) })
	t.Cleanup(model.Close)
	text := fmt.Sprintf("contexts_dir: %[1]s/contexts\nworkspaces_dir: %[1]s/workspaces\nlog: {dir: '%[1]s/logs'}\nmcp_servers: []\nadopt_wait_seconds: 0\n"+
		"llm: {openai: {base_url: '%[2]s', api_key: key-0123456789, model: scripted}}\n%[3]s%[4]s", w.dir, model.URL(), w.section(), more)
	if !strings.Contains(more, "planning:") {
		text += "planning: {enabled: true, approval: always, approval_actions: 2, pre_planning: {enabled: false}, reflection: {enabled: false}, llm_call_comments: {enabled: false}, progress_comment: {enabled: false}}\n"
	}
	if err := os.WriteFile(filepath.Join(w.dir, "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w.begin()
	t.Cleanup(func() { w.app.Close() })
	return w
}

// begin starts a process.
func (w *waiting) begin() {
	path := filepath.Join(w.dir, "config.yaml")
	cfg, _, err := config.Load(path, func(string) string { return "" })
	if err == nil {
		w.app, err = app.New(cfg, app.Options{Version: "test", ConfigPath: path, Stderr: io.Discard})
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *waiting) reply(r llmtest.Request) llmtest.Reply {
	phase, id := "", ""
	for _, m := range r.Messages {
		if m.Role == llm.User && strings.HasPrefix(m.Content, "Phase: ") {
			phase, _, _ = strings.Cut(strings.TrimPrefix(m.Content, "Phase: "), "\n")
			_, id, _ = strings.Cut(m.Content, "The action: ")
			id, _, _ = strings.Cut(id, "\n")
		}
	}
	if f := w.during[phase]; f != nil {
		delete(w.during, phase)
		w.later()
		f()
		if phase == "" { // the work is to go on
			return llmtest.ToolCall("nosuch__tool", "{}")
		}
	}
	switch phase {
	case "planning":
		return llmtest.Text(`{"goal_understanding":{"main_objective":"A greeting"},"action_plan":{"actions":[` + plan + `]}}`)
	case "revision":
		actions := w.revised
		if actions == "" {
			actions = plan
		}
		return llmtest.Text(`{"plan_revision":{"reason":"asked for","updated_action_plan":{"actions":[` + actions + `]}}}`)
	case "execution":
		return llmtest.Text(id + " is done by hand.")
	case "verification":
		more := w.more
		w.more = ""
		return llmtest.Text(fmt.Sprintf(`{"verification_passed":%v,"additional_work_needed":%v,"additional_actions":[%s],"comment":"checked"}`, more == "", more != "", more))
	}
	return llmtest.Text(`{"comment":"a summary"}`)
}

// later lets a minute pass on the forge.
func (w *waiting) later() { w.at.Add(60) }

// round does a round.
func (w *waiting) round() {
	w.later()
	quiet := func(string) {}
	rounds.New(w.app, rounds.Voice{Say: quiet, Note: quiet, Trouble: func(string, error) {}}).All(w.t.Context())
}

// events counts the events of a type in all logs.
func (w *waiting) events(kind string) (n int) {
	logs, _ := filepath.Glob(filepath.Join(w.dir, "contexts", "*", "*", "events.jsonl"))
	for _, name := range logs {
		data, err := os.ReadFile(name)
		if err != nil {
			w.t.Fatal(err)
		}
		n += strings.Count(string(data), `"type":"`+kind+`"`)
	}
	return n
}

var planHead = lazyregexp.New("Plan, version [0-9]+: `([0-9a-f]{12})`")

// plans are the comments that show a plan, with their hashes.
func (w *waiting) plans() (ids []int64, hashes []string) {
	for _, c := range w.comments() {
		if m := planHead.FindStringSubmatch(c.body); m != nil && c.author == botLogin {
			ids, hashes = append(ids, c.id), append(hashes, m[1])
		}
	}
	return ids, hashes
}

// command is a command in a form that the forge takes.
func (w *waiting) command(text string) string {
	if w.slash() {
		return "/" + text
	}
	return "agent " + text
}

// says lets somebody write a command, or any text, a minute later.
func (w *waiting) says(login, text string) int64 {
	w.later()
	return w.say(login, text)
}

func (w *waiting) newest() (id int64, hash string) {
	ids, hashes := w.plans()
	if len(ids) == 0 {
		w.t.Fatalf("no plan was posted: %+v", w.comments())
	}
	return ids[len(ids)-1], hashes[len(hashes)-1]
}

func onEach(t *testing.T, test func(t *testing.T, make func(*testing.T) hub)) {
	for name, make := range map[string]func(*testing.T) hub{"github": newOnHub, "gitlab": newOnLab} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, make)
		})
	}
}

// attack is an attempt to have something run that nobody approved.
type attack struct {
	before func(w *waiting) // the first round
	do     func(w *waiting) // while the plan waits
	ran    int              // actions that were approved
}

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
