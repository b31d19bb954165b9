package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"agent/eventlog/event"
	"agent/llm/llmtest"
)

// A person asks four things of a run: which call failed, what it printed, what the
// model was told, and what was sent. Each has one command.
func TestInspect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, llmtest.Turns(
		llmtest.ToolCall("workspace__read_file", map[string]any{"path": "missing.txt"}),
		command("sh", "-c", "printf '\\033[31mred\\n' > made; seq 4000 >> made"),
		llmtest.ToolCall("workspace__read_file", map[string]any{"path": "made"}),
		llmtest.Done("Nothing to do.")))
	w.inPlace()
	w.agent(0, "run")
	uuid := w.only().UUID
	events := w.events(uuid)
	seqOf := func(kind string, n int) uint64 {
		for _, ev := range events {
			if ev.Body.Type() == kind {
				if n--; n < 0 {
					return ev.Seq
				}
			}
		}
		t.Fatalf("no %s", kind)
		return 0
	}
	inspect := func(args ...string) string {
		out, _ := w.agent(0, append([]string{"inspect", uuid}, args...)...)
		return out
	}

	list := inspect()
	for _, want := range []string{"Greet the world", "completed", "model calls: 5 (summaries: 1)", "── "} {
		if !strings.Contains(list, want) {
			t.Errorf("the list lacks %q:\n%s", want, list)
		}
	}
	failed, output := seqOf("tool.requested", 0), seqOf("tool.replied", 2)
	whole := inspect(fmt.Sprint(failed))
	for _, want := range []string{"tool.requested", "missing.txt", "tool.replied", "is_error: true"} {
		if !strings.Contains(whole, want) {
			t.Errorf("event %d lacks %q:\n%s", failed, want, whole)
		}
	}
	whole = inspect(fmt.Sprint(output))
	if !strings.Contains(whole, "\n    3001\t3000\n") || !strings.Contains(whole, "made") || !strings.Contains(whole, `\x1b[31mred`) || strings.Contains(whole, "\x1b") {
		t.Errorf("event %d is not whole, or acts on a terminal:\n%s", output, tail(whole))
	}
	if out := inspect("--type", "tool.*", "--grep", "missing"); strings.Count(out, "tool.requested") != 1 || strings.Contains(out, "llm.") {
		t.Errorf("filtered:\n%s", out)
	}
	talk := inspect("--conversation")
	for _, want := range []string{"system", "Greet the world", "→ workspace__read_file", "tool · workspace/read_file failed", "Nothing to do."} {
		if !strings.Contains(talk, want) {
			t.Errorf("the conversation lacks %q", want)
		}
	}
	w.wantRequests(uuid, events)
	w.agent(2, "inspect", uuid, "100000")
	w.agent(2, "inspect", uuid, "x")
	w.agent(2, "inspect", uuid, "--request", "100000")
	w.agent(2, "inspect", uuid, "--request", "1")
	w.agent(2, "inspect", uuid, "--since", "yesterday")
	w.agent(2, "inspect", uuid, "--grep", "(")
}

// wantRequests wants each request back with the bytes that were sent.
func (w *world) wantRequests(uuid string, events []event.Event) {
	w.t.Helper()
	for _, ev := range events {
		asked, ok := ev.Body.(*event.LLMRequested)
		if !ok {
			continue
		}
		out, _ := w.agent(0, "inspect", uuid, "--json", "--request", fmt.Sprint(ev.Seq))
		body := strings.TrimSuffix(out, "\n")
		if sum := sha256.Sum256([]byte(body)); hex.EncodeToString(sum[:]) != asked.SHA256 || !json.Valid([]byte(body)) {
			w.t.Errorf("request %d is not the one that was sent", ev.Seq)
		}
	}
}

// A log is followed while another process writes it, and to its end.
func TestInspectFollows(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	turns := llmtest.Turns(command("true"), llmtest.Done("Done."))
	w := newWorld(t, func(n int, r llmtest.Request) llmtest.Reply {
		if n > 0 {
			<-gate
		}
		return turns(n, r)
	})
	w.inPlace()
	run := w.start("run")
	w.awaitCalls(2)
	out, ended := &lockedBuffer{}, make(chan int)
	uuid := w.only().UUID
	go func() {
		ended <- execute(context.Background(), []string{"inspect", uuid, "-f", "--json", "--config", w.path("config.yaml")}, os.Getenv, out, out)
	}()
	w.until("the follower prints", func() bool { return strings.Count(out.String(), `"llm.requested"`) == 2 })
	close(gate)
	if code := run.wait(); code != 0 {
		t.Fatalf("run: exit %d\n%s", code, run.err.String())
	}
	if code := <-ended; code != 0 || !strings.Contains(out.String(), "context.completed") {
		t.Errorf("inspect -f: exit %d\n%s", code, tail(out.String()))
	}
}

type lockedBuffer struct {
	sync.Mutex
	b bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.Lock()
	defer l.Unlock()
	return l.b.String()
}
