package show

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/internal/config"
	"agent/internal/i18n"
	"agent/internal/report"
	"agent/internal/term"
)

// hostile is a text of the world: it must not act on a terminal, and is wider than any.
var hostile = "\x1b[2J\x1b]0;x\x07\u202e\u009b\xff" + strings.Repeat("長い題名 ", 80)

var now = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

const uuid = "11110000-0000-4000-8000-000000000001"

func list() []report.Listed {
	return []report.Listed{
		{UUID: uuid, TaskKey: "github.com/acme/widgets/issues/12", State: "completed", Title: "Greet", UpdatedAt: now.Add(-time.Hour), Change: "https://github.com/acme/widgets/pull/13"},
		{UUID: uuid, TaskKey: "github.com/acme/widgets/issues/1" + hostile, State: "paused", Title: hostile, Waits: "person", Work: hostile, UpdatedAt: now},
		{UUID: uuid, State: "damaged", Error: hostile},
	}
}

func status() *report.Status {
	c := report.StatusContext{UUID: uuid, TaskKey: "github.com/acme/widgets/issues/1", Title: hostile, State: "paused", Because: "a person asked", Until: "person", Last: now.Add(-time.Minute), Resume: true}
	return &report.Status{Counts: map[string]int{"paused": 1}, Waiting: []report.StatusContext{c}, Today: report.Spending{Day: "2026-11-27", Tokens: 12},
		Forges: []report.ForgeScan{{Host: "github.com", Time: now.Add(-time.Minute), Found: 3}}, Problems: []string{"a problem"}, Attention: []string{"look"}}
}

func why() *report.Why {
	return &report.Why{TaskKey: "github.com/acme/widgets/issues/1", Contexts: []report.Attempt{{UUID: uuid, State: "paused", Created: now, Trigger: "label", User: "alice",
		Because: "a person asked", Until: "person", Since: now, Killed: []report.Killed{{Seq: 9, Last: now, Doing: "llm.requested work", Open: event.Event{Body: &event.LLMRequested{Purpose: "work"}}, Next: now.Add(time.Minute)}, {Seq: 12, Last: now}},
		Pauses: []report.Pause{{Started: now, Ended: now.Add(time.Minute), Because: "a person asked", By: "command", Actor: "root"}}}}}
}

func stats(by, key string) *report.Stats {
	row := report.StatsRow{Key: key, Title: hostile, Runs: 1, Calls: 2, Begun: 3, Tools: 4, Prompt: 1000, Completion: 100, Cached: 500, CostUSD: 0.0123, Unpriced: 1, Active: 90}
	return &report.Stats{By: by, Rows: []report.StatsRow{row, {Key: "other", Prompt: 1, Unpriced: 2}}, Total: row}
}

var reports = map[string]func(*Printer){
	"list":             func(p *Printer) { p.List(list()) },
	"status":           func(p *Printer) { p.Status(status()) },
	"why":              func(p *Printer) { p.Why(why()) },
	"stats by repo":    func(p *Printer) { p.Stats(stats("repo", "github.com/acme/widgets")) },
	"stats by context": func(p *Printer) { p.Stats(stats("context", uuid)) },
	"stats by task":    func(p *Printer) { p.Stats(stats("task", "github.com/acme/widgets/issues/12")) },
}

// sentences may be longer than a line: they are prose, and a terminal wraps them.
var sentences = regexp.MustCompile(`^  |^–|^\+|^today|^本日|^context |^コンテキスト 1|https://`)

var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestFirstScreens walks the reports at the widths, with and without colour, in both
// languages: a table fits the screen, colours change no letter, nothing acts on it.
func TestFirstScreens(t *testing.T) {
	t.Parallel()
	for name, print := range reports {
		texts := map[i18n.Lang]string{}
		for _, lang := range []i18n.Lang{i18n.En, i18n.Ja} {
			for _, width := range []int{80, 200} {
				shown := func(terminal, colors bool) string {
					var out bytes.Buffer
					cfg := config.Default()
					print(&Printer{Source: report.Source{Config: cfg, Lang: lang, Now: now}, Screen: term.Screen{Writer: &out, Width: width, Terminal: terminal, Colors: colors}})
					return out.String()
				}
				where := fmt.Sprintf("%s at %d in %s", name, width, lang)
				plain, painted, pipe := shown(true, false), shown(true, true), shown(false, false)
				texts[lang] = plain
				if escape.ReplaceAllString(painted, "") != plain || painted == plain {
					t.Errorf("%s: colours change the text, or there are none:\n%q", where, painted)
				}
				if strings.ContainsAny(plain+pipe, "\x1b\x07\u202e\u009b") || !strings.Contains(plain, "11110000") && strings.Contains(name, "context") {
					t.Errorf("%s: something acts on the terminal:\n%q", where, plain)
				}
				if strings.HasPrefix(name, "stats by context") && len(strings.Split(plain, "\n")) > 7 {
					t.Errorf("%s is no table any more:\n%s", where, plain)
				}
				for line := range strings.Lines(plain) {
					if line = strings.TrimSuffix(line, "\n"); term.Columns(line) > width && !sentences.MatchString(line) {
						t.Errorf("%s: %d columns: %s", where, term.Columns(line), line)
					}
				}
			}
		}
		if texts[i18n.En] == texts[i18n.Ja] {
			t.Errorf("%s is not translated:\n%s", name, texts[i18n.Ja])
		}
	}
}

// Money that nobody knows is never shown as none.
func TestMoney(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		row  report.StatsRow
		want string
	}{
		{report.StatsRow{}, "–"}, {report.StatsRow{Unpriced: 2}, "–"}, {report.StatsRow{CostUSD: 0.00001}, "<0.0001"},
		{report.StatsRow{CostUSD: 0.0123}, "0.0123"}, {report.StatsRow{CostUSD: 12.345}, "12.35"}, {report.StatsRow{CostUSD: 0.5, Unpriced: 1}, "0.5000+"},
	} {
		if got := money(&c.row); got != c.want {
			t.Errorf("%+v: %s, want %s", c.row, got, c.want)
		}
	}
	var out bytes.Buffer
	p := &Printer{Source: report.Source{Lang: i18n.En}, Screen: term.Screen{Writer: &out, Width: 200}}
	for day, want := range map[report.Spending]string{{Tokens: 5}: ", no price", {}: "", {Tokens: 5, CostUSD: 0.25}: ", 0.2500 USD", {MaxCostUSD: 2, Tokens: 5, CostUSD: 0.25}: ", 0.2500 / 2 USD"} {
		if got := p.spent(day); got != want {
			t.Errorf("%+v: %q, want %q", day, got, want)
		}
	}
}

// Pauses and kills come in the order of the log.
func TestWhyInOrder(t *testing.T) {
	t.Parallel()
	r := why()
	r.Contexts[0].Pauses[0].Seq = 10
	var out bytes.Buffer
	(&Printer{Source: report.Source{Lang: i18n.En}, Screen: term.Screen{Writer: &out, Width: 200}}).Why(r)
	first, paused, last := strings.Index(out.String(), "it was doing"), strings.Index(out.String(), "paused at"), strings.Index(out.String(), "the next run resumes it")
	if first < 0 || paused < first || last < paused {
		t.Errorf("the pause of event 10 is not between the kills of 9 and 12:\n%s", out.String())
	}
}

// A tool has calls, failures and time, and nothing that it does not have.
func TestStatsByTool(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	r := &report.Stats{By: "tool", Rows: []report.StatsRow{{Key: "workspace/edit_file", Tools: 2, Completed: 1, Failed: 1, Active: 0.94}}, Total: report.StatsRow{Tools: 2, Failed: 1, Active: 0.94}}
	(&Printer{Source: report.Source{Lang: i18n.En}, Screen: term.Screen{Writer: &out, Width: 200}}).Stats(r)
	for i, want := range [][]string{{"tool", "tool", "calls", "failed", "time"}, {"workspace/edit_file", "2", "1", "0.9s", strings.Repeat("█", barWidth)}, {"total", "2", "1", "0.9s"}} {
		if got := strings.Fields(strings.Split(out.String(), "\n")[i]); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("line %d: %q, want %q", i, got, want)
		}
	}
}

// A process that was killed is said to have been, with what it was doing.
func TestWhyOfAKill(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := &Printer{Source: report.Source{Lang: i18n.En}, Screen: term.Screen{Writer: &out, Width: 200}}
	p.Why(why())
	for _, want := range []string{"ended without a word after " + term.Time(now), "it was doing: a model call (work); resumed at " + term.Time(now.Add(time.Minute)), "the next run resumes it", "resumed by root (command)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}
