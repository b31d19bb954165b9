package fsx

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("FSX_TEST_HOLD"); dir != "" {
		hold(dir)
	}
	os.Exit(m.Run())
}

// hold is the life of a child process that takes a lock and waits to be killed.
func hold(dir string) {
	o, err := OpenOS(dir)
	if err != nil {
		panic(err)
	}
	if _, err := o.TryLock("lock"); err != nil {
		panic(err)
	}
	os.Stdout.WriteString("held\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

func TestLockDiesWithItsProcess(t *testing.T) {
	o, dir := newOS(t)
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "FSX_TEST_HOLD="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := child.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatal(line, err)
	}
	if _, err := o.TryLock("lock"); !errors.Is(err, ErrLocked) {
		t.Errorf("while the child lives: %v", err)
	}
	child.Process.Kill()
	child.Wait()
	if _, err := o.TryLock("lock"); err != nil {
		t.Errorf("after its death: %v", err)
	}
}

func TestLockIsNotInherited(t *testing.T) {
	o, _ := newOS(t)
	l, err := o.TryLock("lock")
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command("cat")
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := o.TryLock("lock"); err != nil {
		t.Errorf("a child keeps the lock: %v", err)
	}
	in.Close()
	child.Wait()
}

func TestLockFollowsTheName(t *testing.T) {
	o, _ := newOS(t)
	old, err := o.openFile("lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	if err := flock(old); err != nil {
		t.Fatal(err)
	}
	if err := o.Remove("lock"); err != nil {
		t.Fatal(err)
	}
	if err := o.isAt(old, "lock"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed: %v", err)
	}
	l, err := o.TryLock("lock") // a new file: the old one's lock is nothing to it
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := o.isAt(old, "lock"); !errors.Is(err, errMoved) {
		t.Errorf("replaced: %v", err)
	}
}

// TestLockAgainstCollector removes the file under the lockers: at no time may two of them hold the lock of the name.
func TestLockAgainstCollector(t *testing.T) {
	o, dir := newOS(t)
	var inside atomic.Int32
	done := make(chan error)
	for range 4 {
		go func() {
			for n := 0; n < 200; {
				l, err := o.TryLock("lock")
				if errors.Is(err, ErrLocked) {
					continue
				}
				if err != nil {
					done <- err
					return
				}
				n++
				if inside.Add(1) != 1 {
					err = errors.New("two holders")
				}
				inside.Add(-1)
				err = errors.Join(err, os.Remove(filepath.Join(dir, "lock")), l.Close())
				if err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestRefusesWhatIsNotRegular(t *testing.T) {
	o, dir := newOS(t)
	real := filepath.Join(dir, "real")
	must(t, os.Mkdir(real, 0o700), os.WriteFile(real+"/f", []byte("x"), 0o600),
		os.Symlink("real", dir+"/dirlink"), os.Symlink("real/f", dir+"/link"), os.Symlink("nowhere", dir+"/dangling"),
		os.Symlink("/etc", dir+"/outside"), syscall.Mkfifo(dir+"/fifo", 0o600))
	for _, name := range []string{"link", "dangling", "fifo", "real"} {
		for _, flag := range []int{os.O_RDONLY, os.O_WRONLY | os.O_APPEND, os.O_RDWR | os.O_CREATE} {
			if _, err := o.OpenFile(name, flag, 0o600); !errors.Is(err, ErrNotRegular) {
				t.Errorf("open %s with %x: %v", name, flag, err)
			}
		}
		if _, err := o.TryLock(name); !errors.Is(err, ErrNotRegular) {
			t.Errorf("lock %s: %v", name, err)
		}
	}
	for _, name := range []string{"dirlink/f", "outside/passwd"} {
		if _, err := o.OpenFile(name, os.O_RDONLY, 0); !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("open %s: %v", name, err)
		}
		if _, err := o.Lstat(name); !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("lstat %s: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"mkdir":  o.Mkdir("dirlink/d", 0o700),
		"all":    o.MkdirAll("dirlink/d", 0o700),
		"remove": o.Remove("dirlink/f"),
		"rename": o.Rename("dirlink/f", "g"),
		"to":     o.RenameNoReplace("real/f", "dirlink/g"),
		"sync":   o.SyncDir("dirlink"),
	} {
		if !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("%s through a link: %v", name, err)
		}
	}
	if _, err := o.ReadDir("dirlink"); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("list a link: %v", err)
	}
	if err := o.RemoveAll("dirlink"); err != nil {
		t.Errorf("remove the link: %v", err)
	}
	if _, err := os.Stat(real + "/f"); err != nil {
		t.Error("removing a link removed what it leads to")
	}
}

func TestOpenOSMakesPrivateDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	o, err := OpenOS(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info, err)
	}
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// A child holds a copy of every descriptor from its fork to its exec.
func TestUnlockedWhileAChildStarts(t *testing.T) {
	o, err := OpenOS(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		l, err := o.TryLock("lock")
		if err != nil {
			t.Fatal(err)
		}
		child, err := unix.Dup(int(l.(heldLock).Fd()))
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(child)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
