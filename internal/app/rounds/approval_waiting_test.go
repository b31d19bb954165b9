package rounds_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agent/internal/app"
	"agent/internal/app/rounds"
	"agent/internal/config"
	"agent/internal/lazyregexp"
	"agent/llm"
	"agent/llm/llmtest"
)

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

// events counts the events of a type in all logs. One that moves meanwhile is looked for again.
func (w *waiting) events(kind string) (n int) {
	logs, _ := filepath.Glob(filepath.Join(w.dir, "contexts", "*", "*", "events.jsonl"))
	for _, name := range logs {
		data, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			return w.events(kind)
		}
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
