package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

var errMoving = errors.New("sandbox: the processes could not be stopped")

// thread is what is known of one thread at one moment.
type thread struct {
	pid, tid int
	began    string // when it started, which tells it from a later one of the same number
	state    byte   // as /proc has it: T is stopped, Z is dead
	switches string // how often it was scheduled: the same number means that it has not run
}

func (t thread) stopped() bool { return strings.IndexByte("TtZX", t.state) >= 0 }

// snapshot is the threads of all descendants of a process, by thread id.
type snapshot map[int]thread

// Freeze stops all descendants of a process, not itself, and returns when none
// of them runs; thaw lets them go on. After limit it lets them run and fails.
//
// A process that runs can let stopped ones go on, and stop itself before it is
// looked at. So two snapshots in a row must agree, in which every thread is stopped
// and none was scheduled in between: then there was a moment between the two in
// which all were stopped at once, and nobody was left to end that.
func Freeze(root int, limit time.Duration) (thaw func(), err error) {
	var before snapshot
	for end, round := time.Now().Add(limit), 1; ; round++ {
		now := descendants(root)
		if now.allStopped() && maps.Equal(before, now) {
			return now.resume, nil
		}
		if time.Now().After(end) {
			now.resume()
			return nil, errMoving
		}
		if round%50 == 0 { // a parent waits for its child to start a program, and the child was stopped
			now.resume()
			time.Sleep(5 * time.Millisecond)
		}
		now.stop()
		before = now
		time.Sleep(200 * time.Microsecond)
	}
}

func (s snapshot) allStopped() bool {
	for _, t := range s {
		if !t.stopped() {
			return false
		}
	}
	return true
}

func (s snapshot) stop() {
	for _, t := range s {
		if !t.stopped() {
			_ = syscall.Kill(t.pid, syscall.SIGSTOP)
		}
	}
}

func (s snapshot) resume() {
	for _, t := range s {
		if t.tid == t.pid && processAt(t.pid).began == t.began {
			_ = syscall.Kill(t.pid, syscall.SIGCONT)
		}
	}
}

type process struct {
	parent int
	began  string
}

// descendants looks through all processes, since one whose parent has died has
// another parent.
func descendants(root int) snapshot {
	all := map[int]process{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			all[pid] = processAt(pid)
		}
	}
	found := snapshot{}
	for pid, p := range all {
		for up := p.parent; up > 0; up = all[up].parent {
			if up == root {
				found.add(pid, p.began)
				break
			}
		}
	}
	return found
}

// processAt reads the parent and the start time from /proc/PID/stat; zero values if it is gone.
func processAt(pid int) (p process) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // the name may hold anything
	if len(fields) > 19 {
		p.parent, _ = strconv.Atoi(fields[1])
		p.began = fields[19]
	}
	return p
}

// add reads the threads of a process.
func (s snapshot) add(pid int, began string) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		t := thread{pid: pid, began: began}
		t.tid, _ = strconv.Atoi(filepath.Base(filepath.Dir(name)))
		for line := range strings.Lines(string(text)) {
			key, value, _ := strings.Cut(line, ":")
			switch value = strings.TrimSpace(value); {
			case key == "State" && value != "":
				t.state = value[0]
			case strings.HasSuffix(key, "voluntary_ctxt_switches"): // both kinds
				t.switches += value + " "
			}
		}
		s[t.tid] = t
	}
}
