package timeline

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/fsx"
	"agent/projections"
)

var start = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// records writes events, one a second, to a real log and gives its lines. An outcome, and
// a save beside a call, get the intent before them as their cause.
func records(t *testing.T, bodies ...event.Body) (all []eventlog.Record) {
	t.Helper()
	m := fsx.NewMem()
	log, err := eventlog.Create(m, ".")
	if err != nil {
		t.Fatal(err)
	}
	open := uint64(0)
	for i, b := range bodies {
		ev := event.Event{Time: start.Add(time.Duration(i) * time.Second), Body: b}
		saved, ok := b.(*event.WorkspaceSaved)
		if event.RoleOf(b) == event.Outcome || ok && saved.Reason == "tool" {
			ev.Cause = open
		}
		draft, err := event.Draft(ev)
		if err != nil {
			t.Fatal(err)
		}
		written, err := log.Append(draft)
		if err != nil {
			t.Fatal(b.Type(), err)
		}
		if event.RoleOf(b) == event.Intent {
			open = written.Seq
		}
	}
	for r, err := range eventlog.ReadFile(m, ".") {
		if err != nil {
			t.Fatal(err)
		}
		copied, err := eventlog.Parse([]byte(string(r.Line)))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, copied)
	}
	return all
}

func of(t *testing.T, bodies ...event.Body) *Timeline {
	t.Helper()
	var line Timeline
	for _, r := range records(t, bodies...) {
		line.Add(r)
	}
	return &line
}

func created() event.Body {
	return &event.ContextCreated{Format: event.Format, UUID: "11110000-0000-4000-8000-000000000001", TaskKey: "github.com/acme/widgets/issues/12"}
}

func asked(purpose string) event.Body {
	return &event.LLMRequested{Purpose: purpose, Model: "big", Estimated: 700, Attempt: 1}
}

func reply(prompt, completion int, usd float64, calls ...string) event.Body {
	r := &event.LLMReplied{Text: event.T("I do it."), Finish: "stop", Usage: event.Usage{Prompt: prompt, Completion: completion}, CostUSD: usd, DurationMS: 1500}
	for _, name := range calls {
		r.Calls = append(r.Calls, event.ToolCall{Name: name})
	}
	return r
}

func call(argv string) event.Body {
	return &event.ToolRequested{Server: "workspace", Tool: "run_command", Args: event.T(`{"argv":["` + argv + `"]}`)}
}

// run is a run with a plan, a retry, a save, a failure, a death, a pause, a summary, and a call that is open.
func run() []event.Body {
	return []event.Body{
		created(), &event.ProcessStarted{},
		&event.PhaseEntered{Phase: "planning"},
		asked("planning"), &event.LLMFailed{Kind: "transient", Status: 503, Message: "later", NotBefore: start.Add(time.Minute)},
		asked("planning"), reply(1000, 100, 0.02),
		&event.PhaseEntered{Phase: "execution"}, &event.ActionStarted{Action: "a1"},
		asked("execution"), reply(2000, 50, 0.03, "workspace__run_command"),
		call("go"), &event.WorkspaceSaved{Reason: "tool", Count: 2, Added: 5, Removed: 1}, &event.ToolReplied{Content: event.T("exit code: 1\nFAIL widgets"), DurationMS: 20},
		asked("execution"), &event.ProcessStarted{}, &event.LLMFailed{Kind: event.Interrupted, Message: "the process ended"},
		&event.ActionFinished{Action: "a1", Status: "success"},
		&event.ContextPaused{Reason: "requested", Until: event.Until{Kind: "signal"}}, &event.ProcessEnded{Reason: "paused"},
		&event.ProcessStarted{}, &event.ResumeRequested{By: "command"}, &event.ContextResumed{},
		asked("compaction"), reply(500, 40, 0),
		asked("execution"),
	}
}

// A person sees one row for a call and its outcome, in its phase and step, with what it took.
func TestRows(t *testing.T) {
	t.Parallel()
	line := of(t, run()...)
	var got []string
	for _, r := range line.Rows {
		if r.Minor {
			continue
		}
		text := fmt.Sprintf("%d-%d %s %s %s/%s step %d", r.Seq, r.Outcome, r.Kind, r.Status, r.Phase, r.Action, r.Step)
		if r.Timed {
			text += fmt.Sprintf(" %.2gs", r.Seconds)
		}
		if n, ok := r.Tokens(); ok {
			text += fmt.Sprintf(" %d tokens", n)
		}
		if usd, ok := r.Cost(); ok {
			text += fmt.Sprintf(" %g USD", usd)
		}
		if r.Files > 0 {
			text += fmt.Sprintf(" %d files +%d -%d at %d", r.Files, r.Added, r.Removed, r.Saved)
		}
		got = append(got, text+": "+r.Title+" = "+r.Result)
	}
	want := `
1-0 input done / step 0: work on github.com/acme/widgets/issues/12 began = 
4-5 model failed planning/ step 1 1s: big, planning = transient (HTTP 503): later
6-7 model done planning/ step 1 1.5s 1100 tokens 0.02 USD: big, planning = I do it.
10-11 model done execution/a1 step 2 1.5s 2050 tokens 0.03 USD: big, execution = → workspace/run_command I do it.
12-14 tool failed execution/a1 step 2 0.02s 2 files +5 -1 at 13: workspace/run_command go = exit code: 1 FAIL widgets
15-17 model interrupted execution/a1 step 3 700 tokens: big, execution = interrupted
16-0 interruption interrupted execution/a1 step 3: the process ended without a word = agent started on (process 0)
18-0 action done execution/a1 step 3: a1 = done
19-23 pause done execution/ step 3 4s: somebody asked for a pause = 
22-0 request done execution/ step 3: somebody (command) asked to resume = 
23-0 resume done execution/ step 3: resumed by somebody (command) = 
24-25 model done execution/ step 0 1.5s 540 tokens: big, compaction = I do it.
26-0 model open execution/ step 3: big, execution = `
	if text := "\n" + strings.Join(got, "\n"); text != want {
		t.Errorf("got%s\nwant%s", text, want)
	}
}

// What the rows add up to is what the state and agent inspect --costs count.
func TestSums(t *testing.T) {
	t.Parallel()
	all := records(t, run()...)
	var line Timeline
	state := projections.NewState()
	for _, r := range all {
		line.Add(r)
		ev, err := event.Decode(r)
		if err != nil {
			t.Fatal(err)
		}
		state.Apply(ev)
	}
	u, s, l := state.Usage, line.Total, line.Ledger.Total
	if s.Prompt != u.Prompt || s.Completion != u.Completion || s.CostUSD != u.CostUSD || s.Unpriced != u.Unpriced || s.Calls != u.LLMBegun || s.Tools != u.ToolCalls {
		t.Errorf("the rows add up to %+v, the state says %+v", s, u)
	}
	if s.Seconds != l.Seconds || s.Prompt != l.Prompt || s.Failed != 2 || s.Files != 2 {
		t.Errorf("the rows add up to %+v, the ledger says %+v", s, l)
	}
	for name, sums := range map[string][]Sum{"phases": line.Phases, "steps": line.Steps} {
		tokens, tools, rows := 0, 0, 0
		for _, s := range sums {
			tokens, tools, rows = tokens+s.Prompt+s.Completion, tools+s.Tools, rows+s.Rows
		}
		if tokens != u.Tokens() || tools != 1 || name == "phases" && rows != len(line.Rows) {
			t.Errorf("%s add up to %d tokens, %d tools and %d rows: %+v", name, tokens, tools, rows, sums)
		}
	}
	if len(line.Phases) != 3 || len(line.Steps) != 4 {
		t.Errorf("%d phases, %d steps", len(line.Phases), len(line.Steps))
	}
}

// At every event it is known what the work waits for.
func TestWaiting(t *testing.T) {
	t.Parallel()
	later := start.Add(time.Hour)
	for _, c := range []struct {
		name   string
		bodies []event.Body
		want   string // what it waits for, and of a pause how it ends
	}{
		{"nothing", nil, ""},
		{"model", []event.Body{asked("work")}, "model "},
		{"retry", []event.Body{asked("work"), &event.LLMFailed{Kind: "transient", NotBefore: later}}, "model "},
		{"refused", []event.Body{asked("work"), &event.LLMFailed{Kind: "auth"}}, ""},
		{"tool", []event.Body{call("x")}, "tool "},
		{"tool replied", []event.Body{call("x"), &event.ToolReplied{}}, ""},
		{"comment", []event.Body{&event.CommentRequested{}}, "forge "},
		{"labels", []event.Body{&event.LabelsRequested{}}, "forge "},
		{"change", []event.Body{&event.ChangeRequested{}}, "forge "},
		{"paused by a person", []event.Body{&event.ContextPaused{Until: event.Until{Kind: "signal"}}}, "person signal"},
		{"pause for a person", []event.Body{&event.ContextPaused{Until: event.Until{Kind: "person"}}}, "person person"},
		{"pause by time", []event.Body{&event.ContextPaused{Until: event.Until{Kind: "time", Time: later}}}, "time time"},
		{"answer", []event.Body{&event.ContextAwaiting{Until: event.Until{Time: later}}}, "person comment"},
		{"resumed", []event.Body{&event.ContextPaused{}, &event.ContextResumed{}}, ""},
		{"completed", []event.Body{&event.ContextAwaiting{}, &event.ContextCompleted{}}, ""},
		{"ended with an open call", []event.Body{call("x"), &event.ContextFailed{}}, ""},
	} {
		line := of(t, append([]event.Body{created()}, c.bodies...)...)
		w, ok := line.Waiting()
		if got := w.For + " " + w.Kind; ok && got != c.want || ok != (c.want != "") {
			t.Errorf("%s: waits for %q (%v), want %q", c.name, got, ok, c.want)
		}
	}
}

// Every kind of event has a row that says something, be it alone or after its intent.
func TestEveryEvent(t *testing.T) {
	t.Parallel()
	for _, kind := range event.Types() {
		data, err := os.ReadFile(filepath.Join("..", "..", "eventlog", "event", "testdata", "golden", fmt.Sprintf("v%d", event.Version(event.New(kind))), kind+".json"))
		if err != nil {
			t.Fatal(err)
		}
		body, _, err := event.DecodeBody(kind, event.Version(event.New(kind)), []byte(strings.TrimSpace(string(data))))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range of(t, body).Rows {
			if r.Kind == Other && kind != "blob.forgotten" || r.Title+r.Result == "" || r.Type != kind || r.Seq != 1 {
				t.Errorf("%s: %+v", kind, r)
			}
		}
	}
	if rows := of(t, &event.Unknown{Name: "brand.new", Data: []byte(`{"x":1}`)}).Rows; len(rows) != 1 || rows[0].Kind != Other {
		t.Errorf("an unknown event: %+v", rows)
	}
}

// A long log leaves the latest rows, and right sums of all.
func TestBounded(t *testing.T) {
	t.Parallel()
	bodies := []event.Body{created()}
	for range 300 {
		bodies = append(bodies, asked("work"), reply(10, 1, 0.5, "x"), call("x"), &event.ToolReplied{})
	}
	line := Timeline{keep: 40}
	for _, r := range records(t, bodies...) {
		line.Add(r)
		if len(line.Rows) > 50 || len(line.Steps) > 50 {
			t.Fatalf("%d rows, %d steps", len(line.Rows), len(line.Steps))
		}
	}
	last := line.Rows[len(line.Rows)-1]
	if line.Dropped+len(line.Rows) != 601 || last.Outcome != 1201 || last.Step != 300 || line.Total.Calls != 300 || line.Total.CostUSD != 150 || line.Phases[0].Tools != 300 {
		t.Errorf("%d dropped of %d, last %+v, total %+v", line.Dropped, line.Dropped+len(line.Rows), last, line.Total)
	}
}

// Texts of the world stay short and act on no terminal.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	evil := "\x1b[2J\x1b]0;owned\a\u202egnp\u009b31m\x00</script>\xff" + strings.Repeat("A", 100<<10)
	line := of(t, created(), &event.PhaseEntered{Phase: evil}, &event.ActionStarted{Action: evil}, &event.LLMRequested{Model: evil, Purpose: evil},
		&event.LLMReplied{Text: event.T(evil), Calls: []event.ToolCall{{Name: evil}}}, &event.ToolRequested{Server: evil, Tool: evil, Args: event.T(evil)},
		&event.ToolFailed{Kind: evil, Message: evil}, &event.ContextPaused{Reason: event.PauseReason(evil)}, &event.Unknown{Name: "x" + strings.Repeat("y", 40), Data: []byte(`{"x":1}`)})
	for _, r := range line.Rows {
		for _, s := range []string{r.Title, r.Result, r.Phase, r.Action, r.Type} {
			if utf8.RuneCountInString(s) > longest || strings.ContainsAny(s, "\x1b\a\x00\u202e\u009b\n") || !utf8.ValidString(s) {
				t.Errorf("%d %s: %q", r.Seq, r.Kind, s)
			}
		}
	}
}

// A reader who begins in the middle sees outcomes without their intents.
func TestFromTheMiddle(t *testing.T) {
	t.Parallel()
	all := records(t, run()...)
	for from := range all {
		var line Timeline
		for _, r := range all[from:] {
			if changed := line.Add(r); len(changed) == 0 || line.begun(changed[0]) == nil {
				t.Errorf("from %d: event %d changed %v", from, r.Seq, changed)
			}
		}
	}
}
