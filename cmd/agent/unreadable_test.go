package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"agent/eventlog/event"
	"agent/internal/exhaustive"
	"agent/llm/llmtest"
)

// packDamages are the ways in which stored files get lost.
var packDamages = []struct {
	name string
	do   func(t *testing.T, objects string)
}{
	{"all gone", func(t *testing.T, objects string) { must(t, os.RemoveAll(objects)) }},
	{"packs gone", func(t *testing.T, objects string) { eachFile(t, objects, ".pack", os.Remove) }},
	{"indexes gone", func(t *testing.T, objects string) { eachFile(t, objects, ".idx", os.Remove) }},
	{"packs empty", func(t *testing.T, objects string) { eachFile(t, objects, ".pack", emptyFile) }},
	{"indexes empty", func(t *testing.T, objects string) { eachFile(t, objects, ".idx", emptyFile) }},
	{"packs cut", func(t *testing.T, objects string) { eachFile(t, objects, ".pack", half) }},
	{"a byte of each pack", func(t *testing.T, objects string) { eachFile(t, objects, ".pack", flip) }},
	{"a byte of each index", func(t *testing.T, objects string) { eachFile(t, objects, ".idx", flip) }},
}

func eachFile(t *testing.T, objects, ending string, do func(string) error) {
	files, _ := filepath.Glob(filepath.Join(objects, "pack", "*"+ending))
	if len(files) == 0 {
		t.Fatal("nothing is stored")
	}
	for _, file := range files {
		must(t, do(file))
	}
}

func emptyFile(file string) error { return os.Truncate(file, 0) }

func half(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	return os.Truncate(file, info.Size()/2)
}

// flip changes a byte of the first object, or of the first name.
func flip(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	at := 20
	if strings.HasSuffix(file, ".idx") {
		at = 8 + 256*4 + 5
	}
	data[at] ^= 0x40
	return os.WriteFile(file, data, 0o600)
}

// TestStoredFilesUnreadable: verify finds stored files that cannot be read, at once and in an
// ended context, and repair gives up those files alone.
func TestStoredFilesUnreadable(t *testing.T) {
	t.Parallel()
	w := newWorld(t, several())
	w.agent(0, "run")
	l := w.only()
	w.agent(0, "verify", l.UUID)
	objects, err := w.store().Objects(l.UUID).Path()
	must(t, err)
	whole := filepath.Join(t.TempDir(), "objects")
	duplicate := func(from, to string) { // with its modes
		must(t, os.RemoveAll(to))
		must(t, exec.Command("cp", "-a", from, to).Run())
	}
	duplicate(objects, whole)
	events := len(w.events(l.UUID))
	for _, d := range packDamages {
		duplicate(whole, objects)
		d.do(t, objects)
		if _, stderr := w.agentBoth(65, "verify", l.UUID); !strings.Contains(stderr, "cannot be read") || !strings.Contains(stderr, "--accept-loss") {
			t.Errorf("%s: verify says %q", d.name, stderr)
		}
	}
	duplicate(whole, objects)
	first, _ := filepath.Glob(filepath.Join(objects, "pack", "*.pack"))
	must(t, flip(first[0]))
	w.agent(65, "verify", l.UUID)
	if out, _ := w.agent(0, "repair", l.UUID, "--accept-loss"); !strings.Contains(out, "could not be read") {
		t.Errorf("repair says %q", out)
	}
	w.agent(0, "verify", l.UUID)
	w.wantExact(l.UUID)
	if now := w.events(l.UUID); len(now) != events+1 || find[*event.ProcessRecovered](now)[0].Saves == 0 {
		t.Errorf("%d events, before %d", len(now), events)
	}
	if out, _ := w.agent(0, "repair", l.UUID, "--accept-loss"); !strings.Contains(out, "not damaged") {
		t.Errorf("a second repair says %q", out)
	}
}

// agentBoth gives both outputs as one text, for a problem that is part of a list.
func (w *world) agentBoth(code int, args ...string) (stdout, both string) {
	stdout, stderr := w.agent(code, args...)
	return stdout, stdout + stderr
}

// TestUnreadableWhileRunning: a working copy that is what the log says is stored again. One
// that is not needs a person: nothing is published that the log does not have.
func TestUnreadableWhileRunning(t *testing.T) {
	t.Parallel()
	whole := newWorld(t, several())
	whole.agent(0, "run")
	want := whole.pushedTree()
	for _, d := range exhaustive.Sample(packDamages, 3) {
		for _, changed := range []bool{false, true} {
			t.Run(d.name+map[bool]string{true: ", files changed"}[changed], func(t *testing.T) {
				t.Parallel()
				w := killedAt(t, 4)
				l := w.only()
				objects, err := w.store().Objects(l.UUID).Path()
				must(t, err)
				d.do(t, objects)
				if !changed {
					w.agent(0, "run")
					if got := w.pushedTree(); got != want {
						t.Errorf("another tree was pushed:\n%s\nwant\n%s", got, want)
					}
					w.agent(0, "replay", l.UUID)
					return
				}
				must(t, os.WriteFile(w.path("workspaces", l.UUID, "src/a.txt"), []byte("other\n"), 0o600))
				w.agent(0, "run")
				pauses := find[*event.ContextPaused](w.events(l.UUID))
				if l = w.only(); l.State != "paused" || len(pauses) != 1 || pauses[0].Reason != event.PauseFilesUnreadable {
					t.Fatalf("state %s: %+v", l.State, pauses)
				}
				w.agent(0, "resume", l.UUID)
				w.agent(0, "run")
				if got := w.pushedTree(); got == want || !strings.Contains(got, "src/a.txt") {
					t.Errorf("pushed:\n%s", got)
				}
				w.agent(0, "replay", l.UUID)
			})
		}
	}
}

// killedAt is a world whose agent was killed while it waited for the answer of a turn of several.
func killedAt(t *testing.T, turn int32) *world {
	t.Helper()
	var asked atomic.Int32
	script, hold, held := several(), make(chan struct{}), make(chan struct{}, 10)
	w := newWorld(t, func(n int, r llmtest.Request) llmtest.Reply {
		if asked.Add(1) == turn {
			held <- struct{}{}
			<-hold
		}
		return script(n, r)
	})
	process := w.start("run")
	<-held
	process.kill()
	close(hold)
	return w
}
