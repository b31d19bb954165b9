package workspace_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"agent/internal/exhaustive"
	"agent/internal/sandbox"
	"agent/mcp"
)

// survivors are shell scripts that leave processes behind, each in a way of its
// own. "$1" is a word that their command lines hold. Each ends when what it leaves
// has left its process group.
var survivors = map[string]string{
	"double fork": `(setsid sh -c ': >up; while :; do sleep 0.01; done' "$1" </dev/null >/dev/null 2>&1 &)`,
	"holds pipe":  `(setsid sh -c ': >up; trap "" TERM HUP INT; while :; do sleep 1; done' "$1" &)`,
	"swapper":     `mkdir -p d; (setsid sh -c ': >up; while :; do mv d e; ln -s / d; rm d; mv e d; done' "$1" >/dev/null 2>&1 &)`,
	"hops":        `printf '%s' ': >up; setsid sh hop "$1" & exit' >hop; (setsid sh hop "$1" >/dev/null 2>&1 &)`,
	"spreads":     `printf '%s' 'for i in 1 2 3; do setsid sh -c "sleep 60" "$1" & done; : >up; sh -c "sleep 50" "$1"' >many; (setsid sh many "$1" >/dev/null 2>&1 &)`,
}

const untilUp = `; while ! test -e up; do :; done; rm up; exit 0`

// running lists the processes of this machine whose command line holds a word. It
// reads the newest first: some live for a millisecond.
func running(t *testing.T, word string) (pids []int) {
	t.Helper()
	proc, err := os.Open("/proc")
	if err != nil {
		t.Fatal(err)
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		t.Fatal(err)
	}
	var all []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			all = append(all, pid)
		}
	}
	slices.Sort(all)
	for _, pid := range slices.Backward(all) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.Contains(string(line), word) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// leave runs a script and returns what runs after its call.
func leave(t *testing.T, session *mcp.Session, script, word string) []int {
	t.Helper()
	raw, _ := json.Marshal(map[string]any{"argv": []string{"sh", "-c", script + untilUp, "sh", word}})
	result, err := session.Call(t.Context(), "workspace", "run_command", raw)
	if err != nil || result.IsError || !strings.HasPrefix(result.Text, "exit code: 0\n") {
		t.Fatalf("%v %+v", err, result)
	}
	return running(t, word)
}

func sandboxModes() map[string]func(*mcp.ServerConfig) {
	return map[string]func(*mcp.ServerConfig){
		"sandbox": func(c *mcp.ServerConfig) { c.Sandbox = "required" },
		"off":     func(c *mcp.ServerConfig) { c.Sandbox = "off" },
	}
}

func TestNothingOutlivesItsCommand(t *testing.T) {
	exhaustive.Slow(t)
	houses := map[string]*house{"container": build(t, sandboxModes()["sandbox"])}
	houses["container"].contain(imageOf(t))
	for mode, change := range sandboxModes() {
		houses[mode] = build(t, change)
	}
	for mode, h := range houses {
		for name, script := range survivors {
			if mode == "off" && name == "hops" {
				continue // without a sandbox processes are killed one by one, and one can run ahead
			}
			for i := range exhaustive.Of(5, 200) {
				word := fmt.Sprintf("left-%d-%d-%s", os.Getpid(), i, mode)
				if left := leave(t, h.session, script, word); left != nil {
					t.Fatalf("%s, %s, try %d: %v live on", mode, name, i, left)
				}
			}
		}
	}
}

// TestSurvivorsAreReal shows that the scripts leave processes where nothing ends
// them, and that the end of a session does. Each has a session of its own: what
// forks without an end soon leaves no room for the others.
func TestSurvivorsAreReal(t *testing.T) {
	for name, script := range survivors {
		h := build(t, func(c *mcp.ServerConfig) {
			c.Sandbox, c.Env = "required", map[string]string{"TEST_KEEP_PROCESSES": "1"}
		})
		word := fmt.Sprintf("real-%d-%s", os.Getpid(), strings.ReplaceAll(name, " ", "-"))
		lives := leave(t, h.session, script, word) != nil
		// A process between fork and exec has no words, so one look does not tell.
		for deadline := time.Now().Add(20 * time.Second); !lives; lives = running(t, word) != nil {
			if time.Now().After(deadline) {
				t.Fatalf("%s leaves nothing, and proves nothing", name)
			}
		}
		if err := h.session.Close(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(20 * time.Second); running(t, word) != nil; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s outlives the session", name)
			}
		}
	}
}

// TestOrphansTakeNoRoom: a command may start more processes that end as orphans
// than can exist at once.
func TestOrphansTakeNoRoom(t *testing.T) {
	exhaustive.Slow(t)
	h := build(t, func(c *mcp.ServerConfig) { c.Sandbox = "required" })
	raw, _ := json.Marshal(map[string]any{"timeout_seconds": 300, "argv": []string{"sh", "-c",
		fmt.Sprintf("i=0; while [ $i -lt %d ]; do i=$((i+1)); (: &); done; echo all", sandbox.MostTasks+1000)}})
	result, err := h.session.Call(t.Context(), "workspace", "run_command", raw)
	if err != nil || result.IsError || !strings.Contains(result.Text, "all\n") {
		t.Fatalf("%v %+v", err, result)
	}
}

// TestCommandsRunOneAtATime: a second command waits, and the end of the first
// does not end it.
func TestCommandsRunOneAtATime(t *testing.T) {
	h := build(t, nil)
	results := make(chan string, 2)
	for range 2 {
		go func() {
			raw, _ := json.Marshal(map[string]any{"argv": []string{"sh", "-c", "mkdir alone && sleep 0.1 && rmdir alone"}})
			result, err := h.session.Call(h.Context(), "workspace", "run_command", raw)
			results <- fmt.Sprint(result.Text, err)
		}()
	}
	for range 2 {
		if got := <-results; took.ReplaceAllString(got, "$1") != "exit code: 0\n<nil>" {
			t.Error(got)
		}
	}
}

// moving lists the processes with a word that are neither stopped nor dead.
func moving(t *testing.T, word string) (pids []int) {
	t.Helper()
	for _, pid := range running(t, word) {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		state := string(text)[strings.LastIndex(string(text), ")")+1:]
		if state != "" && !strings.ContainsAny(state[:2], "TtZX") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestFreezeStopsWhatCommandsLeft is the second defence, with the first switched off.
func TestFreezeStopsWhatCommandsLeft(t *testing.T) {
	names := []string{"swapper"}
	if exhaustive.On() {
		names = slices.Sorted(maps.Keys(survivors))
	}
	for mode, change := range sandboxModes() {
		for _, name := range names {
			h := build(t, func(c *mcp.ServerConfig) {
				change(c)
				c.Env = map[string]string{"TEST_KEEP_PROCESSES": "1"}
			})
			word := fmt.Sprintf("frozen-%d-%s", os.Getpid(), mode)
			leave(t, h.session, survivors[name], word)
			for range exhaustive.Of(3, 50) {
				thaw, err := h.pool.Freeze(t.Context(), h.work)
				if err != nil {
					t.Fatal(mode, name, err)
				}
				if pids := append(moving(t, word), moving(t, word)...); pids != nil {
					t.Errorf("%s, %s: %v run", mode, name, pids)
				}
				thaw()
			}
			if err := h.pool.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
