package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"agent/eventlog/event"
	"agent/llm/llmtest"
)

// rebooted makes the agent see another boot id than before.
func (w *world) rebooted() {
	w.t.Helper()
	if os.Getuid() != 0 || exec.Command("unshare", "--mount", "true").Run() != nil {
		w.t.Skip("another boot id needs root and a mount namespace")
	}
	must(w.t, os.WriteFile(w.path("boot_id"), []byte("11111111-2222-4333-8444-555555555555\n"), 0o600))
	script := "#!/bin/sh\nexec unshare --mount sh -c 'mount --bind \"$0\" /proc/sys/kernel/random/boot_id && exec \"$@\"' " + w.path("boot_id") + " " + agentPath(w.t) + " \"$@\"\n"
	w.binary = w.path("agent-rebooted")
	must(w.t, os.WriteFile(w.binary, []byte(script), 0o700))
}

// pausedAt is a world whose agent was paused in a turn of several, and whose process ended
// properly.
func pausedAt(t *testing.T, turn int32) *world {
	t.Helper()
	var asked atomic.Int32
	script := several()
	var w *world
	w = newWorld(t, func(n int, r llmtest.Request) llmtest.Reply {
		if asked.Add(1) == turn {
			w.agent(0, "pause", "--all")
		}
		return script(n, r)
	})
	w.agent(0, "run")
	w.agent(0, "resume", "--all")
	return w
}

// TestPowerCutWhilePaused: a power cut empties files that a process wrote before it paused,
// since it syncs only the log. The log wins, as after a crash. Without a new start of the
// machine somebody has changed the files, and they count.
func TestPowerCutWhilePaused(t *testing.T) {
	t.Parallel()
	whole := newWorld(t, several())
	whole.agent(0, "run")
	want := whole.pushedTree()
	for _, reboot := range []bool{true, false} {
		w := pausedAt(t, 4)
		if reboot {
			w.rebooted()
		}
		l := w.only()
		dir := w.path("workspaces", l.UUID)
		must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if d.IsDir() && d.Name() == ".git" {
				return filepath.SkipDir
			}
			if err == nil && d.Type().IsRegular() {
				err = os.Truncate(path, 0)
			}
			return err
		}))
		w.agent(0, "run")
		restored := find[*event.WorkspaceRestored](w.events(l.UUID))
		if got := w.pushedTree(); reboot != (got == want) || reboot != (len(restored) == 1) {
			t.Errorf("machine started anew: %t. restored %d times, pushed\n%s", reboot, len(restored), got)
		}
		w.agent(0, "replay", l.UUID)
	}
}

// TestCommitGone: the clone is gone, and the forge does not have the commit any more that the
// work began on. The files are written beside its place and a person is asked; once the
// commit is back, the work goes on.
func TestCommitGone(t *testing.T) {
	t.Parallel()
	whole := newWorld(t, several())
	whole.agent(0, "run")
	want := whole.pushedTree()
	w := killedAt(t, 4)
	l := w.only()
	must(t, os.RemoveAll(w.path("workspaces", l.UUID)))
	old := strings.TrimSpace(w.git("rev-parse", "main"))
	w.git("fetch", "-q", w.path("work"), "main:refs/heads/keep")
	tree := strings.TrimSpace(w.git("mktree", "--missing"))
	other := strings.TrimSpace(w.git("-c", "user.name=x", "-c", "user.email=x@example.com", "commit-tree", "-m", "Anew", tree))
	w.git("update-ref", "refs/heads/main", other)
	w.git("update-ref", "-d", "refs/heads/keep")
	w.git("reflog", "expire", "--expire=now", "--all")
	w.git("gc", "-q", "--prune=now")
	w.agent(0, "run")
	restored := find[*event.WorkspaceRestored](w.events(l.UUID))
	pauses := find[*event.ContextPaused](w.events(l.UUID))
	if len(restored) != 1 || restored[0].Error == "" || len(pauses) != 1 || pauses[0].Reason != event.PauseFilesLost {
		t.Fatalf("restored %+v, paused %+v", restored, pauses)
	}
	if text, err := os.ReadFile(filepath.Join(restored[0].Kept, "hello.txt")); string(text) != "hello\n" {
		t.Errorf("what is stored was not written to %q: %v", restored[0].Kept, err)
	}
	w.git("fetch", "-q", w.path("work"), "+main:refs/heads/main")
	if now := strings.TrimSpace(w.git("rev-parse", "main")); now != old {
		t.Fatalf("main is %s again, not %s", now, old)
	}
	w.agent(0, "resume", l.UUID)
	w.agent(0, "run")
	if got := w.pushedTree(); got != want {
		t.Errorf("another tree was pushed:\n%s\nwant\n%s", got, want)
	}
	w.wantExact(l.UUID)
}
