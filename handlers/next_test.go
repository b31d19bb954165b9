package handlers

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/llm"
	"agent/projections"
	gocmp "github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata")

// world answers effects as a scripted outside would, and keeps a transcript of
// what was decided and what came of it.
type world struct {
	t        *testing.T
	state    *projections.State
	now      time.Time
	replies  []event.Body                                       // outcomes of model calls, in order
	outcomes func(*event.ToolRequested) event.Body              // of tool calls, instead of tools
	tools    map[string]event.Body                              // outcome of a tool call by "server/tool"
	before   map[string][]event.Body                            // inputs that arrive before the n-th model call ("1", "2", …)
	rests    [][]event.Body                                     // inputs that end the n-th rest
	comments [][]event.Comment                                  // what the n-th fetch of comments finds
	denied   bool                                               // the first label change is refused
	unheard  bool                                               // periodic looks cannot read comments
	noEdits  bool                                               // comments cannot be edited
	bytes    int                                                // what the log would hold
	steps    int                                                // after which there must be an end
	reply    func(*event.LLMRequested, *llm.Request) event.Body // plays the model instead of replies
	request  *llm.Request
	second   string                  // name of the tool that changes something
	cloned   bool                    // the work is done in a clone and published
	private  bool                    // so is the project
	measured []*event.ChangeMeasured // what the n-th look at it finds, the last one from then on
	change   event.Body              // outcome of publishing
	all      []event.Body            // what was added
	events   []event.Event           // the same, as events
	out      strings.Builder
	calls    int

	inherited *event.ContextInherited
	body      string       // of the task
	missing   []event.Body // in place of the first lists of tools

	sent      []asked
	compacted bool // since the last request
}

func newWorld(t *testing.T, protocol string, replies ...event.Body) *world {
	w := &world{t: t, state: projections.NewState(), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), replies: replies, steps: 200, second: "run_command",
		tools: map[string]event.Body{}, before: map[string][]event.Body{}}
	w.add(&event.ContextCreated{Format: 1, UUID: "00000000-0000-4000-8000-000000000001", TaskKey: "github.com/o/r/issues/7",
		Forge: "github.com", Kind: "github_issue", User: "alice", Title: "A bug", Trigger: "label", Version: "1", Host: "h", PID: 1}, 0)
	w.add(&event.ProcessStarted{Version: "1", Decisions: Decisions, Host: "h", PID: 1}, 0)
	w.add(&event.ConfigPinned{Provider: "openai", Model: "m", ContextLength: 8000, Protocol: protocol, Language: "en",
		Labels: event.Labels{Bot: "bot", Processing: "doing", Done: "done", Paused: "paused", Stopped: "stopped", Failed: "failed", Awaiting: "awaiting"},
		Limits: event.Limits{MaxCalls: 20}, Comments: event.CommentRule{Enabled: true, Accept: "auto", Max: 50, Detail: "full"}}, 0)
	return w
}

func (w *world) add(b event.Body, cause uint64) event.Event {
	w.now = w.now.Add(time.Second)
	e := event.Event{Seq: w.state.Seq + 1, Time: w.now, Cause: cause, Body: b}
	w.state.Apply(e)
	w.all = append(w.all, b)
	if summary, ok := b.(*event.SummaryAdded); ok && summary.Purpose == event.CompactionSummary {
		w.compacted = true
	}
	w.events = append(w.events, e)
	data, err := event.Encode(b, false)
	if err != nil {
		w.t.Fatal(err)
	}
	w.bytes += len(data)
	fmt.Fprintf(&w.out, "%3d %-18s %s\n", e.Seq, b.Type(), strings.ReplaceAll(projections.Describe(e), "\n", " "))
	return e
}

func (w *world) inputs(when string) {
	for _, b := range w.before[when] {
		w.add(b, 0)
	}
	delete(w.before, when)
}

// run plays until the context rests and nothing more is to arrive.
func (w *world) run() string {
	for range w.steps {
		switch e := Next(w.state).(type) {
		case Idle:
			fmt.Fprintf(&w.out, "    rest (%s)\n", w.state.Status)
			if len(w.rests) == 0 {
				return w.out.String()
			}
			w.add(&event.ProcessStarted{Version: "1", Decisions: Decisions, Host: "h", PID: 1}, 0)
			for _, b := range w.rests[0] {
				w.add(b, 0)
			}
			w.rests = w.rests[1:]
		case Wait:
			fmt.Fprintf(&w.out, "    wait %s\n", e.Until.Sub(w.now))
			w.now = e.Until
			w.add(&event.TimerFired{Until: e.Until}, 0)
		case Record:
			w.add(e.Body, 0)
		case Read:
			w.add(w.read(e), 0)
		case Act:
			if _, ok := e.Intent.(*event.LLMRequested); ok && len(w.before[fmt.Sprint(w.calls+1)]) > 0 {
				w.inputs(fmt.Sprint(w.calls + 1))
				continue
			}
			if _, ok := e.Intent.(*event.ChangeRequested); ok && len(w.before["measured"]) > 0 {
				w.inputs("measured") // the last look at the item
				continue
			}
			w.request = e.Request
			if in, ok := e.Intent.(*event.LLMRequested); ok {
				w.asks(*e.Request, in)
			}
			intent := w.add(e.Intent, 0)
			w.add(w.outcome(e.Intent), intent.Seq)
		}
	}
	w.t.Fatalf("no end after %d steps:\n%s", w.steps, w.out.String())
	return ""
}

func (w *world) read(r Read) event.Body {
	switch r.Want {
	case "task.fetched":
		return &event.TaskFetched{Title: "A bug", Body: event.T(cmp.Or(w.body, "It is broken.")), Author: "alice", State: "open", URL: "https://github.com/o/r/issues/7", Private: w.private}
	case "workspace.prepared":
		if w.cloned {
			return &event.WorkspacePrepared{Dir: "/w", Base: "main", Commit: "c0"}
		}
		return &event.WorkspacePrepared{Dir: "/w", InPlace: true}
	case "change.measured":
		m := w.measured[0]
		w.measured = w.measured[min(1, len(w.measured)-1):]
		return m
	case "context.inherited":
		return w.inherited
	case "project.read":
		return &event.ProjectRead{Rules: []event.RuleFile{{Path: "AGENTS.md", Text: event.T(strings.Repeat("Use tabs, never spaces. ", 2000))}}}
	case "tools.listed":
		if len(w.missing) > 0 {
			b := w.missing[0]
			w.missing = w.missing[1:]
			return b
		}
		return &event.ToolsListed{Servers: []event.Server{{Name: "ws", Tools: []event.Tool{
			{Name: "read_file", Description: "Reads a file.", Schema: []byte(`{"type":"object"}`), ReadOnly: true},
			{Name: w.second, Description: "Runs a command.", Schema: []byte(`{"type":"object"}`)}}}}}
	default: // comments
	}
	if r.Reason == event.FetchPeriodic && w.unheard {
		return &event.CommentsFetched{Reason: r.Reason, Error: "403: no", Last: true}
	}
	found := &event.CommentsFetched{Reason: r.Reason, Last: true}
	if len(w.comments) > 0 {
		found.Comments, w.comments = w.comments[0], w.comments[1:]
	}
	return found
}

func (w *world) outcome(intent event.Body) event.Body {
	switch in := intent.(type) {
	case *event.LLMRequested:
		w.calls++
		if w.reply != nil {
			return w.reply(in, w.request)
		}
		if w.calls > len(w.replies) {
			return w.replies[len(w.replies)-1]
		}
		return w.replies[w.calls-1]
	case *event.ToolRequested:
		if kind, message := Refuse(w.state, in); kind != "" {
			return &event.ToolFailed{Kind: kind, Message: message}
		}
		if w.outcomes != nil {
			return w.outcomes(in)
		}
		return w.tools[in.Server+"/"+in.Tool]
	case *event.CommentRequested:
		if w.noEdits && in.Edit != "" {
			return &event.CommentFailed{Kind: "not_found", Message: "gone"}
		}
		return &event.CommentPosted{ID: cmp.Or(in.Edit, fmt.Sprint(100+w.state.Seq))}
	case *event.LabelsRequested:
		if w.denied {
			w.denied = false
			return &event.LabelsFailed{Kind: "forbidden", Message: "no permission"}
		}
		return &event.LabelsChanged{Labels: in.Add}
	}
	if _, ok := intent.(*event.ChangeRequested); ok {
		return w.change
	}
	w.t.Fatalf("no outcome for %s", intent.Type())
	return nil
}

func text(s string) event.Body {
	return &event.LLMReplied{Text: event.T(s), Finish: "stop", Usage: event.Usage{Prompt: 100, Completion: 10}}
}

func native(name, args string) event.Body {
	return &event.LLMReplied{Finish: "tool_calls", Usage: event.Usage{Prompt: 100, Completion: 10},
		Calls: []event.ToolCall{{ID: "c1", Name: name, Args: event.T(args)}}}
}

func failed(kind string, w time.Duration) event.Body {
	f := &event.LLMFailed{Kind: kind, Message: "no"}
	if w > 0 {
		f.NotBefore = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(w)
	}
	return f
}

// TestTranscripts plays whole goes. A change of a transcript is a change of what
// the program decides: read the diff.
func TestTranscripts(t *testing.T) {
	command := text(`{"command":{"comment":"I look.","tool":"ws/read_file","args":{"path":"a.go"}}}`)
	done := text(`{"done":true,"comment":"Fixed."}`)
	tests := map[string]func(*testing.T) *world{
		"json": func(t *testing.T) *world { return newWorld(t, "json", command, done) },
		"tools": func(t *testing.T) *world {
			return newWorld(t, "tools", native("ws__read_file", `{"path":"a.go"}`), text("Fixed."))
		},
		"tools_refused": func(t *testing.T) *world {
			return newWorld(t, "auto", failed("tools_refused", 0), command, done)
		},
		"unusable_replies": func(t *testing.T) *world { return newWorld(t, "json", text("hm"), text("hm"), command, text("hm")) },
		"unknown_tool": func(t *testing.T) *world {
			return newWorld(t, "tools", native("rm", "{}"), native("ws__read_file", "nonsense"), native("ws__read_file", "{}"), text("Fixed."))
		},
		"retries_then_pause": func(t *testing.T) *world {
			w := newWorld(t, "json", failed("transient", 30*time.Second), failed("timeout", time.Minute), failed("timeout", 90*time.Second), failed("transient", 2*time.Minute), done)
			w.rests = [][]event.Body{{&event.ResumeRequested{By: "timer"}}}
			return w
		},
		"retry_after_too_long": func(t *testing.T) *world { return newWorld(t, "json", failed("rate_limited", time.Hour)) },
		"empty_then_malformed": func(t *testing.T) *world {
			return newWorld(t, "tools", failed("empty", 0), native("ws__read_file", "{}"), failed("malformed_call", 0), failed("transient", 40*time.Second), text("Fixed."))
		},
		"bad_key":         func(t *testing.T) *world { return newWorld(t, "json", failed("auth", 0)) },
		"refused_request": func(t *testing.T) *world { return newWorld(t, "json", failed("invalid", 0)) },
		"pause_and_resume": func(t *testing.T) *world {
			w := newWorld(t, "json", command, done)
			w.before["2"] = []event.Body{&event.PauseRequested{By: "signal_file"}}
			w.rests = [][]event.Body{{&event.ResumeRequested{By: "signal_file", Person: true}}}
			return w
		},
		"stop": func(t *testing.T) *world {
			w := newWorld(t, "json", command, command)
			w.before["2"] = []event.Body{&event.StopRequested{By: "command", Reason: "enough"}}
			return w
		},
		"call_limit": func(t *testing.T) *world {
			w := newWorld(t, "tools", native("ws__read_file", "{}"), native("ws__run_command", "{}"))
			w.replies = append(w.replies, w.replies[0])
			w.state.Config.Limits.MaxCalls = 3
			return w
		},
		"token_limit": func(t *testing.T) *world {
			w := newWorld(t, "tools", native("ws__read_file", "{}"), text("Fixed."))
			w.state.Config.Limits.MaxTokens = 110
			w.rests = [][]event.Body{{&event.ResumeRequested{By: "command", Person: true}}}
			return w
		},
		"same_id_twice": func(t *testing.T) *world {
			two := &event.LLMReplied{Finish: "tool_calls", Usage: event.Usage{Prompt: 100, Completion: 10}, Calls: []event.ToolCall{
				{ID: "c1", Name: "ws__read_file", Args: event.T(`{"path":"a"}`)}, {ID: "c1", Name: "ws__read_file", Args: event.T(`{"path":"b"}`)}}}
			return newWorld(t, "tools", two, text("Fixed."))
		},
		"same_call_six_times_at_once": func(t *testing.T) *world {
			six := &event.LLMReplied{Finish: "tool_calls", Usage: event.Usage{Prompt: 100, Completion: 10}}
			for i := range 6 {
				six.Calls = append(six.Calls, event.ToolCall{ID: fmt.Sprint("c", i), Name: "ws__read_file", Args: event.T("{}")})
			}
			w := newWorld(t, "tools", six, six, six)
			w.state.Config.Limits.RepeatedCalls = 3
			return w
		},
		"same_call_again": func(t *testing.T) *world { return newWorld(t, "tools", native("ws__read_file", "{}")) },
		"follow_up": func(t *testing.T) *world {
			w := newWorld(t, "json", done, text(`{"done":true,"comment":"Also that."}`))
			w.state.Config.FollowUp = event.FollowUp{Enabled: true, MaxRounds: 10, TimeoutHours: 24}
			w.comments = [][]event.Comment{nil, {{ID: "1", Author: "alice", Verdict: event.NewComment, Body: event.T("Thanks! Now also add tests.")}},
				{{ID: "2", Author: "alice", Verdict: event.NewComment, Body: event.T("ありがとうございます！")}}}
			w.rests = [][]event.Body{{&event.ResumeRequested{By: "comment"}}, {&event.ResumeRequested{By: "comment"}}}
			return w
		},
		"follow_up_nothing_new": func(t *testing.T) *world {
			w := newWorld(t, "json", done)
			w.state.Config.FollowUp = event.FollowUp{Enabled: true, MaxRounds: 10, TimeoutHours: 24}
			w.rests = [][]event.Body{{&event.ResumeRequested{By: "comment"}},
				{&event.TimerFired{Until: time.Date(2026, 1, 9, 0, 0, 0, 0, time.UTC)}}}
			return w
		},
		"task_edited": func(t *testing.T) *world {
			w := newWorld(t, "json", command, done)
			w.before["2"] = []event.Body{&event.TaskChanged{What: "text", Title: "Another bug", Body: event.T("It is broken elsewhere.")}}
			return w
		},
		"labels_refused": func(t *testing.T) *world {
			w := newWorld(t, "json", done)
			w.denied = true
			w.rests = [][]event.Body{{&event.ResumeRequested{By: "command", Person: true}}}
			return w
		},
		"interrupted_call": func(t *testing.T) *world {
			w := newWorld(t, "tools", native("ws__run_command", `{"argv":["make"]}`), text("Fixed."))
			w.tools["ws/run_command"] = &event.ToolInterrupted{Reason: "the process ended."}
			return w
		},
	}
	for name, make := range tests {
		t.Run(name, func(t *testing.T) {
			w := make(t)
			w.tools["ws/read_file"] = &event.ToolReplied{Content: event.T("package a")}
			if w.tools["ws/run_command"] == nil {
				w.tools["ws/run_command"] = &event.ToolReplied{Content: event.T("exit code: 0")}
			}
			golden(t, filepath.Join("testdata", name+".txt"), w.run())
			wantPrefixes(t, w)
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := gocmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (run with -update if this is meant):\n%s", file, d)
	}
}

// TestFetchFailureIsTold: also one of a look in between, once.
func TestFetchFailureIsTold(t *testing.T) {
	for notify, want := range map[bool]int{true: 1, false: 0} {
		read := native("ws__read_file", `{"path":"a"}`)
		w := newWorld(t, "tools", read, read, text("Done."))
		w.state.Config.Comments.Interval, w.state.Config.Comments.Notify = 1, notify
		w.tools["ws/read_file"] = &event.ToolReplied{Content: event.T("x")}
		failed := &event.CommentsFetched{Reason: event.FetchPeriodic, Comments: []event.Comment{}, Last: true, Error: "no"}
		w.before["2"], w.before["3"] = []event.Body{failed}, []event.Body{failed}
		out := w.run()
		if got := strings.Count(out, "comment.requested  fetch"); got != want {
			t.Errorf("told %d times, want %d:\n%s", got, want, out)
		}
	}
}

// TestKeptBesideRequest: unfinished work of a later round adds nothing to the
// request that was opened.
func TestKeptBesideRequest(t *testing.T) {
	w := publishing(t, small())
	w.state.Config.Change.Unfinished = keepPush
	w.state.Publishing.Measured = small()
	w.state.Task = &event.TaskFetched{Title: "A bug", Private: true}
	v := completes(event.EndMaxCalls, "", 1)
	if got := keepsBy(w.state, v); got != keepPush {
		t.Errorf("the first time: %s", got)
	}
	w.state.Publishing.Opened = &event.ChangeOpened{Number: 8, URL: "https://github.com/o/r/pull/8"}
	if got := keepsBy(w.state, v); got != keepPatch {
		t.Errorf("beside a request: %s", got)
	}
}
