package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"agent/forge/forgetest"
	"agent/internal/exhaustive"
	"agent/llm/llmtest"
)

// longer is a task of several steps, with words for a progress comment.
func longer() llmtest.Script {
	said := func(text string, r llmtest.Reply) llmtest.Reply { r.Text = text; return r }
	return llmtest.Turns(
		said("I look around.", llmtest.ToolCall("workspace__list_files", nil)),
		said("I write the file.", write("hello.txt", "hello\n")),
		said("I read it again.", llmtest.ToolCall("workspace__read_file", map[string]any{"path": "hello.txt"})),
		said("I run a check.", command("true")),
		llmtest.Text("I wrote hello.txt."))
}

// TestKill ends the agent with SIGKILL at random moments again and again. What
// people see in the end is what they see without any kill.
func TestKill(t *testing.T) {
	t.Parallel()
	kills := 15
	if exhaustive.Brief() {
		kills = 6
	}
	for seed := range uint64(exhaustive.Of(1, 3)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, longer())
			random := rand.New(rand.NewPCG(seed, 20261127))
			for range kills {
				p := w.start("run")
				time.Sleep(time.Duration(random.IntN(250)) * time.Millisecond) // the fault, not a wait for something
				p.kill()
			}
			w.agent(0, "run")
			w.wantDone(1, w.only())
			w.wantFile(false)
			w.wantOnce(1)
			w.noSecrets()
		})
	}
}

var opForm = regexp.MustCompile(`<!-- agent op=(\S+) `)

// wantOnce wants every comment of the bot once: one of progress, one final, no op twice.
func (w *world) wantOnce(number int) {
	w.t.Helper()
	seen := map[string]bool{}
	for _, c := range w.forge.Comments(testRepo, number) {
		if c.Author != testBot {
			continue
		}
		op := opForm.FindStringSubmatch(c.Body)
		if op == nil || seen[op[1]] {
			w.t.Errorf("a comment without a marker, or twice:\n%s", c.Body)
			continue
		}
		seen[op[1]] = true
	}
	if len(seen) != 2 {
		w.t.Errorf("%d comments of the bot on #%d, want 2:\n%s", len(seen), number, strings.Join(w.bodies(number), "\n=====\n"))
	}
}

// TestNothingIsLeftRunning kills the agent while a command of a tool runs: the
// tool server and all that it started end as well.
func TestNothingIsLeftRunning(t *testing.T) {
	t.Parallel()
	w := newWorld(t, llmtest.Turns(command("sh", "-c", "sleep 3601 & setsid sleep 3602 & sleep 3603")))
	w.inPlace()
	p := w.start("run")
	w.until("the command runs", func() bool { return len(w.processes("sleep")) == 3 })
	p.kill()
	w.until("every process of the agent has ended", func() bool { return len(w.processes("")) == 0 })
}

// processes lists the running processes of this world, which are those that
// have its directory as HOME, or a home of a sandbox in it, by command line.
func (w *world) processes(name string) (found []string) {
	for _, p := range w.running() {
		if p.argv[0] == name || name == "" {
			found = append(found, strings.Join(p.argv, " "))
		}
	}
	return found
}

// processOf is a process of the agent, or one that a tool of it started.
type processOf struct {
	pid  int
	argv []string
}

func (w *world) running() (found []processOf) {
	own, boxed := []byte("HOME="+w.dir+"\x00"), []byte("HOME="+w.path("tmp")+"/")
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !bytes.Contains(env, own) && !bytes.Contains(env, boxed) {
			continue // gone, somebody else's, or a zombie
		}
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		pid, _ := strconv.Atoi(filepath.Base(dir))
		found = append(found, processOf{pid, strings.Split(string(line), "\x00")})
	}
	return found
}

// TestCommentFaults makes the forge fail after it stored each comment, and
// before. Every comment stands once.
func TestCommentFaults(t *testing.T) {
	t.Parallel()
	for _, f := range exhaustive.Sample([]forgetest.Fault{
		{Kind: forgetest.Store500, Times: -1},
		{Kind: forgetest.Store502HTML, Times: -1},
		{Kind: forgetest.StoreDrop, Times: -1},
		{Kind: forgetest.StoreGarbled, Times: -1},
		{Kind: forgetest.Drop},
		{Kind: forgetest.Drop, Nth: 2},
		{Kind: forgetest.Secondary, RetryAfter: time.Second},
	}, 3) {
		t.Run(fmt.Sprint(f.Kind, f.Nth), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, longer())
			f.Method, f.Path = "POST", ".*/issues/1/comments"
			w.forge.Fault(f)
			w.agent(0, "run")
			w.wantDone(1, w.only())
			w.wantOnce(1)
		})
	}
}

// TestCommentFaultAndKill kills the agent after the forge stored the final
// comment and before it answered.
func TestCommentFaultAndKill(t *testing.T) {
	t.Parallel()
	w := newWorld(t, longer())
	w.forge.Fault(forgetest.Fault{Method: "POST", Path: ".*/issues/1/comments", Nth: 2, Kind: forgetest.StoreSlow, Delay: patience})
	p := w.start("run")
	w.until("both comments stand", func() bool { return len(w.bodies(1)) == 2 })
	p.kill()
	w.agent(0, "run")
	w.wantDone(1, w.only())
	w.wantOnce(1)
}
