package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"agent/llm/llmtest"
)

var (
	cuts     = flag.Int("powercuts", 0, "power cuts for each file system, see make powercut")
	unsynced = flag.String("unsynced", "", "an agent built without syncs, which must fail")
)

// disk is an image with a file system, mounted from a loop device. Contexts and working
// copies of a world lie on it.
type disk struct {
	t     *testing.T
	w     *world
	image string
}

func (d *disk) must(name string, args ...string) {
	d.t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		d.t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

func newDisk(t *testing.T, w *world, kind string) *disk {
	d := &disk{t, w, w.path("image")}
	must(t, os.WriteFile(d.image, nil, 0o600))
	must(t, os.Truncate(d.image, 512<<20))
	d.must("mkfs."+kind, "-q", d.image)
	for _, name := range []string{"disk", "contexts", "workspaces"} {
		must(t, os.MkdirAll(w.path(name), 0o700))
	}
	d.mount()
	t.Cleanup(func() {
		for _, name := range []string{"workspaces", "contexts", "disk"} {
			_ = unix.Unmount(w.path(name), unix.MNT_DETACH)
		}
	})
	return d
}

func (d *disk) mount() {
	d.t.Helper()
	d.must("mount", "-o", "loop", d.image, d.w.path("disk"))
	for _, name := range []string{"contexts", "workspaces"} {
		must(d.t, os.MkdirAll(d.w.path("disk", name), 0o700))
		d.must("mount", "--bind", d.w.path("disk", name), d.w.path(name))
	}
	syscall.Sync() // the empty directories are there before anything is cut
}

func (d *disk) unmount() {
	d.t.Helper()
	for _, name := range []string{"workspaces", "contexts", "disk"} {
		err := error(unix.EBUSY)
		for end := time.Now().Add(20 * time.Second); err == unix.EBUSY && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			err = unix.Unmount(d.w.path(name), 0) // a process that was killed may still hold it
		}
		if err != nil {
			out, _ := exec.Command("sh", "-c", "ls -l /proc/*/cwd /proc/*/root /proc/*/fd 2>/dev/null | grep '"+d.w.dir+"'; losetup -l").CombinedOutput()
			d.t.Fatalf("unmount %s: %v\n%s", name, err, out)
		}
	}
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if out, _ := exec.Command("losetup", "-j", d.image).Output(); len(out) == 0 {
			return
		}
	}
	d.t.Fatal("the loop device is still there: run it in a mount namespace of its own, as make powercut does")
}

// cut loses what is not synced: the file system goes down without flushing its journal.
// Everything is stopped before, or a sync that runs at that moment would succeed and not be done.
func (d *disk) cut(p *process) {
	d.t.Helper()
	stopAll(p.cmd.Process.Pid)
	f, err := os.Open(d.w.path("disk"))
	must(d.t, err)
	const shutdown, noFlush = 0x8004587d, uint32(2) // FS_IOC_SHUTDOWN
	flags := noFlush
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), shutdown, uintptr(unsafe.Pointer(&flags)))
	if errno != 0 {
		d.t.Fatalf("shutdown: %v", errno)
	}
	must(d.t, f.Close())
	for _, pid := range descendants(p.cmd.Process.Pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	p.wait()
	d.unmount()
	d.mount()
}

// descendants is a process with all that it has started.
func descendants(root int) []int {
	parents := map[int]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		text, _ := os.ReadFile(name)
		field := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if len(field) > 1 {
			parents[pid], _ = strconv.Atoi(field[1])
		}
	}
	all := []int{root}
	for pid := range parents {
		for up := parents[pid]; up > 1; up = parents[up] {
			if up == root {
				all = append(all, pid)
				break
			}
		}
	}
	return all
}

// stopAll stops the processes and returns when no thread of them runs.
func stopAll(root int) {
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		moving := false
		for _, pid := range descendants(root) {
			_ = syscall.Kill(pid, syscall.SIGSTOP)
			tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
			for _, name := range tasks {
				text, _ := os.ReadFile(name)
				_, after, _ := strings.Cut(string(text), ") ")
				moving = moving || after != "" && !strings.ContainsAny(after[:1], "TtZX")
			}
		}
		if !moving {
			return
		}
	}
}

// TestPowerCut cuts the power at random moments of a run, with contexts and working copies
// on one file system. The end is the one without a cut: the same tree, one request, each
// comment once. A build without syncs must fail.
func TestPowerCut(t *testing.T) {
	if *cuts == 0 {
		t.Skip("make powercut")
	}
	if os.Getuid() != 0 {
		t.Skip("loop devices need root")
	}
	for _, kind := range []string{"ext4", "xfs"} {
		t.Run(kind, func(t *testing.T) {
			if _, err := exec.LookPath("mkfs." + kind); err != nil {
				t.Skip(err)
			}
			failed := 0
			for n := range *cuts {
				if problem := tryCut(t, kind, n, *unsynced); problem != "" {
					failed++
					t.Logf("cut %d: %s", n, problem)
				}
			}
			switch {
			case *unsynced == "" && failed > 0:
				t.Errorf("%d of %d cuts have another end", failed, *cuts)
			case *unsynced != "" && failed*10 < *cuts*9:
				t.Errorf("without syncs only %d of %d cuts fail", failed, *cuts)
			}
			t.Logf("%d cuts, %d with another end", *cuts, failed)
		})
	}
}

// careful is several with steps that may be repeated, by a model that repeats a call
// which was interrupted.
func careful() llmtest.Script {
	replies := []llmtest.Reply{
		write("hello.txt", "hello\n"),
		command("sh", "-c", "mkdir -p src && printf 'one\\ntwo\\n' > src/a.txt && ln -sfn a.txt src/link && printf '#!/bin/sh\\n' > src/run && chmod +x src/run && rm -f README.md"),
		llmtest.ToolCall("workspace__edit_file", map[string]any{"path": "src/a.txt", "old_text": "two", "new_text": "TWO"}),
		command("sh", "-c", "test ! -L src/link || mv src/link src/moved; echo x > scratch; rm scratch; echo done"),
		llmtest.Done("I wrote the files."), llmtest.Done("All of them are part of the work."), llmtest.Done("Done."),
	}
	return func(_ int, r llmtest.Request) llmtest.Reply {
		turns := r.Turns()
		for _, m := range r.Messages {
			if strings.Contains(m.Content, "may or may not") {
				turns--
			}
		}
		return replies[min(turns, len(replies)-1)]
	}
}

// tryCut cuts once and says how the end differs.
func tryCut(t *testing.T, kind string, n int, binary string) (problem string) {
	t.Run(strconv.Itoa(n), func(t *testing.T) {
		random := rand.New(rand.NewPCG(uint64(n), 20261128))
		w := newWorld(t, careful())
		w.binary = binary
		d := newDisk(t, w, kind)
		p := w.start("run")
		if binary == "" {
			time.Sleep(time.Duration(random.IntN(2500)) * time.Millisecond) // the fault, not a wait for something
		} else { // something was done that can be lost
			w.until("a call was answered", func() bool { return len(w.model.Requests()) > 1 })
			time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
		}
		d.cut(p)
		next := w.start("run")
		if code := next.wait(); code != 0 {
			problem = fmt.Sprintf("exit %d: %s%s", code, tail(next.out.String()), tail(next.err.String()))
		} else if problem = w.otherEnd(); problem != "" {
			problem += "\n" + tail(next.out.String()) + tail(next.err.String())
			for _, l := range w.list(0) {
				out, _ := w.agent(0, "inspect", l.UUID)
				problem += "\n" + out
			}
		}
	})
	return problem
}

// otherEnd says how the end differs from that of several without a cut.
func (w *world) otherEnd() string {
	branches := strings.Fields(w.git("for-each-ref", "--format=%(refname)", "refs/heads/agent"))
	if len(branches) != 1 || len(w.forge.PullRequests(testRepo)) != 1 {
		return fmt.Sprintf("branches %v, requests %+v", branches, w.forge.PullRequests(testRepo))
	}
	var got []string
	for line := range strings.Lines(w.git("ls-tree", "-r", branches[0])) {
		field := strings.Fields(line)
		got = append(got, field[0]+" "+field[3]+" "+w.git("cat-file", "blob", field[2]))
	}
	want := []string{"100644 hello.txt hello\n", "100644 src/a.txt one\nTWO\n", "120000 src/moved a.txt", "100755 src/run #!/bin/sh\n"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		return fmt.Sprintf("pushed %q", got)
	}
	final := 0
	for _, c := range w.forge.Comments(testRepo, 1) {
		if c.Author == testBot && strings.Contains(c.Body, "✅ **Done**") {
			final++
		}
	}
	if final != 1 {
		return fmt.Sprintf("%d final comments", final)
	}
	if l := w.list(0); len(l) != 1 || l[0].State != "completed" {
		return fmt.Sprintf("contexts: %+v", l)
	}
	return ""
}
