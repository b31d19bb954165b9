package fsx

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"testing"
)

var errDisk = errors.New("disk failed")

func appendTo(t testing.TB, m *Mem, name string) File {
	t.Helper()
	f, err := m.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func content(t testing.TB, fsys FS, name string) string {
	t.Helper()
	data, err := ReadFile(fsys, name, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestCrashKeepsWhatWasSynced(t *testing.T) {
	m := NewMem()
	f := appendTo(t, m, "f")
	f.Write([]byte("synced"))
	must(t, f.Sync(), m.SyncDir("."))
	f.Write([]byte(" not"))
	unnamed := appendTo(t, m, "g")
	unnamed.Write([]byte("x"))
	must(t, unnamed.Sync())

	after := m.Crash(1, 0)
	if got := content(t, after, "f"); got != "synced" {
		t.Errorf("f is %q", got)
	}
	if _, err := after.Lstat("g"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the name of g survived without its directory: %v", err)
	}
	if got := content(t, m.Crash(1, 1), "f"); got != "synced not" {
		t.Errorf("with luck f is %q", got)
	}
	if _, err := f.Write([]byte("ghost")); !errors.Is(err, ErrKilled) {
		t.Errorf("the dead process writes: %v", err)
	}
}

func TestCrashTearsInEveryWay(t *testing.T) {
	m := NewMem()
	f := appendTo(t, m, "f")
	head, tail := bytes.Repeat([]byte("a"), 700), bytes.Repeat([]byte("b"), 1400)
	f.Write(head)
	must(t, f.Sync(), m.SyncDir("."))
	f.Write(tail)
	seen := map[string]bool{}
	for seed := range int64(300) {
		got := content(t, m.Crash(seed, 0.5), "f")
		if got[:700] != string(head) || len(got) > 2100 {
			t.Fatalf("seed %d: synced bytes changed: %q", seed, got)
		}
		rest := got[700:]
		switch {
		case rest == "":
			seen["nothing"] = true
		case rest == string(tail):
			seen["all"] = true
		case rest[0] == 0:
			seen["hole"] = true
		case rest[len(rest)-1] == 0:
			seen["zero tail"] = true
		default:
			seen["torn"] = true
		}
		if again := content(t, m.Crash(seed, 0.5), "f"); again != got {
			t.Fatalf("seed %d gave two results", seed)
		}
	}
	if len(seen) != 5 {
		t.Errorf("seen only %v", seen)
	}
}

func TestCrashRenameIsOneStep(t *testing.T) {
	m := NewMem()
	must(t, MkdirSync(m, "a"), MkdirSync(m, "b"))
	put(t, m, "a/x", "1")
	must(t, m.Rename("a/x", "b/x"))
	moved := 0
	for seed := range int64(100) {
		after := m.Crash(seed, 0.5)
		_, errA := after.Lstat("a/x")
		_, errB := after.Lstat("b/x")
		if (errA == nil) == (errB == nil) {
			t.Fatalf("seed %d: both or neither: %v, %v", seed, errA, errB)
		}
		if errB == nil {
			moved++
		}
	}
	if moved == 0 || moved == 100 {
		t.Errorf("moved in %d of 100", moved)
	}
	must(t, m.Kill().SyncDir("b"))
	k := m.Kill()
	must(t, k.SyncDir("b"))
	if got := content(t, k.Crash(1, 0), "b/x"); got != "1" {
		t.Errorf("after the sync of one parent %q", got)
	}
}

func TestCrashDuringWriteFileLeavesOldOrNew(t *testing.T) {
	for _, inside := range []bool{false, true} {
		for n := 1; ; n++ {
			m := NewMem()
			put(t, m, "f", "old")
			m.KillAt(m.Ops()+n, inside)
			err := WriteFile(m, "f", bytes.Repeat([]byte("new"), 400))
			for seed := range int64(20) {
				got := content(t, m.Crash(seed, 0.5), "f")
				if isNew := len(got) == 1200; got != "old" && !isNew || err == nil && !isNew {
					t.Fatalf("killed at %d, seed %d: %q, acknowledged: %v", n, seed, got, err == nil)
				}
			}
			if err == nil {
				break
			}
			if !errors.Is(err, ErrKilled) {
				t.Fatal(err)
			}
		}
	}
}

func TestKillKeepsContentAndDropsLocks(t *testing.T) {
	m := NewMem()
	f := appendTo(t, m, "f")
	f.Write([]byte("unsynced"))
	if _, err := m.TryLock("l"); err != nil {
		t.Fatal(err)
	}
	after := m.Kill()
	if got := content(t, after, "f"); got != "unsynced" {
		t.Errorf("f is %q", got)
	}
	if _, err := after.TryLock("l"); err != nil {
		t.Errorf("lock survived: %v", err)
	}
	if _, err := m.ReadDir("."); !errors.Is(err, ErrKilled) {
		t.Errorf("the dead process reads: %v", err)
	}
	if _, err := after.Crash(1, 0).Lstat("f"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("kill made f durable: %v", err)
	}
}

func TestKillAt(t *testing.T) {
	for _, c := range []struct {
		inside bool
		want   string
	}{{false, ""}, {true, "ab"}} {
		m := NewMem()
		f := appendTo(t, m, "f")
		m.KillAt(2, c.inside)
		if n, err := f.Write([]byte("abcd")); n != len(c.want) || !errors.Is(err, ErrKilled) {
			t.Errorf("write: %d, %v", n, err)
		}
		if err := f.Sync(); !errors.Is(err, ErrKilled) {
			t.Errorf("sync: %v", err)
		}
		if got := content(t, m.Kill(), "f"); got != c.want {
			t.Errorf("f is %q, want %q", got, c.want)
		}
	}
}

func TestFailAt(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{{errDisk, "ef"}, {io.ErrShortWrite, "abef"}, {syscall.ENOSPC, "abef"}} {
		m := NewMem()
		f := appendTo(t, m, "f")
		m.FailAt(2, c.err)
		if _, err := f.Write([]byte("abcd")); !errors.Is(err, c.err) {
			t.Errorf("write: %v", err)
		}
		if _, err := f.Write([]byte("ef")); err != nil {
			t.Errorf("the next write: %v", err)
		}
		if got := content(t, m, "f"); got != c.want {
			t.Errorf("f is %q, want %q", got, c.want)
		}
		if m.Ops() != 3 {
			t.Errorf("%d operations", m.Ops())
		}
	}
}

func TestFailedSyncLosesBytesForGood(t *testing.T) {
	m := NewMem()
	f := appendTo(t, m, "f")
	must(t, m.SyncDir("."))
	f.Write([]byte("abc"))
	m.FailAt(m.Ops()+1, errDisk)
	if err := f.Sync(); !errors.Is(err, errDisk) {
		t.Fatal(err)
	}
	must(t, f.Sync()) // as on Linux, the second one says nothing
	if got := content(t, m, "f"); got != "abc" {
		t.Errorf("seen %q", got)
	}
	if got := content(t, m.Crash(1, 0), "f"); got != "\x00\x00\x00" {
		t.Errorf("on the disk %q", got)
	}
}

func TestKilledSyncLosesNothing(t *testing.T) {
	m := NewMem()
	f := appendTo(t, m, "f")
	must(t, m.SyncDir("."))
	f.Write([]byte("abc"))
	m.KillAt(m.Ops()+1, false)
	if err := f.Sync(); !errors.Is(err, ErrKilled) {
		t.Fatal(err)
	}
	after := m.Kill()
	must(t, appendTo(t, after, "f").Sync())
	if got := content(t, after.Crash(1, 0), "f"); got != "abc" {
		t.Errorf("the next process syncs %q", got)
	}
}
