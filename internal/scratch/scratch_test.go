package scratch

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// TestMain is also a process that holds a directory until it is killed.
func TestMain(m *testing.M) {
	if os.Getenv("SCRATCH_HOLDS") == "" {
		os.Exit(m.Run())
	}
	dir, _, err := Dir(Git)
	if err != nil {
		os.Exit(1)
	}
	os.Stdout.WriteString(dir + "\n")
	time.Sleep(time.Hour)
}

func gone(dir string) bool {
	_, err := os.Lstat(dir)
	return os.IsNotExist(err)
}

// A directory stays while its process lives, however old it is, and goes when that is killed.
func TestRemoveLeft(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "SCRATCH_HOLDS=1")
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	dir := line[:len(line)-1]
	later := time.Now().Add(48 * time.Hour)
	if RemoveLeft(later); gone(dir) {
		t.Fatal("the directory of a process that lives is gone")
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	if RemoveLeft(time.Now()); !gone(dir) {
		t.Error("the directory of a process that was killed stays")
	}
}

// TestRemoveLeftOfTheMoment: directories are made and removed while others look for what was left.
func TestRemoveLeftOfTheMoment(t *testing.T) {
	parent := t.TempDir()
	var all sync.WaitGroup
	ended := make(chan struct{})
	all.Go(func() {
		for {
			select {
			case <-ended:
				return
			default:
				RemoveLeftIn(parent, time.Now())
			}
		}
	})
	var makers sync.WaitGroup
	for range 4 {
		makers.Go(func() {
			for range 200 {
				dir, remove, err := DirIn(parent, Clone)
				if err != nil || gone(dir) {
					t.Errorf("%s was removed while it was used: %v", dir, err)
				}
				remove()
			}
		})
	}
	makers.Wait()
	close(ended)
	all.Wait()
}

// What others call alike stays.
func TestRemoveLeftOfOthers(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	later := time.Now().Add(48 * time.Hour)
	for _, kind := range kinds {
		if err := os.Mkdir(filepath.Join(tmp, prefix(kind)+"left"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	stay := []string{filepath.Join(tmp, "other"), filepath.Join(tmp, "agent-git-file"), filepath.Join(tmp, "agent-git-link")}
	for i, err := range []error{os.Mkdir(stay[0], 0o700), os.WriteFile(stay[1], nil, 0o600), os.Symlink(stay[0], stay[2])} {
		if err != nil {
			t.Fatal(i, err)
		}
	}
	RemoveLeft(later)
	left, err := os.ReadDir(tmp)
	if err != nil || len(left) != len(stay) {
		t.Errorf("left: %v, %v", left, err)
	}
	for _, name := range stay {
		if gone(name) {
			t.Errorf("%s is gone", name)
		}
	}
}

// remove leaves nothing.
func TestDir(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir, remove, err := Dir(Ctags)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tags"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if remove(); !gone(dir) {
		t.Error("it is still there")
	}
}
