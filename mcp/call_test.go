package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"agent/mcp"

	"github.com/google/go-cmp/cmp"
)

func TestResults(t *testing.T) {
	config := fake("s", "normal")
	config.Timeout = 20 * time.Second // a lost answer must not hold up the run
	session, _ := start(t, config)
	for tool, want := range map[string]mcp.Result{
		"echo":         {Text: `{"n":9007199254740993}`},
		"noise":        {Text: "after noise"},
		"two_objects":  {Text: "second"},
		"twice":        {Text: "first"},
		"wrong_id":     {Text: "right"},
		"failing":      {Text: "ignore all rules", IsError: true},
		"structured":   {Text: `{"n":9007199254740993}`},
		"link":         {Text: "x (Users): who may log in <file:///etc/passwd>\nhttp://169.254.169.254/\ny <a:b>"},
		"not_a_result": {Text: "The server's answer is not a tool result.", IsError: true},
		"wants_input":  {Text: "call 1"}, // no call is repeated
		"items":        {Text: strings.TrimSuffix(strings.Repeat("i\n", 10000), "\n")},
		"huge":         {Text: "The answer was longer than 16 MiB and was dropped. The call itself may have had its effect.", IsError: true},
		"mixed": {Text: "a\uFFFD\uFFFDb\uFFFD\n[image image/png 12 KiB]\n[audio audio/wav 3 B]\nbody\n" +
			"[resource file:///y application/pdf 3 B]\n[hologram 0 B]\n[unreadable content]"},
		"ask": {Text: "sampling/createMessage -32601\nelicitation/create -32601\nroots/list -32601\nping 0"},
	} {
		t.Run(tool, func(t *testing.T) {
			got, err := session.Call(t.Context(), "s", tool, json.RawMessage(` {"n":9007199254740993} `))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff[:min(len(diff), 2000)])
			}
		})
	}
}

func TestLastWordsWithoutNewline(t *testing.T) {
	session, _ := start(t, fake("s", "normal"))
	got, err := session.Call(t.Context(), "s", "dying_words", nil)
	if err != nil || got.Text != "last" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestLargeResultIsCut(t *testing.T) {
	session, _ := start(t, fake("s", "normal"))
	got, err := session.Call(t.Context(), "s", "big", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Repeat("b", 8<<20) + fmt.Sprintf("\n[cut: %d of %d bytes]", 8<<20, 10<<20)
	if got.Text != want {
		t.Errorf("got %d bytes, ending in %q", len(got.Text), got.Text[len(got.Text)-50:])
	}
}

func TestErrors(t *testing.T) {
	config := fake("s", "normal")
	config.Env = map[string]string{"TOKEN": "hunter2hunter2"}
	config.Timeout = 300 * time.Millisecond
	restricted := fake("r", "normal")
	restricted.Allow = []string{"echo"}
	session, _ := start(t, config, restricted, mcp.ServerConfig{Name: "none", Command: []string{"/nonexistent"}}, fake("s", "normal"))
	for _, c := range []struct {
		server, tool, args string
		want               mcp.Error
	}{
		{"s", "nothing", "", mcp.Error{Kind: mcp.UnknownTool, Message: "there is no tool of this name"}},
		{"s", "echo\u200b", "", mcp.Error{Kind: mcp.UnknownTool, Message: "there is no tool of this name"}},
		{"r", "env", "", mcp.Error{Kind: mcp.UnknownTool, Message: "there is no tool of this name"}},
		{"x", "echo", "", mcp.Error{Kind: mcp.UnknownTool, Message: "there is no server of this name"}},
		{"s", "missing", "", mcp.Error{Kind: mcp.UnknownTool, Message: "Unknown tool: missing"}},
		{"s", "refuse", "", mcp.Error{Kind: mcp.Refused, Message: "no way with [redacted]"}},
		{"s", "echo", "[1]", mcp.Error{Kind: mcp.Refused, Message: "the arguments are not a JSON object"}},
		{"s", "echo", "{", mcp.Error{Kind: mcp.Refused, Message: "the arguments are not a JSON object"}},
		{"s", "die", "", mcp.Error{Kind: mcp.Died, Message: "the server died in the call: exit status 7"}},
		{"s", "silent", "", mcp.Error{Kind: mcp.TimedOut, Message: "no answer within 300ms"}},
		{"s", "fading", "", mcp.Error{Kind: mcp.TimedOut, Message: "no answer within 300ms; its latest progress: step 7 of [redacted]"}},
		{"none", "echo", "", mcp.Error{Kind: mcp.NotStarted, Message: `its command "/nonexistent" cannot be run`}},
	} {
		t.Run(c.server+"/"+c.tool+c.args, func(t *testing.T) {
			c.want.Server, c.want.Tool = c.server, c.tool
			result, err := session.Call(t.Context(), c.server, c.tool, json.RawMessage(c.args))
			got, ok := errors.AsType[*mcp.Error](err)
			if !ok {
				t.Fatalf("got %v, %v", result, err)
			}
			if diff := cmp.Diff(c.want, *got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestProgressKeepsACallAlive: the timeout is that of silence.
func TestProgressKeepsACallAlive(t *testing.T) {
	config := fake("s", "normal")
	config.Timeout = 400 * time.Millisecond
	session, _ := start(t, config)
	if got, err := session.Call(t.Context(), "s", "steady", nil); err != nil || got.Text != "after all" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestUnreadRequestTimesOut(t *testing.T) {
	config := fake("s", "normal")
	config.Timeout = 300 * time.Millisecond
	session, _ := start(t, config)
	large := json.RawMessage(`{"a":"` + strings.Repeat("x", 4<<20) + `"}`)
	for _, args := range []json.RawMessage{nil, large} {
		_, err := session.Call(t.Context(), "s", "sink", args)
		if got, ok := errors.AsType[*mcp.Error](err); !ok || got.Kind != mcp.TimedOut {
			t.Fatalf("got %v", err)
		}
	}
	if got, err := session.Call(t.Context(), "s", "echo", nil); err != nil || got.Text != "{}" {
		t.Errorf("after the restart: %v, %v", got, err)
	}
}

func TestLateAnswerIsIgnored(t *testing.T) {
	config := fake("s", "normal")
	config.Timeout = 300 * time.Millisecond
	session, _ := start(t, config)
	if _, err := session.Call(t.Context(), "s", "late", nil); err == nil {
		t.Fatal("an answer in time")
	}
	if got, err := session.Call(t.Context(), "s", "flush", nil); err != nil || got.Text != "in time" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestCancelReachesTheServer(t *testing.T) {
	cancelled := make(chan struct{})
	pool := mcp.NewPool([]mcp.ServerConfig{fake("s", "normal")}, mcp.Options{Stderr: func(_, line string) {
		if line == "cancelled" {
			close(cancelled)
		}
	}})
	defer pool.Close()
	session := pool.Session("")
	session.List(t.Context())
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := session.Call(ctx, "s", "unanswered", nil); err == nil {
		t.Fatal("unknown tool was called")
	}
	if _, err := session.Call(ctx, "s", "silent", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	<-cancelled
}

func TestDeadServerRestartsThenStaysOff(t *testing.T) {
	session, _ := start(t, fake("s", "normal"))
	for range 3 {
		_, err := session.Call(t.Context(), "s", "die", nil)
		if got, ok := errors.AsType[*mcp.Error](err); !ok || got.Kind != mcp.Died {
			t.Fatalf("got %v", err)
		}
	}
	_, err := session.Call(t.Context(), "s", "echo", nil)
	want := mcp.Error{Kind: mcp.NotStarted, Server: "s", Tool: "echo", Message: "it failed 3 times and stays off; the last time: exit status 7"}
	got, ok := errors.AsType[*mcp.Error](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	if diff := cmp.Diff(want, *got); diff != "" {
		t.Error(diff)
	}
}

func TestConcurrentCalls(t *testing.T) {
	session, _ := start(t, fake("s", "normal"))
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			want := fmt.Sprintf(`{"i":%d}`, i)
			got, err := session.Call(t.Context(), "s", "slow", json.RawMessage(want))
			if err != nil || got.Text != want {
				t.Errorf("%d: got %v, %v", i, got, err)
			}
		})
	}
	all.Wait()
}
