package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/internal/exhaustive"
	"agent/llm"
	"agent/llm/llmtest"
	"agent/projections"
)

const (
	writeText = `{"command":{"comment":"I write it.","tool":"workspace/write_file","args":{"path":"hello.txt","content":"hello\n"}}}`
	doneText  = `{"done":true,"comment":"I wrote hello.txt."}`
)

// TestReplyForms wraps the replies of the JSON protocol in what models put around them.
func TestReplyForms(t *testing.T) {
	t.Parallel()
	for name, wrap := range exhaustive.SampleMap(map[string]func(string) string{
		"thinking":           func(s string) string { return "<think>\n{\"done\":true} or not?\n</think>\n" + s },
		"thinking, unopened": func(s string) string { return "{\"done\":true} or not?\n</think>\n\n" + s },
		"fence":              func(s string) string { return "```json\n" + s + "\n```" },
		"text around":        func(s string) string { return "Sure, here it is:\n\n" + s + "\n\nThat {should} be all." },
		"two objects":        func(s string) string { return s + "\n" + `{"done":true,"comment":"too early"}` },
		"two fences":         func(s string) string { return "```\n" + s + "\n```\nand\n```\n" + doneText + "\n```" },
	}, 3) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, llmtest.Turns(llmtest.Text(wrap(writeText)), llmtest.Text(wrap(doneText))))
			w.inPlace()
			w.llm = "\n  protocol: json"
			w.agent(0, "run")
			w.wantDone(1, w.only())
			w.wantFile(true)
			if body := w.wantComment(1, "✅ **Done**"); !strings.Contains(body, "I wrote hello.txt.") {
				t.Errorf("final comment:\n%s", body)
			}
		})
	}
}

// TestNativeEnd ends a task by a native reply without calls.
func TestNativeEnd(t *testing.T) {
	t.Parallel()
	for _, text := range []string{doneText, "I wrote hello.txt."} {
		t.Run(text[:6], func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, llmtest.Turns(write("hello.txt", "hello\n"), llmtest.Text(text)))
			w.inPlace()
			w.agent(0, "run")
			w.wantDone(1, w.only())
			if body := w.wantComment(1, "✅ **Done**"); !strings.Contains(body, "I wrote hello.txt.") || strings.Contains(body, `"done"`) {
				t.Errorf("final comment:\n%s", body)
			}
		})
	}
}

// TestRefusedCalls makes calls that are not performed. The model is told why, and goes on.
func TestRefusedCalls(t *testing.T) {
	t.Parallel()
	read := func(path string) llmtest.Reply {
		return llmtest.ToolCall("workspace__read_file", map[string]any{"path": path})
	}
	huge := strings.Repeat("x", 10<<20)
	for _, c := range exhaustive.Sample([]struct {
		name  string
		reply llmtest.Reply
		told  string // what the model hears
	}{
		{"unknown tool", llmtest.ToolCall("workspace__format_disk", map[string]any{}), "there is no tool"},
		{"zero-width name", llmtest.Text(strings.Replace(writeText, "write_file", "write\u200b_file", 1)), "there is no tool"},
		{"parent", write("../evil.txt", "x"), "error: "},
		{"absolute", write("/tmp/agent-evil.txt", "x"), "error: "},
		{"passwd", read("/etc/passwd"), "error: "},
		{"environment", read("../../../../../../proc/self/environ"), "error: "},
		{"not JSON", llmtest.ToolCalls(llmtest.Call("workspace__write_file", `{"path":`)), "error: "},
		{"not an object", llmtest.ToolCalls(llmtest.Call("workspace__write_file", `[1]`)), "not a JSON object"},
		{"wrong type", llmtest.ToolCalls(llmtest.Call("workspace__write_file", `{"path":5}`)), "error: "},
		{"10 MB", write("big.txt", huge), "arguments are 104857"},
		{"same id", llmtest.ToolCalls(
			llm.ToolCall{ID: "a", Name: "workspace__write_file", Arguments: `{"path":"one.txt","content":"1"}`},
			llm.ToolCall{ID: "a", Name: "workspace__write_file", Arguments: `{"path":"two.txt","content":"2"}`}), "wrote 1 bytes to two.txt"}, // some servers give all calls one id
	}, 3) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, llmtest.Turns(c.reply, write("hello.txt", "hello\n"), llmtest.Text("I wrote hello.txt.")))
			w.inPlace()
			w.agent(0, "run")
			w.wantDone(1, w.only())
			w.wantFile(true)
			if second := w.model.Requests()[1]; !second.Contains(c.told) {
				t.Errorf("the model was not told %q but:\n%s", c.told, tail(second.Last().Content))
			}
			for _, evil := range []string{w.path("evil.txt"), "/tmp/agent-evil.txt", w.path("work", "big.txt")} {
				if _, err := os.Lstat(evil); err == nil {
					t.Errorf("%s was written", evil)
				}
			}
			w.agent(0, "verify")
		})
	}
}

// TestTransient gives one bad answer before the good ones. It costs a try, no more.
func TestTransient(t *testing.T) {
	t.Parallel()
	for _, c := range exhaustive.Sample([]struct {
		name  string
		reply llmtest.Reply
	}{
		{"429", llmtest.RateLimit(time.Second)},
		{"503", llmtest.ServerError(503)},
		{"cut", llmtest.Cut(write("evil.txt", "x"), 2)},
		{"cut, clean end", llmtest.Reply{Calls: write("evil.txt", "x").Calls, Cut: 2, Clean: true}},
		{"dropped", llmtest.Drop()},
		{"web page", llmtest.HTML()},
		{"no choices", llmtest.JSON(200, `{"id":"x","object":"chat.completion","choices":[]}`)},
		{"empty", llmtest.Text("")},
	}, 3) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			script := greet()
			w := newWorld(t, func(n int, r llmtest.Request) llmtest.Reply {
				if n == 0 {
					return c.reply
				}
				return script(n, r)
			})
			w.inPlace()
			w.agent(0, "run")
			w.wantDone(1, w.only())
			w.wantFile(true)
			if _, err := os.Lstat(w.path("work", "evil.txt")); err == nil {
				t.Error("a reply that was cut was acted on")
			}
			if got := w.asked(); got != 3 {
				t.Errorf("the model was asked %d times, want 3", got)
			}
		})
	}
}

// TestUnusableReplies fails a task after five replies in a row that cannot be used, not before.
func TestUnusableReplies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, llmtest.Always(llmtest.Text("I would rather talk about the weather.")))
	w.llm = "\n  protocol: json"
	w.agent(1, "run")
	l := w.only()
	if l.State != "failed" || l.LLMCalls != 5 {
		t.Errorf("%s after %d calls, want failed after 5", l.State, l.LLMCalls)
	}
	w.wantLabels(1, failedLabel)
	w.wantComment(1, "❌ **Failed**")
	w.wantExact(l.UUID)
}

// TestCutByLength does not take a reply for an end that was cut by the token limit.
func TestCutByLength(t *testing.T) {
	t.Parallel()
	cut := llmtest.Done("All is well, and")
	cut.Finish = "length"
	w := newWorld(t, llmtest.Turns(cut, llmtest.Text("I wrote hello.txt."), write("hello.txt", "hello\n"), llmtest.Text("I wrote hello.txt.")))
	w.inPlace()
	w.agent(0, "run")
	l := w.only()
	if l.LLMCalls != 2 || !w.model.Requests()[1].Contains("was cut") {
		t.Errorf("%d calls; the model heard:\n%s", l.LLMCalls, w.model.Requests()[1].Last().Content)
	}
	w.wantDone(1, l)
}

// TestRepeatedCall pauses a task whose model makes the same call five times.
func TestRepeatedCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, llmtest.Always(llmtest.ToolCall("workspace__list_files", map[string]any{})))
	w.agent(0, "run")
	l := w.only()
	if l.State != "paused" || l.ToolCalls != 5 {
		t.Errorf("%s after %d tool calls, want paused after 5", l.State, l.ToolCalls)
	}
	w.wantLabels(1, pausedLabel)
	if body := w.wantComment(1, "⏸️ **Paused**"); !strings.Contains(body, "repeating the same tool call") {
		t.Errorf("comment:\n%s", body)
	}
	if out, _ := w.agent(0, "run"); !strings.Contains(out, "nothing to do") {
		t.Errorf("it goes on without a person:\n%s", out)
	}
	w.wantExact(l.UUID)
}

// TestModelRefusesKey pauses a task when the model's server does not take the key.
func TestModelRefusesKey(t *testing.T) {
	t.Parallel()
	script := greet()
	w := newWorld(t, func(n int, r llmtest.Request) llmtest.Reply {
		if n == 0 {
			return llmtest.Error(401, "invalid_api_key", "Incorrect API key provided: "+testKey)
		}
		return script(n, r)
	})
	w.agent(78, "run")
	l := w.only()
	if l.State != "paused" || l.LLMCalls != 0 || w.asked() != 1 {
		t.Errorf("%s after %d calls, want paused after one that brought no reply", l.State, w.asked())
	}
	w.wantLabels(1, pausedLabel)
	w.wantComment(1, "⏸️ **Paused**")
	w.noSecrets()
	w.agent(0, "resume", l.UUID)
	w.agent(0, "run")
	w.wantDone(1, w.only())
}

// endless makes a different call at each turn.
func endless() llmtest.Script {
	return func(_ int, r llmtest.Request) llmtest.Reply {
		return write("hello.txt", fmt.Sprint("hello ", r.Turns()))
	}
}

// TestCallLimit finishes at max_llm_process_num and says so.
func TestCallLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, endless())
	w.extra = "max_llm_process_num: 3"
	w.agent(0, "run")
	l := w.only()
	if l.State != "completed" || l.LLMCalls != 3 {
		t.Errorf("%s after %d calls, want completed after 3", l.State, l.LLMCalls)
	}
	w.wantLabels(1, doneLabel)
	if body := w.wantComment(1, "⚠️ **Finished"); !strings.Contains(body, "limit of 3 model calls") {
		t.Errorf("comment:\n%s", body)
	}
	w.wantExact(l.UUID)
}

// TestTokenLimit pauses at limits.max_tokens. A person's resume grants the same once more.
func TestTokenLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(n int, r llmtest.Request) llmtest.Reply {
		reply := endless()(n, r)
		reply.Usage = &llm.Usage{Prompt: 90, Completion: 10}
		return reply
	})
	w.extra = "limits: {max_tokens: 300}"
	w.agent(0, "run")
	w.wantTokens(300)
	w.wantComment(1, "⏸️ **Paused**")
	w.agent(0, "run")
	w.wantTokens(300)
	w.agent(0, "resume", w.only().UUID[:8])
	w.agent(0, "run")
	w.wantTokens(600)
	w.agent(0, "resume", w.only().UUID, "--add", "100")
	w.agent(0, "run")
	w.wantTokens(700)
	w.wantExact(w.only().UUID)
}

func (w *world) wantTokens(want int) {
	w.t.Helper()
	if l := w.only(); l.State != "paused" || l.Tokens != want {
		w.t.Errorf("%s after %d tokens, want paused after %d", l.State, l.Tokens, want)
	}
	w.wantLabels(1, pausedLabel)
}

// TestManyCalls performs eight calls of a reply that asks for a thousand. It
// refuses some of the rest, and forgets those after them.
func TestManyCalls(t *testing.T) {
	exhaustive.Only(t)
	t.Parallel()
	var calls []llm.ToolCall
	for i := range 1000 {
		calls = append(calls, llmtest.Call("workspace__write_file", map[string]any{"path": fmt.Sprintf("f%d.txt", i), "content": "x"}))
	}
	w := newWorld(t, llmtest.Turns(llmtest.ToolCalls(calls...), llmtest.Text("I wrote some.")))
	w.inPlace()
	w.agent(0, "run")
	w.wantLabels(1, doneLabel)
	files, err := os.ReadDir(w.path("work"))
	must(t, err)
	written := 0
	for _, f := range files {
		if strings.HasSuffix(f.Name(), ".txt") {
			written++
		}
	}
	if written != 8 {
		t.Errorf("%d files were written, want 8", written)
	}
	if second := w.model.Requests()[1]; second.ToolResults() != 32 || !second.Contains("only the first 8 calls") {
		t.Errorf("the model got %d results, the last: %s", second.ToolResults(), second.Last().Content)
	}
}

// withHugeServer makes the server of main_test.go the only one.
func (w *world) withHugeServer() {
	command := strings.TrimSuffix(agentPath(w.t), "agent") + "huge"
	w.extra = fmt.Sprintf("mcp_servers:\n  - {mcp_server_name: huge, command: [%q]}", command)
}

// TestHugeResult shows the model head and tail of a result of 10 MB and keeps the whole in a blob.
func TestHugeResult(t *testing.T) {
	exhaustive.Only(t)
	t.Parallel()
	w := newWorld(t, llmtest.Turns(llmtest.ToolCall("huge__huge", nil), llmtest.Text("I have read it.")))
	w.withHugeServer()
	w.agent(0, "run")
	l := w.only()
	w.wantDone(1, l)
	seen := w.model.Requests()[1].Last().Content
	if len(seen) > event.MaxResult+1000 || !strings.HasPrefix(seen, "begin") || !strings.HasSuffix(seen, "end") {
		t.Errorf("the model saw %d bytes: %.60q … %q", len(seen), seen, seen[len(seen)-20:])
	}
	result := find[*event.ToolReplied](w.events(l.UUID))[0].Content
	whole, err := w.store().Blob(l.UUID, result.Blob)
	if err != nil || string(whole) != hugeText() {
		t.Errorf("the blob holds %d bytes (%v), want %d", len(whole), err, len(hugeText()))
	}
	w.agent(0, "verify")
	if size := len(w.lines("completed", l.UUID)); size < 10 {
		t.Errorf("%d lines", size)
	}
	for _, name := range projections.FileNames(l.UUID) {
		if info, err := os.Stat(w.path("contexts", "completed", l.UUID, name)); err == nil && info.Size() > 1<<20 {
			t.Errorf("%s has %d bytes", name, info.Size())
		}
	}
}
