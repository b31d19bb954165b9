package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agent/forge/forgetest"
	"agent/internal/exhaustive"
	"agent/llm/llmtest"
)

// littering is a task whose commands leave processes behind, and publish a file.
func littering() llmtest.Script {
	return llmtest.Turns(
		write("hello.txt", "hello\n"),
		command("sh", "-c", "(setsid sh -c 'sleep 300; true' &); sleep 0.1"),
		command("sh", "-c", "sleep 300 & setsid sleep 301 & sleep 0.3"),
		llmtest.Text("I wrote hello.txt."))
}

// runKinds are all kinds of run that can be killed; each gives the process.
var runKinds = []struct {
	name string
	make func(t *testing.T) *talk
	run  func(c *talk, in func(ms int) time.Duration) *process
}{
	{"run", littered("", kinds[0]), func(c *talk, _ func(int) time.Duration) *process { return c.start("run") }},
	{"run on GitLab", littered("", kinds[2]), func(c *talk, _ func(int) time.Duration) *process { return c.start("run") }},
	{"plan", func(t *testing.T) *talk {
		c := newTalk(t, kinds[0], planner)
		c.extra = planningOn
		return c
	}, func(c *talk, _ func(int) time.Duration) *process { return c.start("run") }},
	{"loop", littered("", kinds[0]), func(c *talk, _ func(int) time.Duration) *process { return c.start("loop") }},
	{"dry run", littered("", kinds[0]), func(c *talk, _ func(int) time.Duration) *process { return c.start("run", "--dry-run") }},
	{"sandbox off", littered(`mcp_servers: [{mcp_server_name: workspace, command: [agent, mcp, workspace, --root, "{workspace}"], sandbox: off}]`, kinds[0]),
		func(c *talk, _ func(int) time.Duration) *process { return c.start("run") }},
	{"publish", littered("", kinds[0]), func(c *talk, in func(int) time.Duration) *process {
		p := c.start("run")
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end) && !c.pushing(); time.Sleep(time.Millisecond) {
		}
		return p
	}},
	{"pause", littered("", kinds[0]), func(c *talk, in func(int) time.Duration) *process {
		p := c.start("run")
		time.Sleep(in(600))
		_ = c.start("pause", "--all").wait()
		return p
	}},
	{"resume", littered("", kinds[0]), func(c *talk, in func(int) time.Duration) *process {
		first := c.start("run")
		time.Sleep(in(600))
		_ = c.start("pause", "--all").wait()
		first.wait()
		_ = c.start("resume", "--all").wait()
		return c.start("run")
	}},
	{"after a kill", littered("", kinds[0]), func(c *talk, in func(int) time.Duration) *process {
		first := c.start("run")
		time.Sleep(in(900))
		first.kill()
		return c.start("run")
	}},
}

func littered(extra, kind string) func(t *testing.T) *talk {
	return func(t *testing.T) *talk {
		c := newTalk(t, kind, littering())
		c.extra = extra
		return c
	}
}

// pushing reports whether git has begun to push.
func (c *talk) pushing() bool {
	return slices.ContainsFunc(c.requests(), func(r forgetest.Request) bool { return strings.Contains(r.Path, "receive-pack") })
}

// TestNoSurvivors kills the agent at random moments of each kind of run. A second
// later nothing lives of what it had started: git, servers, commands.
func TestNoSurvivors(t *testing.T) {
	t.Parallel()
	slow(t)
	tries := exhaustive.Of(3, 500)
	var running atomic.Int64
	t.Cleanup(func() {
		if t.Logf("%d kills, in %d of them other processes ran", tries, running.Load()); running.Load() == 0 {
			t.Error("nothing but the agent ran, and nothing is shown")
		}
	})
	for n := range tries {
		kind := runKinds[(n*3)%len(runKinds)]
		t.Run(fmt.Sprintf("%d %s", n, kind.name), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(n), 20261128))
			in := func(ms int) time.Duration { return time.Duration(random.IntN(ms)) * time.Millisecond }
			c := kind.make(t)
			p := kind.run(c, in)
			if kind.name == "publish" {
				time.Sleep(in(30))
			} else {
				time.Sleep(in(1500))
			}
			if len(c.relatives(false)) > 1 {
				running.Add(1)
			}
			p.kill()
			killed := time.Now()
			for left := c.relatives(false); left != nil; left = c.relatives(false) {
				if time.Since(killed) > time.Second {
					t.Fatalf("%q live on", left)
				}
				time.Sleep(5 * time.Millisecond)
			}
			for range 2000 { // what the forge's git still writes is in the way of the removal
				if c.relatives(true) == nil {
					break
				}
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
}

// relatives are the processes that work in this world: git that serves the
// repository for the test, or all others.
func (w *world) relatives(serving bool) (found []string) {
	pids, _ := filepath.Glob("/proc/[0-9]*")
	parents := map[int]int{}
	for _, dir := range pids {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		stat, _ := os.ReadFile(dir + "/stat")
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) > 1 && fields[0] != "Z" {
			parents[pid], _ = strconv.Atoi(fields[1])
		}
	}
	for pid := range parents {
		dir := fmt.Sprintf("/proc/%d", pid)
		line, _ := os.ReadFile(dir + "/cmdline")
		environ, _ := os.ReadFile(dir + "/environ")
		cwd, _ := os.Readlink(dir + "/cwd")
		served := strings.Contains(string(environ), "GIT_PROJECT_ROOT=") || strings.Contains(string(line), "http-backend")
		if served == serving && strings.Contains(string(line)+string(environ)+cwd, w.dir) {
			found = append(found, fmt.Sprintf("%d %s", pid, strings.ReplaceAll(string(line), "\x00", " ")))
		}
	}
	return found
}
