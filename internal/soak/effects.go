package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// stopIn stops a process when the last line of a log that it works on is one of these
// intents: the effect is still to come, or on its way. false: there was none in time.
func (s *soak) stopIn(p *process, kinds []string) bool {
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); {
		for _, log := range openLogs(p.cmd.Process.Pid) {
			if stopAt(p, log, kinds) {
				return true
			}
		}
		if !s.pause(10 * time.Millisecond) {
			return false
		}
	}
	return false
}

// stopAt looks at one log for a moment.
func stopAt(p *process, path string, kinds []string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	for range 100 {
		if slices.Contains(kinds, lastType(f)) {
			_ = p.cmd.Process.Signal(syscall.SIGSTOP)
			if slices.Contains(kinds, lastType(f)) {
				return true
			}
			_ = p.cmd.Process.Signal(syscall.SIGCONT)
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

// openLogs are the logs that a process holds open: those of the contexts that it works on.
func openLogs(pid int) (all []string) {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	open, _ := os.ReadDir(dir)
	for _, fd := range open {
		path := filepath.Join(dir, fd.Name())
		to, err := os.Readlink(path)
		if err == nil && strings.HasSuffix(to, "/events.jsonl") && strings.Contains(to, "/running/") {
			all = append(all, path)
		}
	}
	return all
}

// lastType is the type of the last event of a log, "" if its line is not whole.
func lastType(f *os.File) string {
	const most = 16 << 10
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	text := make([]byte, min(size, most))
	if _, err := f.ReadAt(text, size-int64(len(text))); err != nil {
		return ""
	}
	lines := bytes.Split(text, []byte("\n"))
	if len(lines) < 2 || len(lines[len(lines)-1]) > 0 {
		return ""
	}
	var line struct{ Type string }
	_ = json.Unmarshal(lines[len(lines)-2], &line)
	return line.Type
}
