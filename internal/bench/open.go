package main

import (
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/handlers/engine"
	"agent/internal/redact"
)

// opens measures how long it takes to take up a context whose process was killed: to fold
// its log, and to make its projection files whole.
func (b *bench) opens() error {
	const repeats = 3
	for _, size := range []int64{1 << 20, b.log} {
		store, done := openStore(filepath.Join(b.dir, fmt.Sprint("open", size)))
		killedLog(store, size)
		var times, worked []float64
		for range repeats {
			start, before := time.Now(), cpu()
			e, err := engine.Open(engine.Ports{Store: store, Redact: redact.New(nil), Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: time.Now}, uuid(1))
			if err != nil {
				return err
			}
			times = append(times, time.Since(start).Seconds()*1000)
			worked = append(worked, (cpu()-before).Seconds()*1000)
			must(e.Close())
		}
		b.title("a log of %d MiB is opened after a kill", size>>20)
		b.figure("median", median(times), "ms")
		b.figure("processor time", median(worked), "ms")
		must(done())
	}
	return nil
}

// killedLog makes the log of a run that was killed in the middle of it: most of it is what
// models thought and what servers answered, as in section memory.
func killedLog(store *contexts.Store, size int64) {
	c, err := store.Create(&event.ContextCreated{Format: event.Format, UUID: uuid(1), TaskKey: taskKey(1), Forge: "github.com",
		Kind: "github_issue", Title: "Read the notes", Trigger: "label"}, longAgo)
	must(err)
	at := longAgo
	add := func(cause uint64, body event.Body) uint64 {
		at = at.Add(time.Second)
		ev, err := c.Append(event.Event{Time: at, Cause: cause, Body: body})
		must(err)
		return ev.Seq
	}
	add(0, &event.ProcessStarted{Version: "bench"})
	add(0, &event.ConfigPinned{Provider: "openai", Model: "scripted", ContextLength: 32768, Protocol: "tools"})
	text, written := prose(4<<20), int64(0)
	for n := 0; written < size; n++ {
		some := text[n*1024%(2<<20):]
		call := event.ToolCall{ID: fmt.Sprint(n), Name: "workspace__read_file", Args: event.T(`{"path":"notes.txt"}`)}
		asked := add(0, &event.LLMRequested{Purpose: "work", Protocol: "tools", Model: "scripted"})
		reply := &event.LLMReplied{Text: event.T(some[:300]), Reasoning: event.T(some[:200<<10]), Calls: []event.ToolCall{call}, Finish: "tool_calls", Raw: event.T(`{"choices":[{"message":{"content":"` + some[:200<<10] + `"}}]}`)}
		written += 400 << 10
		replied := add(asked, reply)
		called := add(0, &event.ToolRequested{Reply: replied, CallID: call.ID, Server: "workspace", Tool: "read_file", Args: call.Args, Again: true})
		add(called, &event.ToolReplied{Content: event.T(some[:1000])})
	}
	must(c.Close())
}
