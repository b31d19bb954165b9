package watch

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/internal/term"
	"agent/projections"
)

var start = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

const hostile = "\x1b[2J\x1b]0;x\x07\u202e\u009b\xff"

// history folds events, one a second, and gives the task and the steps that people see.
func history(lang i18n.Lang, bodies ...event.Body) (*Task, []string) {
	s, t := projections.NewState(), &Task{}
	var steps []string
	for i, b := range bodies {
		ev := event.Event{Seq: uint64(i + 1), Time: start.Add(time.Duration(i) * time.Second), Body: b}
		if s.Open != nil && event.RoleOf(b) == event.Outcome {
			ev.Cause = s.Open.Seq
		}
		s.Apply(ev)
		if step, ok := t.Apply(ev, s, lang); ok {
			steps = append(steps, step.Line(t.Ref, 90))
		}
	}
	return t, steps
}

func began() []event.Body {
	return []event.Body{
		&event.ContextCreated{Format: event.Format, UUID: "3f2a", TaskKey: "github.com/acme/widgets/issues/12", Kind: "github_issue", Forge: "github.com", Title: "Greet" + hostile},
		&event.ProcessStarted{},
	}
}

func calls(tool, args string) event.Body {
	return &event.ToolRequested{Server: "workspace", Tool: tool, Args: event.T(args)}
}

// TestSteps walks the kinds of events that people see as a step, and some that they do not.
func TestSteps(t *testing.T) {
	run := calls("run_command", `{"argv":["go","test","./..."]}`)
	for name, c := range map[string]struct {
		events []event.Body
		want   string
	}{
		"a tool":               {[]event.Body{calls("read_file", `{"path":"a.go"}`), &event.ToolReplied{Content: event.T("x")}}, "✓ widgets#12 workspace/read_file a.go  1.0s"},
		"a tool's error":       {[]event.Body{calls("read_file", `{"path":"a.go"}`), &event.ToolReplied{Content: event.T("no such file\nmore"), IsError: true}}, "✗ widgets#12 workspace/read_file a.go: no such file more  1.0s"},
		"a command that fails": {[]event.Body{run, &event.ToolReplied{Content: event.T("exit code: 1\nFAIL")}}, "✗ widgets#12 workspace/run_command go test ./...: exit code: 1 FAIL  1.0s"},
		"a command":            {[]event.Body{run, &event.ToolReplied{Content: event.T("exit code: 0\nok")}}, "✓ widgets#12 workspace/run_command go test ./...  1.0s"},
		"no answer":            {[]event.Body{run, &event.ToolFailed{Kind: "timeout", Message: "after 5m"}}, "✗ widgets#12 workspace/run_command go test ./...: timeout after 5m  1.0s"},
		"interrupted":          {[]event.Body{run, &event.ToolInterrupted{Reason: "killed"}}, "✗ widgets#12 workspace/run_command go test ./...: killed  1.0s"},
		"the model fails":      {[]event.Body{&event.LLMRequested{}, &event.LLMFailed{Kind: "rate_limited", Message: "slow down"}}, "✗ widgets#12 model call failed: rate_limited slow down  1.0s"},
		"a pause of the model": {[]event.Body{&event.LLMRequested{}, &event.LLMFailed{Kind: event.Interrupted}}, ""},
		"a change":             {[]event.Body{&event.ChangeRequested{}, &event.ChangeOpened{Number: 7, URL: "https://x"}}, "✓ widgets#12 change: #7  1.0s"},
		"unfinished work":      {[]event.Body{&event.ChangeRequested{Unfinished: true}, &event.ChangeOpened{Unfinished: true, Branch: "b"}}, "✓ widgets#12 change: b  1.0s"},
		"a comment":            {[]event.Body{&event.CommentRequested{}, &event.CommentPosted{ID: "1"}}, ""},
		"a refused comment":    {[]event.Body{&event.CommentRequested{}, &event.CommentFailed{Kind: "forbidden", Message: "locked"}}, "✗ widgets#12 comment failed: forbidden locked  1.0s"},
		"refused labels":       {[]event.Body{&event.LabelsRequested{}, &event.LabelsFailed{Kind: "forbidden", Message: "no"}}, "✗ widgets#12 labels failed: forbidden no  1.0s"},
		"a refused change":     {[]event.Body{&event.ChangeRequested{}, &event.ChangeFailed{Kind: "forbidden", Message: "no"}}, "✗ widgets#12 change failed: forbidden no  1.0s"},
		"a limit":              {[]event.Body{&event.LimitReached{Limit: "max_tokens", Used: 9, Max: 8}}, "✗ widgets#12 limit max_tokens reached: 9 of 8"},
		"a killed process":     {[]event.Body{&event.ProcessRecovered{}}, "· widgets#12 the previous run was interrupted"},
		"a phase":              {[]event.Body{&event.PhaseEntered{Phase: projections.Verification}}, "▸ widgets#12 verification"},
		"a new phase":          {[]event.Body{&event.PhaseEntered{Phase: "later" + hostile}}, `▸ widgets#12 later\x1b[2J\x1b]0;x\x07\u202…`},
		"a text of the world":  {[]event.Body{calls("x", `{"path":"`+strings.Repeat("a", 1<<20)+`"}`), &event.ToolReplied{}}, "✓ widgets#12 workspace/x " + strings.Repeat("a", 58) + "…  1.0s"},
		"one that acts":        {[]event.Body{calls("x"+hostile, `{}`), &event.ToolFailed{Message: hostile}}, `✗ widgets#12 workspace/x\x1b[2J\x1b]0;x\x07\u202e\u009b\xff: \x1b[2J\x1b]0;x\x07\u2…  1.0s`},
	} {
		_, steps := history(i18n.En, append(began(), c.events...)...)
		if got := strings.Join(steps, "\n"); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// TestLine: a task says what it does and what it took, in both languages and at
// every width, and never takes more columns than there are.
func TestLine(t *testing.T) {
	run := calls("run_command", `{"argv":["go","test","./..."]}`)
	for _, c := range []struct {
		lang   i18n.Lang
		after  time.Duration // the latest event
		width  int
		events []event.Body
		want   string
	}{
		{i18n.En, 0, 80, nil, "widgets#12 · prepares · calls: 0 · tokens: 0 · 0.0s"},
		{i18n.En, time.Second, 80, []event.Body{&event.LLMRequested{}}, "widgets#12 · waits for the model · calls: 1 · tokens: 0 · 2.0s"},
		{i18n.En, time.Minute, 80, []event.Body{run}, "widgets#12 · workspace/run_command go test ./...… · calls: 0 · tokens: 0 · 1m01s"},
		{i18n.En, time.Minute, 120, []event.Body{run}, "widgets#12 · workspace/run_command go test ./... (1m00s) · calls: 0 · tokens: 0 · 1m01s"},
		{i18n.En, 0, 40, []event.Body{run}, "widgets#12 · workspace/run_command go t…"},
		{i18n.En, 0, 80, []event.Body{&event.LLMRequested{}, &event.LLMFailed{Kind: "timeout", NotBefore: start.Add(63 * time.Second)}}, "widgets#12 · asks the model again in 1m00s · calls: 1 · tokens: 0 · 2.0s"},
		{i18n.En, 0, 80, []event.Body{&event.LLMRequested{}, &event.LLMReplied{Usage: event.Usage{Prompt: 12_000, Completion: 345}, CostUSD: 0.042}}, "widgets#12 · prepares · calls: 1 · tokens: 12.3k · $0.0420 · 2.0s"},
		{i18n.En, 0, 80, []event.Body{&event.CommentRequested{}}, "widgets#12 · writes a comment · calls: 0 · tokens: 0 · 1.0s"},
		{i18n.En, 0, 80, []event.Body{&event.LabelsRequested{}}, "widgets#12 · sets labels · calls: 0 · tokens: 0 · 1.0s"},
		{i18n.En, 0, 80, []event.Body{&event.ChangeRequested{}}, "widgets#12 · publishes the change · calls: 0 · tokens: 0 · 1.0s"},
		{i18n.Ja, time.Second, 80, []event.Body{&event.LLMRequested{}}, "widgets#12 · モデルの応答待ち · 呼び出し 1 回 · 0 トークン · 2.0s"},
	} {
		task, _ := history(c.lang, append(began(), c.events...)...)
		now := task.At.Add(c.after)
		if got := task.Line(now, c.width, c.lang); got != c.want {
			t.Errorf("width %d:\n%s\nwant\n%s", c.width, got, c.want)
		}
		for width := 20; width < 200; width++ {
			if n := term.Columns(task.Line(now, width, c.lang)); n > width {
				t.Errorf("%q takes %d of %d columns", task.Line(now, width, c.lang), n, width)
			}
		}
	}
}

func TestRef(t *testing.T) {
	for key, want := range map[string]string{
		"github.com/acme/widgets/issues/12": "widgets#12", "github.com/acme/widgets/pull/7": "widgets#7",
		"gitlab.example.com/g/sub/p/-/issues/3": "p#3", "gitlab.example.com/g/sub/p/-/merge_requests/5": "p!5", "x": "x", "": "",
	} {
		if got := Ref(key); got != want {
			t.Errorf("%s: %s", key, got)
		}
	}
}

// Two tasks have two lines below what is finished; who writes in between stands
// above them; and nothing is left of them in the end. A terminal that became
// narrower has wrapped them.
func TestDisplay(t *testing.T) {
	var out bytes.Buffer
	d := NewDisplay(term.Screen{Writer: &out, Width: 80}, i18n.En, func() time.Time { return start.Add(time.Second) })
	width := 80
	d.size = func() (int, int) { return width, 24 }
	for _, key := range []string{"github.com/acme/widgets/issues/1", "github.com/acme/widgets/issues/2"} {
		s := projections.NewState()
		for i, b := range []event.Body{&event.ContextCreated{UUID: key[len(key)-1:], TaskKey: key, Kind: "github_issue"}, &event.ProcessStarted{},
			calls("read_file", `{"path":"a.go"}`), &event.ToolReplied{}, &event.LLMRequested{}} {
			ev := event.Event{Seq: uint64(i + 1), Time: start, Body: b}
			s.Apply(ev)
			d.Event(ev, s)
		}
	}
	written := func(do func()) string {
		d.mu.Lock()
		out.Reset()
		d.mu.Unlock()
		do()
		d.mu.Lock()
		defer d.mu.Unlock()
		return out.String()
	}
	first := written(func() { d.Print(&out, "a line") })
	for _, want := range []string{"a line\n", "✓ widgets#1 workspace/read_file a.go\n✓ widgets#2 workspace/read_file a.go\n", " widgets#1 · waits for the model", " widgets#2 · waits for the model"} {
		if !strings.Contains(first, want) {
			t.Errorf("lacks %q:\n%q", want, first)
		}
	}
	width = 40 // 60 columns take two rows now
	if narrow := written(func() { _, _ = d.Writer(&out).Write([]byte("log\n")) }); !strings.HasPrefix(narrow, "\x1b[4A\r\x1b[Jlog\n") {
		t.Errorf("after a resize: %q", narrow)
	}
	if one := written(func() { d.Left("1") }); !strings.HasPrefix(one, "\x1b[2A\r\x1b[J") || strings.Contains(one, "widgets#1") || !strings.Contains(one, "widgets#2") {
		t.Errorf("one left: %q", one)
	}
	if end := written(d.Close); end != "\x1b[1A\r\x1b[J" || d.wake != nil {
		t.Errorf("the end: %q", end)
	}
	if late := written(func() { d.Event(event.Event{}, &projections.State{Created: &event.ContextCreated{}}); d.Left("2") }); late != "" {
		t.Errorf("after the end: %q", late)
	}
}

// No more lines are drawn than the terminal has.
func TestDisplayOfManyTasks(t *testing.T) {
	d := NewDisplay(term.Screen{Writer: &bytes.Buffer{}}, i18n.En, time.Now)
	d.size = func() (int, int) { return 80, 6 }
	for range 9 {
		d.tasks = append(d.tasks, &Task{})
	}
	if lines := d.lines(); len(lines) != 4 || !strings.HasSuffix(lines[3], "… 6 more tasks") {
		t.Errorf("%q", lines)
	}
}
