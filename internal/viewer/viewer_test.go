package viewer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"agent/contexts"
	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/internal/logtest"
	"agent/internal/term"
	"agent/projections"
)

const uuid = logtest.UUID

// logOf is a store with a log of these events.
func logOf(t *testing.T, bodies ...event.Body) *contexts.Store {
	t.Helper()
	return logtest.Store(t, "Greet the world", bodies...)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// shown is what a view prints of a log.
func shown(t *testing.T, store *contexts.Store, p *Printer, view func(*Printer) View, filter Filter) string {
	t.Helper()
	var out bytes.Buffer
	p.Screen.Writer, p.UUID, p.Blob = &out, uuid, func(hash string) ([]byte, error) { return store.Blob(uuid, hash) }
	v := view(p)
	for line, err := range store.Lines(uuid) {
		must(t, err)
		v.Record(line.Record, filter.Fits(line.Record))
	}
	v.End()
	return out.String()
}

func wide() *Printer { return &Printer{Screen: term.Screen{Width: term.PlainWidth}, Lang: i18n.En} }

// planned is a run with a plan, a retry, a summary, a kill, a pause, and a call that is still open.
func planned() []event.Body {
	asked := func(purpose, model string) event.Body {
		return &event.LLMRequested{Purpose: purpose, Model: model, Estimated: 700, Attempt: 1}
	}
	reply := func(prompt, cached, completion int, usd float64, calls ...string) event.Body {
		r := &event.LLMReplied{Finish: "stop", Usage: event.Usage{Prompt: prompt, Cached: cached, Completion: completion}, CostUSD: usd, DurationMS: 1500}
		for _, name := range calls {
			r.Calls = append(r.Calls, event.ToolCall{Name: name})
		}
		return r
	}
	return []event.Body{
		&event.ProcessStarted{},
		&event.MessageAdded{Role: "user", Purpose: "task", Content: event.T("Greet.")},
		&event.PhaseEntered{Phase: "planning"},
		asked("planning", "big"), &event.LLMFailed{Kind: "transient", Status: 503, Message: "later"},
		asked("planning", "big"), reply(1000, 600, 100, 0.02),
		&event.PhaseEntered{Phase: "execution"},
		&event.ActionStarted{Action: "a1"}, asked("execution", "big"), reply(2000, 0, 50, 0.03, "workspace__run_command"),
		&event.ToolRequested{Server: "workspace", Tool: "run_command", Args: event.T(`{"argv":["go","test","./..."]}`)},
		&event.ToolReplied{Content: event.T("exit code: 1\nFAIL widgets"), DurationMS: 20},
		asked("execution", "big"), &event.ProcessStarted{}, &event.LLMFailed{Kind: event.Interrupted, Message: "the process ended"},
		&event.ActionFinished{Action: "a1", Status: "success"},
		&event.ContextPaused{Reason: "requested", Until: event.Until{Kind: "signal"}}, &event.ProcessEnded{Reason: "paused"},
		&event.ProcessStarted{}, &event.ResumeRequested{By: "command", Actor: "root"}, &event.ContextResumed{},
		&event.ActionStarted{Action: "a2"}, asked("compaction", "small"), reply(500, 0, 40, 0),
		&event.MessageAdded{Role: "user", Purpose: "comments", Content: event.T("Please be brief.")},
		asked("execution", "small"),
	}
}

// Every model call has a line, and what it counts for is what the state counts: also
// calls without a reply, and those of a model without a price.
func TestCosts(t *testing.T) {
	t.Parallel()
	store := logOf(t, planned()...)
	got := shown(t, store, wide(), (*Printer).Costs, Filter{})
	want := `
  SEQ  PHASE             PROMPT     CACHED  OUTPUT      USD   TIME  RESULT
── big
    5  planning               –          –       –            1.0s  failed: transient
    7  planning            1000        600     100   0.0200   1.5s  stop
   11  execution a1        2000          –      50   0.0300   1.5s  run_command
   15  execution a1        ~700          –       –               –  interrupted
── small
   25  compaction           500          –      40        –   1.5s  stop
   28  execution a2           –          –       –               –  no reply yet

CALLS  PHASE             PROMPT     CACHED  OUTPUT      USD   TIME  TOKENS
    2  planning            1000        600     100   0.0200   2.5s  1100
    3  execution          ~2700          –      50   0.0300   1.5s  ~2750
    2  · a1               ~2700          –      50   0.0300   1.5s  ~2750
    1  · a2                   –          –       –               –  0
    1  compaction           500          –      40        –   1.5s  540
    6  total              ~4200        600     190  0.0500+   5.5s  ~4390
– no price: llm.prices of the configuration has none for the model
+ some of the calls have no price
~ estimated: the server gave no count, or the call was interrupted
TIME is of the model. From start to end 27s: active 21s, waiting 6.0s
Active: model 5.5s, tools 0.0s, forge, saving and the rest 15s
`
	if got != want[1:] {
		t.Errorf("got\n%s\nwant%s", got, want)
	}
	s := projections.NewState()
	for ev, err := range store.Events(uuid) {
		must(t, err)
		s.Apply(ev)
	}
	info, err := store.Info(uuid)
	must(t, err)
	var total Sum
	js := wide()
	js.JSON = true
	for line := range strings.Lines(shown(t, store, js, (*Printer).Costs, Filter{})) {
		total = Sum{}
		must(t, json.Unmarshal([]byte(line), &total))
	}
	if u := s.Usage; total.Kind != "total" || total.Calls != u.LLMBegun || total.Prompt != u.Prompt || total.Completion != u.Completion ||
		total.CostUSD != u.CostUSD || total.Unpriced != u.Unpriced || info.LLMBegun != total.Calls || info.Tokens != total.Prompt+total.Completion {
		t.Errorf("total %+v\nusage %+v\ninfo %+v", total, u, info)
	}
	if got := shown(t, store, wide(), (*Printer).Costs, Filter{Phase: "planning"}); !strings.Contains(got, "    2  total               1000 ") {
		t.Errorf("the sums of one phase:\n%s", got)
	}
	if got := shown(t, logOf(t), wide(), (*Printer).Costs, Filter{}); got != "The model was not called.\n" {
		t.Errorf("without calls: %q", got)
	}
}

// What failed is shown with what was asked and the command that shows all of it. An
// interrupted model call did not fail.
func TestFailed(t *testing.T) {
	t.Parallel()
	p := wide()
	p.Failed, p.With = true, " --config c.yaml"
	got := shown(t, logOf(t, planned()...), p, (*Printer).Timeline, Filter{Failed: true})
	for _, want := range []string{"big, planning\n", "llm.failed: transient (HTTP 503): later", "whole: agent inspect 11110000 5 --config c.yaml\n",
		"workspace/run_command go test ./...\n", "tool.replied: 25 bytes in 20 ms: exit code: 1", "   13 12:00:13  workspace", "whole: agent inspect 11110000 13 --config c.yaml\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, event.Interrupted) {
		t.Errorf("an interrupted call failed:\n%s", got)
	}
}

// Who asked for a pause is said with the pause, which does not say so itself.
func TestWhoPaused(t *testing.T) {
	t.Parallel()
	pause := &event.ContextPaused{Reason: event.PauseOnRequest, Until: event.Until{Kind: "person"}}
	store := logOf(t, &event.PauseRequested{By: "command", Actor: "root"}, &event.LabelsRequested{Purpose: "paused"}, pause, &event.ResumeRequested{By: "command"},
		&event.ContextResumed{}, pause)
	const want = "root (command) asked for a pause"
	for name, got := range map[string]string{
		"lines":        shown(t, store, wide(), (*Printer).Timeline, Filter{Types: []string{"context.paused"}}),
		"conversation": shown(t, store, wide(), (*Printer).Conversation, Filter{}),
	} {
		if strings.Count(got, want) != 1 || strings.Count(got, "somebody asked for a pause") != 1 { // nobody is named of the second one
			t.Errorf("%s:\n%s", name, got)
		}
	}
	var out bytes.Buffer
	p := wide()
	p.Screen.Writer = &out
	l := Log{Store: store, UUID: uuid}
	var pauses []eventlog.Record
	for line, err := range store.Lines(uuid) {
		must(t, err)
		if r := line.Record; string(r.Type) == "context.paused" {
			pair, err := l.Pair(r.Seq)
			must(t, err)
			pauses = append(pauses, pair...)
		}
	}
	must(t, p.Whole(l, pauses[:1]))
	if !strings.Contains(out.String(), "\n  "+want+"\n  reason: requested\n") {
		t.Errorf("the event whole:\n%s", out.String())
	}
}

// The conversation says where the work broke off, paused and went on, so that what the
// model was told after that is found.
func TestConversationMarks(t *testing.T) {
	t.Parallel()
	got := shown(t, logOf(t, planned()...), wide(), (*Printer).Conversation, Filter{})
	at := 0
	for _, want := range []string{"user · task\n  Greet.\n", "── 16 the process ended without a word", "── 19 paused: somebody asked for a pause", "── 23 resumed by root (command)", "user · comments\n  Please be brief."} {
		i := strings.Index(got[at:], want)
		if i < 0 {
			t.Fatalf("%q is missing, or in another place, in\n%s", want, got)
		}
		at += i
	}
	if n := strings.Count(got, "without a word"); n != 1 {
		t.Errorf("%d processes ended without a word, want 1: one ended properly, one works", n)
	}
}

// An event without fields is not printed as if something were missing.
func TestEventWithoutFields(t *testing.T) {
	t.Parallel()
	store := logOf(t, &event.ContextResumed{})
	var out bytes.Buffer
	p := wide()
	p.Screen.Writer = &out
	for line, err := range store.Lines(uuid) {
		must(t, err)
		if line.Record.Seq == 2 {
			must(t, p.Event(line.Record))
		}
	}
	if !strings.Contains(out.String(), "context.resumed") || !strings.Contains(out.String(), "nothing but its type and time") {
		t.Errorf("got\n%s", out.String())
	}
}

// A line of the timeline tells its intent only where that is not the line above.
func TestTimelineIsNarrow(t *testing.T) {
	t.Parallel()
	p := wide()
	p.Screen.Width = 80
	got := shown(t, logOf(t, planned()...), p, (*Printer).Timeline, Filter{})
	if !strings.Contains(got, "\n    8 12:00:07  llm.replied       stop, 1000+100 tokens, 0.0200 USD in 1500 ms\n") && os.Getenv("TZ") == "UTC" {
		t.Errorf("got\n%s", got)
	}
	if !strings.Contains(got, "←15 interrupted") || strings.Contains(got, "←7 ") {
		t.Errorf("causes:\n%s", got)
	}
}

var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestFirstScreens walks all views at the widths, with and without colour, in both
// languages: no line of them is wider than the screen, colours change no letter, and a
// pipe gets no escape.
func TestFirstScreens(t *testing.T) {
	t.Parallel()
	hostile := "\x1b[2J\x1b]0;x\x07\u202e\u009b\xff" + strings.Repeat("長い", 200)
	store := logOf(t, append(planned(), &event.LLMFailed{Kind: hostile, Message: hostile}, &event.ToolRequested{Server: hostile, Tool: hostile, Args: event.T(hostile)},
		&event.ToolFailed{Kind: hostile, Message: hostile})...)
	info, err := store.Info(uuid)
	must(t, err)
	info.Title += hostile
	views := map[string]func(*Printer) View{"timeline": (*Printer).Timeline, "costs": (*Printer).Costs, "failed": (*Printer).Timeline}
	for _, width := range []int{80, 200} {
		for _, lang := range []i18n.Lang{i18n.En, i18n.Ja} {
			for name, view := range views {
				screen := func(colors bool) string {
					var head bytes.Buffer
					p := &Printer{Screen: term.Screen{Width: width, Terminal: true, Colors: colors}, Lang: lang, Failed: name == "failed"}
					p.Screen.Writer = &head
					Header(p.Screen, lang, info, "")
					return head.String() + shown(t, store, p, view, Filter{Failed: p.Failed})
				}
				where := fmt.Sprintf("%s at %d in %s", name, width, lang)
				plain, painted := screen(false), screen(true)
				if escape.ReplaceAllString(painted, "") != plain || painted == plain {
					t.Errorf("%s: colours change the text, or there are none", where)
				}
				if strings.ContainsAny(plain, "\x1b\x07\u202e\u009b") {
					t.Errorf("%s: something acts on the terminal", where)
				}
				for line := range strings.Lines(plain) {
					if n := term.Columns(strings.TrimSuffix(line, "\n")); n > width {
						t.Errorf("%s: %d columns: %q", where, n, line)
					}
				}
				if want := map[i18n.Lang]string{i18n.En: "model calls: 6 (summaries: 1, interrupted: 1, failed: 2)", i18n.Ja: "モデル呼び出し 6 回（要約 1 回、中断 1 回、失敗 2 回）"}[lang]; !strings.Contains(plain, want) {
					t.Errorf("%s lacks %q:\n%s", where, want, plain[:min(len(plain), 800)])
				}
			}
		}
	}
}

// The sums of a log that names ever new phases and actions are bounded, and still add up.
func TestManySums(t *testing.T) {
	t.Parallel()
	var l Ledger
	for n := range 3 * mostSums {
		l.Count(Call{Phase: fmt.Sprint("p", n), Action: "a", Spent: Spent{Calls: 1, Prompt: 2}})
		l.Count(Call{Phase: "p0", Action: fmt.Sprint("a", n), Spent: Spent{Calls: 1, Prompt: 2}})
	}
	sums, phases := l.Sums(), Spent{}
	for _, s := range sums {
		if s.Kind == "phase" {
			phases.add(s.Spent)
		}
	}
	if len(sums) > 3*mostSums+1 || phases != l.Total || l.Total.Calls != 6*mostSums {
		t.Errorf("%d sums: %+v, want %+v", len(sums), phases, l.Total)
	}
}
