package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"agent/llm/llmtest"
)

// memory resumes a context with a short log and one with a long log. The agent
// writes them itself, in the same way, and is killed when they are long enough.
func (b *bench) memory() error {
	short, err := b.resume(1 << 20)
	if err != nil {
		return err
	}
	long, err := b.resume(b.log)
	if err != nil {
		return err
	}
	b.title("memory of a resumed run: a log of %.0f MiB beside one of %.0f MiB", long.size, short.size)
	b.figure("peak with the short log", short.peak, "MiB")
	b.figure("peak with the long log", long.peak, "MiB")
	b.most("long / short", long.peak/short.peak, "times", 1.2)
	b.figure("start to the first request, short log", short.first, "ms")
	b.figure("start to the first request, long log", long.first, "ms")
	return nil
}

type resumed struct{ size, peak, first float64 } // MiB, MiB, ms

// thoughts fill a log without filling the window: the reasoning of a model is
// kept, but not sent again.
var thoughts = strings.Repeat("Let me think about the notes once more. ", 5000)

// resume lets a run fill a log of size bytes, kills it, and takes it up again for 20 steps.
func (b *bench) resume(size int64) (r resumed, err error) {
	const more = 20
	var w *scene
	killed, left, full := false, more, make(chan struct{})
	var start time.Time
	w = b.newScene(func(n int, q llmtest.Request) llmtest.Reply {
		switch {
		case len(q.Tools) == 0:
			return llmtest.Text("The notes were read.")
		case !killed:
			if info, err := os.Stat(w.logFile()); err == nil && info.Size() >= size {
				close(full)
				killed = true
				return llmtest.Reply{Hang: true}
			}
			reply := readNote(n)
			reply.Reasoning = thoughts
			return reply
		case left == 0:
			r.peak = w.peak()
			return llmtest.Text("I have read the notes.")
		case left == more: // what came before only asked whether the server is there
			r.first = time.Since(start).Seconds() * 1000
		}
		left--
		return readNote(n)
	}, ", context_length: 32768")
	defer w.close()
	if err := w.fill(full); err != nil {
		return r, err
	}
	info, err := os.Stat(w.logFile())
	if err != nil {
		return r, err
	}
	r.size = float64(info.Size()) / (1 << 20)
	start = time.Now()
	return r, finish(w.start())
}

// fill lets the agent work until the log is full, and kills it.
func (w *scene) fill(full <-chan struct{}) error {
	cmd := w.start()
	ended := make(chan error, 1)
	go func() { ended <- finish(cmd) }()
	select {
	case err := <-ended:
		return fmt.Errorf("ended before the log was full: %w", err)
	case <-full:
	}
	must(cmd.Process.Kill())
	<-ended
	return nil
}
