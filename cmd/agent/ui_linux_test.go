package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"agent/contexts"
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

// The first screens of a hundred thousand contexts and of a log of 1 GiB come at once, on a
// terminal and as pages, and memory is bounded. Most of the contexts are in the index alone,
// for it is the index that lists are made from. The times are for people to read;
// docs/performance.md has them.
func TestBrowserIsQuick(t *testing.T) {
	n := exhaustive.Of(300, 100_000)
	w := emptyWorld(t, greet())
	fsys, err := fsx.OpenOS(w.path("contexts"))
	must(t, err)
	store, err := contexts.Open(fsys, contexts.Options{})
	must(t, err)
	begin := time.Now()
	must(t, store.SeedIndex(func(yield func(contexts.Info) bool) {
		for i := range n {
			at := begin.Add(-time.Duration(i) * time.Minute)
			if !yield(contexts.Info{UUID: fmt.Sprintf("%08d-0000-4000-8000-000000000001", i), TaskKey: fmt.Sprintf("github.com/o/r%d/issues/%d", i%40, i), Title: "A title of some length",
				State: contexts.StateCompleted, Created: at, Updated: at, Ended: at, LLMCalls: 12, Tokens: 41_234, CostUSD: 0.12}) {
				return
			}
		}
	}))
	w.quick(fmt.Sprintf("%d contexts", n), "A title of", "ui")
	w.quickPages(fmt.Sprintf("%d contexts", n), nil, map[string]string{"/": "A title of", "/stats": "<table"})
	size := int64(exhaustive.Of(24<<20, 1<<30))
	dir, uuid := hugeLog(t, size)
	what := fmt.Sprintf("a log of %d MiB", size>>20)
	at := []string{"--contexts", dir + "/contexts"}
	w.quick(what, "run_command", append([]string{"ui", uuid}, at...)...)
	w.quick(what+", the list", "Much to do", append([]string{"ui"}, at...)...)
	w.quickPages(what, at, map[string]string{"/": "Much to do", "/c/" + uuid: "run_command", "/c/" + uuid + "/e/7": "A line of the output"})
}

// quickPages starts the server for each page anew, and measures from there to the whole page.
// Then it goes through pages of the log, and looks at the memory.
func (w *world) quickPages(what string, args []string, pages map[string]string) {
	w.t.Helper()
	for path, want := range pages {
		begin := time.Now()
		cmd := exec.Command(agentPath(w.t), append([]string{"ui", "--serve", "127.0.0.1:0", "--config", w.configure()}, args...)...)
		cmd.Dir, cmd.Env = w.dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "LANG=C.UTF-8"}
		out, err := cmd.StdoutPipe()
		must(w.t, err)
		must(w.t, cmd.Start())
		w.t.Cleanup(func() { _ = cmd.Process.Kill() })
		line, err := bufio.NewReader(out).ReadString('\n')
		must(w.t, err)
		address := strings.TrimSuffix(regexp.MustCompile(`http://[^ ]+`).FindString(line), "/")
		body := w.page(address + path)
		took, worked := time.Since(begin), w.usedBy(cmd.Process.Pid)
		if !strings.Contains(body, want) && !strings.Contains(body, "Adding up") {
			w.t.Errorf("%s, %s lacks %q: %.300s", what, path, want, body)
		}
		if strings.HasPrefix(path, "/c/") {
			for until := range 20 {
				w.page(fmt.Sprintf("%s%s?until=%d", address, path, 100*until+10))
			}
		}
		w.bounded(what+", "+path, cmd.Process.Pid)
		must(w.t, cmd.Process.Signal(syscall.SIGINT))
		_ = cmd.Wait() // by the signal
		w.t.Logf("%s, page %s: %d ms from the start of the server, processor time %d ms", what, path, took.Milliseconds(), worked.Milliseconds())
	}
}

// page gets a page.
func (w *world) page(address string) string {
	w.t.Helper()
	answer, err := http.Get(address)
	must(w.t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	must(w.t, err)
	if answer.StatusCode != http.StatusOK {
		w.t.Errorf("%s: %d %.200s", address, answer.StatusCode, body)
	}
	return string(body)
}

// quick starts the browser, measures its first screen, scrolls, and looks at its memory.
func (w *world) quick(what, want string, args ...string) {
	w.t.Helper()
	begin := time.Now()
	p := w.startOnTerminal(80, args...)
	for !strings.Contains(p.shown.String(), want) && time.Since(begin) < patience {
		time.Sleep(time.Millisecond)
	}
	w.t.Logf("%s: first screen %d ms, processor time %d ms", what, time.Since(begin).Milliseconds(), w.usedBy(p.cmd.Process.Pid).Milliseconds())
	p.press("", want)
	for range 50 {
		_, _ = p.terminal.WriteString("\x1b[5~\x1b[5~k") // page up, and to earlier windows
		time.Sleep(5 * time.Millisecond)
	}
	w.bounded(what, p.cmd.Process.Pid)
	_, _ = p.terminal.WriteString("q")
	time.Sleep(100 * time.Millisecond)
	_, _ = p.terminal.WriteString("q")
	if code, _ := p.end(); code != 0 {
		w.t.Errorf("exit %d", code)
	}
}

// usedBy is what a process has used of the processors so far. Unlike the clock it does
// not count what others do meanwhile.
func (w *world) usedBy(pid int) (sum time.Duration) {
	w.t.Helper()
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, name := range threads {
		var ns int64
		if data, err := os.ReadFile(name); err == nil { // a thread may have ended
			_, _ = fmt.Sscan(string(data), &ns)
			sum += time.Duration(ns)
		}
	}
	return sum
}

// bounded looks at the most memory that a process had. What getrusage says of it counts the
// process that started it, too.
func (w *world) bounded(what string, pid int) {
	w.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	must(w.t, err)
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	var kib int
	_, err = fmt.Sscan(peak, &kib)
	must(w.t, err)
	w.t.Logf("%s: %d MiB", what, kib>>10)
	if kib > 320<<10 {
		w.t.Errorf("%s: %d MiB", what, kib>>10)
	}
}
