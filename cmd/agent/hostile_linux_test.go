package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/exhaustive"
	"agent/internal/fsx"
	"agent/internal/term"
)

// hostile clears the screen, sets the title, links, moves back, turns the order of
// letters around, hides, and is not even UTF-8. What comes first and last has to be shown.
const hostile = "begin\x1b[2J\x1b]0;title\x07\x1b]8;;http://x.example\x1b\\link\x1b]8;;\x1b\\\r\x08\x7f\u009b31m\u202e\u2066\u200b\ufeff\U000e0041\x00\xff\xfe\u2028end"

// hostiles are contexts whose logs are full of it: one that is done, one with every
// type of event, and one that is damaged by it.
type hostiles struct {
	dir                string
	done, all, damaged string
	key                string
	toolSeq            uint64
}

func makeHostiles(t *testing.T) *hostiles {
	h := &hostiles{dir: t.TempDir(), done: "11110000-0000-4000-8000-000000000001", all: "22220000-0000-4000-8000-000000000002",
		damaged: "33330000-0000-4000-8000-000000000003", key: "github.com/o/r/issues/1"}
	fsys, err := fsx.OpenOS(filepath.Join(h.dir, "contexts"))
	must(t, err)
	store, err := contexts.Open(fsys, contexts.Options{})
	must(t, err)
	create := func(uuid, key string) *contexts.Context {
		c, err := store.Create(&event.ContextCreated{Format: event.Format, UUID: uuid, TaskKey: key, Forge: "github.com", Kind: "github_issue",
			Title: hostile, User: hostile, Trigger: "label", Version: hostile, Host: hostile}, time.Now())
		must(t, err)
		return c
	}
	c := create(h.done, h.key)
	for _, b := range h.story() {
		ev, err := c.Append(event.Event{Time: time.Now(), Body: b})
		must(t, err)
		switch b.(type) {
		case *event.ToolReplied:
			h.toolSeq = ev.Seq
		}
	}
	must(t, c.Relocate())
	must(t, c.Close())
	c = create(h.all, "github.com/o/r"+hostile+"/issues/2")
	for _, kind := range event.Types() {
		b := event.New(kind)
		if kind == "context.created" || strings.HasPrefix(kind, "context.") {
			continue
		}
		fill(reflect.ValueOf(b).Elem(), 0)
		_, err := c.Append(event.Event{Time: time.Now(), Body: b})
		must(t, err)
	}
	must(t, c.Close())
	c = create(h.damaged, "github.com/o/r/issues/3")
	must(t, c.Close())
	log := filepath.Join(h.dir, "contexts", "running", h.damaged, "events.jsonl")
	f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = fmt.Fprintf(f, "{\"seq\":2,\"type\":\"%s\",%s}\n%s\n", hostile, hostile, strings.Repeat(hostile, 10))
	must(t, err)
	must(t, f.Close())
	return h
}

func (h *hostiles) story() []event.Body {
	long := hostile + strings.Repeat("x", 1<<20) + hostile // spilled
	return []event.Body{
		&event.ProcessStarted{Version: hostile, Host: hostile},
		&event.TaskFetched{Title: hostile, Body: event.T(hostile), Author: hostile, URL: "https://github.com/o/r/issues/1" + hostile, Labels: []string{hostile}},
		&event.MessageAdded{Role: "user", Purpose: event.TaskMessage, Content: event.T(hostile)},
		&event.LLMRequested{Purpose: "work"}, &event.LLMFailed{Kind: hostile, Message: hostile},
		&event.ToolRequested{Server: hostile, Tool: hostile, Args: event.T(hostile)}, &event.ToolReplied{Content: event.T(long)},
		&event.ToolRequested{Server: hostile, Tool: hostile, Args: event.T(hostile)}, &event.ToolFailed{Kind: hostile, Message: hostile},
		&event.CommentsFetched{Comments: []event.Comment{{ID: hostile, Author: hostile, Verdict: hostile}}, Reason: hostile},
		&event.ChangeRequested{Branch: hostile, Title: hostile}, &event.ChangeOpened{Number: 7, URL: "https://github.com/o/r/pull/7" + hostile, Branch: hostile},
		&event.ContextCompleted{Reason: hostile},
	}
}

// fill puts it into every text of a value.
func fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(hostile)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[event.Text]() {
			v.Set(reflect.ValueOf(event.T(hostile)))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), depth+1)
			}
		}
	case reflect.Slice:
		switch {
		case v.Type() == reflect.TypeFor[json.RawMessage]():
			data, _ := json.Marshal(hostile)
			v.SetBytes(data)
		case v.Type().Elem().Kind() != reflect.Uint8 && depth < 6:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0), depth+1)
		}
	case reflect.Pointer:
		if depth < 6 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), depth+1)
		}
	}
}

func both(args ...string) [][]string { return [][]string{args, append(slices.Clone(args), "--json")} }

// commands print from logs, and change nothing.
func (h *hostiles) commands() [][]string {
	all := slices.Concat(both("list"), both("status"), both("status", "--check"), both("stats"), both("stats", "--by", "model"), both("stats", "--by", "task"), both("stats", "--by", "context"),
		both("search", "begin"), both("verify"), both("gc", "--dry-run"), both("why", h.key), both("why", h.all), both("why", h.damaged),
		[][]string{{"__complete", "inspect", ""}, {"config", "show"}, {"search", "--regexp", "("}, {"inspect", hostile}, {"list", "--state", hostile}, {"run", hostile}})
	for _, uuid := range []string{h.done, h.all, h.damaged} {
		all = slices.Concat(all, both("inspect", uuid), both("inspect", uuid, "--full"), both("inspect", uuid, "--conversation"), both("inspect", uuid, "1"),
			both("inspect", uuid, "--failed"), both("inspect", uuid, "--costs"), both("replay", uuid), both("forget", uuid, "--dry-run"), both("verify", uuid))
	}
	for seq := range uint64(60) {
		all = append(all, []string{"inspect", h.all, fmt.Sprint(seq + 1)})
	}
	return slices.Concat(all, both("inspect", h.done, fmt.Sprint(h.toolSeq)))
}

// changing are the commands that do.
func (h *hostiles) changing() [][]string {
	return slices.Concat(both("rebuild", h.done), both("rebuild", "--index"), both("pause", h.all),
		both("stop", h.done, h.all), both("resume", h.done), both("repair", h.damaged, "--accept-loss"), both("forget", h.done, "--yes"))
}

// ours are the escapes that the program itself uses.
var ours = regexp.MustCompile(`\x1b\[(0|1|2|31|32|33|36)m`)

func wantHarmless(t *testing.T, what, out string, terminal bool) {
	t.Helper()
	if terminal {
		out = ours.ReplaceAllString(strings.ReplaceAll(out, "\r\n", "\n"), "")
	}
	for i, r := range out {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) || r == utf8.RuneError && !strings.HasPrefix(out[i:], "\ufffd") {
			t.Errorf("%s: %U reaches the terminal: %q", what, r, out[max(0, i-40):min(len(out), i+40)])
			return
		}
	}
}

// TestHostileLogs: whatever a log holds, nothing of it acts on a terminal, with and
// without --json, in a pipe and on a terminal, and all of it is shown.
func TestHostileLogs(t *testing.T) {
	h := makeHostiles(t)
	config := filepath.Join(h.dir, "config.yaml")
	t.Setenv("AGENT_PAGER", "")
	t.Setenv("TERM", "xterm")
	ways := exhaustive.Sample([]struct {
		columns uint16 // 0: a pipe
		lang    string
		noColor string
	}{{0, "en", ""}, {80, "ja", ""}, {0, "ja", ""}, {200, "en", "1"}, {80, "en", "1"}, {200, "ja", ""}, {20, "en", ""}}, 3)
	if exhaustive.Brief() {
		ways = ways[len(ways)-1:]
	}
	for n, way := range ways {
		must(t, os.WriteFile(config, []byte(fmt.Sprintf("contexts_dir: %s\nlanguage: %s\nllm: {openai: {api_key: k, model: m}}\ngithub: {repositories: [o/r], personal_access_token: t}\nlog: {dir: %s}\n",
			filepath.Join(h.dir, "contexts"), way.lang, filepath.Join(h.dir, "logs"))), 0o600))
		t.Setenv("NO_COLOR", way.noColor)
		commands := h.commands()
		if n == len(ways)-1 {
			commands = append(commands, h.changing()...)
		}
		for _, args := range commands {
			what := fmt.Sprintf("%q at %d columns, %s", args, way.columns, way.lang)
			out := runInPlace(t, way.columns, append(slices.Clone(args), "--config", config))
			wantHarmless(t, what, out, way.columns > 0)
			if way.noColor != "" && strings.Contains(out, "\x1b") {
				t.Errorf("%s: colours", what)
			}
			if way.columns == 0 || way.columns >= 200 { // else the header cuts the title
				h.wantShown(t, what, args, out)
			}
			if way.columns >= 80 && slices.Contains([]string{"list", "stats", "search"}, args[0]) && !slices.Contains(args, "--json") {
				for line := range strings.Lines(ours.ReplaceAllString(out, "")) {
					if n := term.Columns(strings.TrimRight(line, "\r\n")); n > int(way.columns) && !strings.Contains(line, "https://") && !strings.Contains(line, "agent: ") {
						t.Errorf("%s: a line of %d columns: %q", what, n, line)
					}
				}
			}
		}
	}
}

// wantShown wants the beginning and the end of the text where a text is shown whole.
func (h *hostiles) wantShown(t *testing.T, what string, args []string, out string) {
	t.Helper()
	whole := args[0] == "inspect" && len(args) > 2 && (args[2] == "--full" || args[2] == "--conversation" || args[2] == fmt.Sprint(h.toolSeq)) && args[1] == h.done
	if begin, end := strings.Count(out, "begin"), strings.Count(out, "end"); whole && end < begin {
		t.Errorf("%s: %d texts begin, %d end", what, begin, end)
	}
	if whole && !strings.Contains(out, "begin") {
		t.Errorf("%s: nothing is shown", what)
	}
}

// runInPlace runs a command in this process, with a terminal of so many columns or a pipe.
func runInPlace(t *testing.T, columns uint16, args []string) string {
	t.Helper()
	getenv := func(name string) string { return map[string]string{"HOME": t.TempDir(), "LANG": "C.UTF-8"}[name] }
	if columns == 0 {
		var out bytes.Buffer
		execute(context.Background(), args, getenv, &out, &out)
		return out.String()
	}
	master, slave := openTerminal(t, columns)
	read := make(chan string)
	go func() {
		var b bytes.Buffer
		_, _ = io.Copy(&b, master) // ends with EIO
		read <- b.String()
	}()
	execute(context.Background(), args, getenv, slave, slave)
	must(t, slave.Close())
	out := <-read
	must(t, master.Close())
	return out
}
