package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/exhaustive"
	"agent/internal/fsx"
)

// A log that does not fit into the memory is looked at as fast as a short one: the
// first screen comes at once, and the memory is bounded. Whole it is one of 1 GiB; the
// times are for people to read.
func TestHugeLog(t *testing.T) {
	exhaustive.Slow(t)
	size := int64(24 << 20)
	if exhaustive.On() {
		size = 1 << 30
	}
	dir, uuid := hugeLog(t, size)
	late := fmt.Sprint(3 + size/hugeOutput)
	for _, args := range [][]string{
		{}, {"--full"}, {"--json"}, {"--conversation"}, {"--since", "1h"}, {"--type", "llm.replied"}, {"--type", "tool"}, {"--grep", "step 5"},
		{"--failed"}, {"--costs"}, {"--costs", "--json"}, {late},
	} {
		first, whole, memory := firstScreen(t, dir, append([]string{"inspect", uuid}, args...))
		t.Logf("inspect %-20s first line %4d ms, first screen %4d ms, %d MiB", strings.Join(args, " "), first.Milliseconds(), whole.Milliseconds(), memory>>20)
		if memory > 160<<20 {
			t.Errorf("inspect %v takes %d MiB for a log of %d MiB", args, memory>>20, size>>20)
		}
	}
}

const hugeOutput = 40 << 10 // bytes of each tool output

func hugeLog(t *testing.T, size int64) (dir, uuid string) {
	t.Helper()
	dir, uuid = t.TempDir(), "44440000-0000-4000-8000-000000000004"
	fsys, err := fsx.OpenOS(filepath.Join(dir, "contexts"))
	must(t, err)
	store, err := contexts.Open(fsys, contexts.Options{})
	must(t, err)
	c, err := store.Create(&event.ContextCreated{Format: event.Format, UUID: uuid, TaskKey: "github.com/o/r/issues/4", Forge: "github.com", Kind: "github_issue",
		Title: "Much to do", User: "alice", Trigger: "label"}, time.Now())
	must(t, err)
	add := func(b event.Body, cause uint64) uint64 {
		ev, err := c.Append(event.Event{Time: time.Now(), Body: b, Cause: cause})
		must(t, err)
		return ev.Seq
	}
	add(&event.ProcessStarted{Version: "1"}, 0)
	add(&event.MessageAdded{Role: "user", Purpose: event.TaskMessage, Content: event.T("Do much.")}, 0)
	output := strings.Repeat("A line of the output of a command.\n", hugeOutput/35)
	for n := 0; int64(n)*hugeOutput < size; n++ {
		asked := add(&event.LLMRequested{Purpose: "work"}, 0)
		add(&event.LLMReplied{Text: event.T(fmt.Sprintf("I do step %d.", n)), Finish: "tool_calls"}, asked)
		call := add(&event.ToolRequested{Server: "workspace", Tool: "run_command", Args: event.T(`{"command":"make"}`)}, 0)
		add(&event.ToolReplied{Content: event.T(fmt.Sprintf("exit code: %d\n%s", n%50/49, output))}, call)
	}
	must(t, c.Close())
	return dir, uuid
}

// firstScreen runs a command and measures when its first line and its first 40 lines are
// there, and how much memory it took until then.
func firstScreen(t *testing.T, dir string, args []string) (first, screen time.Duration, memory int64) {
	t.Helper()
	cmd := exec.Command(agentPath(t), append(args, "--contexts", filepath.Join(dir, "contexts"))...)
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	out, err := cmd.StdoutPipe()
	must(t, err)
	begin := time.Now()
	must(t, cmd.Start())
	lines := bufio.NewReader(out)
	for n := range 40 {
		if _, err := lines.ReadString('\n'); err != nil {
			if err != io.EOF {
				t.Error(err)
			}
			break
		}
		if screen = time.Since(begin); n == 0 {
			first = screen
		}
	}
	must(t, out.Close()) // as a pager that is left
	_ = cmd.Wait()
	return first, screen, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
}
