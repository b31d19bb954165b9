package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/fsx"
	"agent/internal/i18n"
	"agent/internal/term"
)

const uuid = "11110000-0000-4000-8000-000000000001"

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is a store, and a browser on it that a test drives.
type world struct {
	t     *testing.T
	store *contexts.Store
	home  string
	log   *contexts.Context // the latest one
	last  uint64            // its latest intent
	n     int
	m     *Model
}

func newWorld(t *testing.T) *world {
	t.Helper()
	home := filepath.Join(t.TempDir(), "contexts")
	fsys, err := fsx.OpenOS(home)
	must(t, err)
	store, err := contexts.Open(fsys, contexts.Options{Dir: home})
	must(t, err)
	return &world{t: t, store: store, home: home}
}

func (w *world) at() time.Time {
	w.n++
	return time.Date(2026, 11, 27, 20, 0, w.n, 0, time.UTC)
}

// context begins a log; add goes on with it.
func (w *world) context(id, title string, bodies ...event.Body) {
	w.t.Helper()
	c, err := w.store.Create(&event.ContextCreated{Format: event.Format, UUID: id, TaskKey: "github.com/o/r/issues/1", Forge: "github.com", Kind: "github_issue",
		Trigger: "label", Title: title}, w.at())
	must(w.t, err)
	w.log = c
	w.t.Cleanup(func() { _ = c.Close() })
	w.add(bodies...)
}

func (w *world) add(bodies ...event.Body) {
	w.t.Helper()
	for _, b := range bodies {
		ev := event.Event{Time: w.at(), Body: b}
		if event.RoleOf(b) == event.Outcome {
			ev.Cause = w.last
		}
		ev, err := w.log.Append(ev)
		must(w.t, err)
		if event.RoleOf(b) == event.Intent {
			w.last = ev.Seq
		}
	}
}

func (w *world) browse(width, height int, lang i18n.Lang) {
	w.m = New(Options{Store: w.store, Lang: lang, Now: func() time.Time { return time.Date(2026, 11, 27, 21, 0, 0, 0, time.UTC) },
		Redact: func(s string) string { return s }})
	w.m.width, w.m.height = width, height
	w.m.after = func(time.Duration, func() tea.Msg) tea.Cmd { return nil }
	w.run(w.m.Init())
}

// run carries out a command and what follows from it.
func (w *world) run(c tea.Cmd) {
	if c == nil {
		return
	}
	msg := c()
	if all, ok := msg.(tea.BatchMsg); ok {
		for _, c := range all {
			w.run(c)
		}
		return
	}
	_, next := w.m.Update(msg)
	w.run(next)
}

var named = map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "space": tea.KeySpace, "up": tea.KeyUp, "pgdown": tea.KeyPgDown, "backspace": tea.KeyBackspace}

// press presses keys, separated by spaces, and gives the screen.
func (w *world) press(keys string) string {
	w.t.Helper()
	for _, k := range strings.Fields(keys) {
		msg := tea.KeyPressMsg{Code: []rune(k)[0], Text: k}
		if code := named[k]; code != 0 {
			if msg = (tea.KeyPressMsg{Code: code}); k == "space" {
				msg.Text = " "
			}
		}
		_, c := w.m.Update(msg)
		w.run(c)
	}
	return w.screen()
}

// screen is what is shown. It is as wide and high as the terminal at most, and holds no
// escape sequence but those of colours.
func (w *world) screen() string {
	w.t.Helper()
	out := w.m.View().Content
	lines := strings.Split(out, "\n")
	if len(lines) != w.m.height {
		w.t.Errorf("%d lines on a terminal of %d", len(lines), w.m.height)
	}
	for _, line := range lines {
		plain := colors.ReplaceAllString(line, "")
		if term.Columns(plain) > w.m.width {
			w.t.Errorf("%d columns on a terminal of %d: %q", term.Columns(plain), w.m.width, plain)
		}
		for _, r := range plain {
			if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e' || r == '\u2028' {
				w.t.Errorf("%U reaches the terminal: %q", r, plain)
			}
		}
	}
	return out
}

var colors = regexp.MustCompile(`\x1b\[[0-9]*m`)

func (w *world) wants(screen string, texts ...string) {
	w.t.Helper()
	for _, text := range texts {
		if !strings.Contains(screen, text) {
			w.t.Errorf("%q is missing in\n%s", text, screen)
		}
	}
}

func work() []event.Body {
	return []event.Body{
		&event.MessageAdded{Role: "user", Purpose: "task", Content: event.T("# Fix it\n\nThe *sum* is `wrong`:\n\n- one\n- two\n\n```go\nreturn a\n```\n")},
		&event.PhaseEntered{Phase: "planning"},
		&event.LLMRequested{Purpose: "work", Model: "gpt-5", Attempt: 1},
		&event.LLMReplied{Text: event.T("I **look**."), Finish: "tool_calls", Usage: event.Usage{Prompt: 100, Completion: 20}, CostUSD: 0.25, DurationMS: 1500,
			Calls: []event.ToolCall{{ID: "c", Name: "workspace__run", Args: event.T(`{"text":"a\nb"}`)}}},
		&event.ToolRequested{Reply: 5, Server: "workspace", Tool: "run_command", Args: event.T(`{"argv":["make"]}`)},
		&event.ToolReplied{Content: event.T("exit code: 2\nmake: *** no rule"), DurationMS: 100},
		&event.PhaseEntered{Phase: "execution"},
		&event.PlanMade{Plan: event.Plan{Goal: event.Goal{Objective: "Make it right"}, Actions: event.ActionPlan{Actions: []event.Action{{ID: "t1", Purpose: "Change sum.go"}}}}},
		&event.CommentRequested{Purpose: "progress", Body: event.T("**Working**")},
		&event.CommentPosted{ID: "7"},
	}
}

// TestAPersonFinds walks the questions that somebody has who never saw the program, with
// the keys that the screen itself names.
func TestAPersonFinds(t *testing.T) {
	w := newWorld(t)
	w.context(uuid, "The sum is wrong", work()...)
	w.add(&event.LimitReached{Limit: "tokens", Max: 100, Used: 120}, &event.ContextPaused{Reason: "limit:tokens", Until: event.Until{Kind: "signal"}})
	w.browse(80, 24, "en")
	w.wants(w.screen(), "1 of 1", "The sum is wrong", "? keys")
	w.wants(w.press("enter"), "planning", "execution", "n next failure", "0.25") // where the money went
	w.wants(w.press("n enter"), "Output", "make: *** no rule", "argv")
	w.wants(w.press("esc p enter"), "Make it right", "Change sum.go")
	w.wants(w.press("esc c enter"), "Message to the model", "# Fix it")
	w.wants(w.press("esc G"), "limit") // why it paused
	w.wants(w.press("?"), "previous failure", "fork at this event")
	w.wants(w.press("x q"), "1 of 1")
}

// Why it paused, and that a process died, is said in sentences, in the language of the person.
func TestWhyItPaused(t *testing.T) {
	for lang, want := range map[i18n.Lang][]string{"en": {"the process ended without a word", "somebody (command) asked for a pause. Run"}, "ja": {"プロセスが何も記録せずに終了しました", "ユーザー（コマンド）が一時停止を要求しました。"}} {
		w := newWorld(t)
		w.context(uuid, "t", &event.ConfigPinned{Model: "m", Language: string(lang)}, &event.ProcessStarted{}, &event.MessageAdded{Role: "user", Purpose: "task", Content: event.T("x")},
			&event.ProcessStarted{}, &event.PauseRequested{By: "command"}, &event.ContextPaused{Reason: event.PauseOnRequest, Until: event.Until{Kind: "person"}})
		w.browse(80, 24, lang)
		w.wants(w.press("enter"), want[0])
		w.wants(w.press("G enter"), want[1])
	}
}

func TestMarkdownIsRendered(t *testing.T) {
	w := newWorld(t)
	w.context(uuid, "t", work()...)
	w.browse(80, 24, "en")
	out := w.press("enter g c enter") // from the first row to the first message
	w.wants(out, "• one", "• two", "  return a", "# Fix it")
	if strings.Contains(out, "```") || strings.Contains(out, "*sum*") {
		t.Errorf("signs of Markdown are left:\n%s", out)
	}
}

func TestPhasesFold(t *testing.T) {
	w := newWorld(t)
	w.context(uuid, "t", work()...)
	w.browse(80, 24, "en")
	open := w.press("enter n")
	w.wants(open, "run_command")
	folded := w.press("space")
	w.wants(folded, "▷ planning", "1 failed", "execution")
	if strings.Contains(folded, "run_command") {
		t.Errorf("the rows of a folded phase are shown:\n%s", folded)
	}
	w.wants(w.press("enter"), "run_command")
}

func TestFilter(t *testing.T) {
	w := newWorld(t)
	for i := range 5 {
		w.context(fmt.Sprintf("2222000%d-0000-4000-8000-000000000001", i), fmt.Sprintf("Title %d", i))
	}
	w.browse(80, 24, "en")
	screen := w.press("/ t i t l e")
	w.wants(screen, "5 of 5", "/title")
	screen = w.press("space 3") // words, in any order
	w.wants(screen, "1 of 5", "Title 3")
	w.wants(w.press("enter enter"), "Title 3", "22220003")
	w.wants(w.press("q esc"), "5 of 5")
	w.wants(w.press("/ z z z"), "0 of 5", "No context.")
	w.press("enter enter P") // nothing to act on
}

// TestFollows: what is appended while the context is open is shown, at the end or not.
func TestFollows(t *testing.T) {
	w := newWorld(t)
	w.context(uuid, "t", work()...)
	w.browse(80, 24, "en")
	w.press("enter")
	w.add(&event.LLMRequested{Purpose: "work", Model: "gpt-5"})
	_, _ = w.m.Update(w.m.grown()())
	w.wants(w.screen(), "waits for the model: gpt-5", "▶   12 model")
	w.press("g")
	w.add(&event.LLMReplied{Text: event.T("Now done")})
	_, _ = w.m.Update(w.m.grown()())
	w.wants(w.screen(), "Now done")
	if w.m.open.at != 0 {
		t.Error("the chosen line moved")
	}
}

// A context that is removed while it is watched: that is said, and what was read stays.
func TestRemovedWhileWatched(t *testing.T) {
	w := newWorld(t)
	w.context(uuid, "t", work()...)
	w.browse(80, 24, "en")
	w.press("enter")
	removed, _ := filepath.Glob(filepath.Join(w.home, "*", uuid))
	must(t, os.RemoveAll(removed[0]))
	for range 2 { // once it may be about to move
		_, _ = w.m.Update(w.m.grown()())
	}
	w.wants(w.screen(), "this context was removed", "model")
	w.wants(w.press("q"), "contexts:")
}

// TestQuestions: nothing is done without a yes, and what was done is said.
func TestQuestions(t *testing.T) {
	w := newWorld(t)
	w.context(uuid, "t", work()...)
	w.browse(80, 24, "en")
	var did []string
	w.m.Signal = func(id string, s contexts.Signal) (string, error) {
		if did = append(did, string(s)+" "+id[:8]); s == contexts.Stop {
			return "", errors.New("no \x1b[31m")
		}
		return "asked", nil
	}
	w.m.Fork = func(_ context.Context, id string, at uint64, say string) (string, error) {
		did = append(did, fmt.Sprintf("fork %s %d %s", id[:8], at, say))
		return "made", nil
	}
	w.wants(w.press("P"), "Pause 11110000? y/n")
	w.press("n R esc S x")
	if len(did) > 0 {
		t.Errorf("without a yes: %v", did)
	}
	w.press("n P")
	w.wants(w.press("y"), "asked")
	w.press("S")
	w.wants(w.press("y"), `no \x1b[31m`)
	w.wants(w.press("enter n F"), "Fork 11110000 at event 7")
	w.press("h o q backspace")
	w.wants(w.press("enter"), "made")
	if got := strings.Join(did, ", "); got != "pause 11110000, stop 11110000, fork 11110000 7 ho" {
		t.Errorf("did %s", got)
	}
}

// hostile are texts that act on a terminal, deceive the eye, or are of an odd size.
var hostile = map[string]string{
	"osc":      "\x1b]0;owned\a\x1b]52;c;aGk=\a",
	"csi":      "\x1b[2J\x1b[31mred\x1b[?1049l",
	"c1":       "\u009b31m\u0090q\u009c",
	"bidi":     "abc\u202edef\u2066x",
	"controls": "a\rb\bc\vd\x00e\x7f",
	"broken":   "\xff\xfe\xc3(",
	"lines":    "one\ntwo\u2028three\u2029four",
	"wide":     strings.Repeat("日本語の長い題名", 40),
	"emoji":    strings.Repeat("👩‍👩‍👧‍👦⏸️🇯🇵", 50),
	"marks":    "e" + strings.Repeat("\u0301", 500),
	"long":     strings.Repeat("x", 1<<20),
	"fence":    strings.Repeat("> - ", 2000) + "```\n</script>" + strings.Repeat("[", 5000),
	"html":     "<script>alert(1)</script>&#27;[31m&NewLine;",
	"tabs":     strings.Repeat("\t", 300),
	"empty":    "",
}

// TestHostileLogs puts each text everywhere: nothing but colours acts, no line is too wide,
// and the rest is shown. See [world.screen] for what is checked.
func TestHostileLogs(t *testing.T) {
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			short := text[:min(len(text), 2000)] // a line has a limit
			w.context(uuid, short, &event.ConfigPinned{Provider: short, Model: short},
				&event.TaskFetched{Title: short, Body: event.T(text), Author: short, URL: short}, &event.MessageAdded{Role: "user", Purpose: "task", Content: event.T(text)},
				&event.PhaseEntered{Phase: short}, &event.LLMRequested{Purpose: short, Model: short},
				&event.LLMReplied{Text: event.T(text), Reasoning: event.T(text), Finish: short, Calls: []event.ToolCall{{Name: short, Args: event.T(text)}}},
				&event.ToolRequested{Server: short, Tool: short, Args: event.T(text)}, &event.ToolReplied{Content: event.T(text), IsError: true},
				&event.CommentRequested{Purpose: short, Body: event.T(text)}, &event.CommentFailed{Kind: short, Message: short},
				&event.PlanMade{Plan: event.Plan{Goal: event.Goal{Objective: short}, Actions: event.ActionPlan{Actions: []event.Action{{ID: short, Purpose: short, Tool: short}}}}},
				&event.ContextPaused{Reason: event.PauseReason(short), Until: event.Until{Kind: "person"}})
			for _, size := range [][2]int{{80, 24}, {160, 40}, {20, 6}} {
				w.browse(size[0], size[1], "ja")
				w.press("/ 1 enter enter g m")
				for range len(w.m.open.items) {
					w.press("enter v v pgdown esc j")
				}
				w.press("$ pgdown pgdown : 3 enter s 1 enter")
				w.m.help = true
				w.screen()
			}
		})
	}
}

// TestWindows: of a long log a window is held, and scrolling leads to the next one.
func TestWindows(t *testing.T) {
	w := newWorld(t)
	big := strings.Repeat("a line of an output\n", 2000)
	w.context(uuid, "t")
	for i := range 200 {
		w.add(&event.ToolRequested{Server: "s", Tool: fmt.Sprint("call", i)}, &event.ToolReplied{Content: event.T(big)})
	}
	w.browse(80, 24, "en")
	w.wants(w.press("enter"), "of 401", "call199")
	if v := w.m.open; v.from == 1 || v.to != 401 {
		t.Errorf("the window is %d to %d", v.from, v.to)
	}
	w.press("g")
	w.wants(w.screen(), "events 1–", "began")
	for range 40 {
		w.press("pgdown pgdown")
	}
	w.wants(w.screen(), "call199")
	for range 40 {
		w.press("up pgdown up")
	}
}

// A context moves between directories and is archived while it is watched: the view goes on.
func TestMovedWhileWatched(t *testing.T) {
	w := newWorld(t)
	w.context(uuid, "t", work()...)
	w.browse(80, 24, "en")
	w.press("enter")
	for _, c := range []struct {
		body event.Body
		want string
	}{
		{&event.ContextPaused{Reason: "requested", Until: event.Until{Kind: "person"}}, "paused"},
		{&event.ContextResumed{}, "resumed"},
		{&event.ContextCompleted{Reason: "done"}, "completed"},
	} {
		w.add(c.body)
		must(t, w.log.Relocate())
		_, _ = w.m.Update(w.m.grown()())
		w.wants(w.screen(), c.want)
	}
	must(t, w.log.Close())
	_, err := w.store.Archive(uuid)
	must(t, err)
	_, _ = w.m.Update(w.m.grown()())
	w.wants(w.screen(), "completed")
	w.wants(w.press("n enter"), "Output", "no rule")
	if w.m.open.err != nil {
		t.Error(w.m.open.err)
	}
}

func TestColoursAreOptional(t *testing.T) {
	w := newWorld(t)
	w.context(uuid, "t", work()...)
	w.browse(80, 24, "en")
	if strings.Contains(w.press("enter"), "\x1b") {
		t.Error("colours without Options.Colors")
	}
	w.wants(w.screen(), "▶", "✗") // what is chosen and what failed is seen without them
	w.m.Colors = true
	if !strings.Contains(w.screen(), "\x1b[7m") {
		t.Error("the chosen line is not marked")
	}
}

func TestDamageIsShown(t *testing.T) {
	w := newWorld(t)
	w.browse(80, 24, "en")
	w.wants(w.screen(), "No context.")
	w.m.open = newView(entry{uuid: uuid})
	w.run(w.m.openEnd())
	w.wants(w.screen(), "no such")
}

func TestSpark(t *testing.T) {
	for _, c := range []struct {
		want   string
		values []float64
	}{{"", nil}, {"▁▁▇", []float64{0, 1, 100}}, {"  ", []float64{0, 0}}, {"▄▂▇", []float64{9, 9, 5, 2, 9}}} {
		if got := spark(c.values, 3); got != c.want {
			t.Errorf("%v: %q, not %q", c.values, got, c.want)
		}
	}
}
