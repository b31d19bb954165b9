package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/exhaustive"
	"agent/internal/fsx"
)

// press types keys and waits until the terminal shows a text since then.
func (p *onTerminal) press(keys, want string) {
	p.w.t.Helper()
	seen := len(p.shown.String())
	if keys == "" {
		seen = 0 // it may be there already
	}
	if _, err := p.terminal.WriteString(keys); err != nil {
		p.w.t.Fatal(err)
	}
	p.w.until(fmt.Sprintf("after %q the terminal shows %q", keys, want), func() bool { return strings.Contains(p.shown.String()[seen:], want) })
}

// The first screen of a hundred thousand contexts and of a log of 1 GiB comes at once, and
// memory is bounded. The times are for people to read; docs/performance.md has them.
func TestBrowserIsQuick(t *testing.T) {
	n := exhaustive.Of(300, 100_000)
	w := emptyWorld(t, greet())
	fsys, err := fsx.OpenOS(w.path("contexts"))
	must(t, err)
	store, err := contexts.Open(fsys, contexts.Options{})
	must(t, err)
	for i := range n {
		c, err := store.Create(&event.ContextCreated{Format: event.Format, UUID: fmt.Sprintf("%08d-0000-4000-8000-000000000001", i), TaskKey: fmt.Sprintf("github.com/o/r/issues/%d", i),
			Forge: "github.com", Kind: "github_issue", Title: "A title of some length"}, time.Now())
		must(t, err)
		_, err = c.Append(event.Event{Time: time.Now(), Body: &event.ContextCompleted{Reason: "done"}})
		must(t, err)
		must(t, c.Relocate())
		must(t, c.Close())
	}
	w.quick(fmt.Sprintf("%d contexts", n), "A title of", "ui")
	size := int64(exhaustive.Of(24<<20, 1<<30))
	dir, uuid := hugeLog(t, size)
	w.quick(fmt.Sprintf("a log of %d MiB", size>>20), "run_command", "ui", uuid, "--contexts", dir+"/contexts")
}

// quick starts the browser, measures its first screen, scrolls, and looks at its memory.
func (w *world) quick(what, want string, args ...string) {
	w.t.Helper()
	begin := time.Now()
	p := w.startOnTerminal(80, args...)
	for !strings.Contains(p.shown.String(), want) && time.Since(begin) < patience {
		time.Sleep(time.Millisecond)
	}
	w.t.Logf("%s: first screen %d ms", what, time.Since(begin).Milliseconds())
	p.press("", want)
	for range 50 {
		_, _ = p.terminal.WriteString("\x1b[5~\x1b[5~k") // page up, and to earlier windows
		time.Sleep(5 * time.Millisecond)
	}
	_, _ = p.terminal.WriteString("q")
	time.Sleep(100 * time.Millisecond)
	_, _ = p.terminal.WriteString("q")
	if code, _ := p.end(); code != 0 {
		w.t.Errorf("exit %d", code)
	}
	memory := p.cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	w.t.Logf("%s: %d MiB", what, memory>>20)
	if memory > 320<<20 {
		w.t.Errorf("%s: %d MiB", what, memory>>20)
	}
}
