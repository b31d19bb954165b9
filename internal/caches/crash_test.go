package caches_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"agent/internal/caches"
	"agent/internal/exhaustive"
)

const (
	files   = 60 // of a generation
	rootVar = "CACHES_TEST_ROOT"
)

// TestMain makes this program the one that is killed.
func TestMain(m *testing.M) {
	if root := os.Getenv(rootVar); root != "" {
		generations(root)
	}
	os.Exit(m.Run())
}

// generations makes one layer after the other. All files of a layer hold its number.
func generations(root string) {
	c := caches.Caches{Root: root, Most: 1 << 20}
	for n := 1; ; n++ {
		uuid := strconv.Itoa(n)
		dir, err := c.Open(context.Background(), repo, uuid, nil)
		for i := range files {
			name := fmt.Sprintf("%s/go-build/%02d/x", dir, i)
			if err == nil {
				err = os.MkdirAll(filepath.Dir(name), 0o700)
			}
			if err == nil {
				err = os.WriteFile(name, fmt.Appendf(nil, "%d", n), 0o600)
			}
		}
		if err == nil {
			_, err = c.Close(context.Background(), repo, uuid, caches.All)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(n)
	}
}

// Killed at any moment, a process leaves a whole layer, the old one or the new one, and nothing
// that the next one does not remove.
func TestKilled(t *testing.T) {
	for i := 0; i < 400; i += exhaustive.Every(80) {
		root := t.TempDir()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), rootVar+"="+root)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, 2)); err != nil { // there is a first layer
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i%97) * time.Millisecond) // any moment will do
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		c := caches.Caches{Root: root, Most: 1 << 20}
		got := found(t, open(t, c, "after", nil))
		for name, text := range got {
			if len(got) != files || text != got["go-build/00/x"] || text == "" {
				t.Fatalf("%d files, %s of generation %q, another of %q", len(got), name, text, got["go-build/00/x"])
			}
		}
		if left, _ := filepath.Glob(root + "/git*/*-*"); len(left) != 1 {
			t.Errorf("left: %q", left)
		}
	}
}

// Contexts of one repository begin and end at the same time.
func TestAtOnce(t *testing.T) {
	c := caches.Caches{Root: t.TempDir(), Most: 1 << 20}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			uuid := strconv.Itoa(i)
			dir, err := c.Open(t.Context(), repo, uuid, nil)
			if err == nil {
				err = os.WriteFile(dir+"/go-build/"+uuid, []byte(dir), 0o600)
			}
			if err == nil {
				_, err = c.Close(t.Context(), repo, uuid, caches.All)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := found(t, open(t, c, "after", nil)); len(got) == 0 {
		t.Error("nothing was kept")
	}
}

// A context that goes on finds what it left, also in another process, and not after a
// start of the machine: a copy is not synced.
func TestGoingOn(t *testing.T) {
	c := caches.Caches{Root: t.TempDir(), Most: 1 << 20}
	dir := open(t, c, "one", caches.Sums{"m v1": "h1:x"})
	put(t, dir+"/go-build/x", "mine")
	if again := open(t, c, "one", nil); again != dir || found(t, again)["go-build/x"] != "mine" {
		t.Errorf("%s, then %s with %v", dir, again, found(t, again))
	}
	marker := dir + ".context"
	text, err := os.ReadFile(marker)
	if err != nil {
		t.Fatal(err)
	}
	put(t, marker, string(text[:len(text)-1])+`,"boot":"another"}`)
	if again := open(t, c, "one", nil); again != dir || len(found(t, again)) != 0 {
		t.Errorf("after a start of the machine: %v", found(t, again))
	}
}

// Neither a rename nor a new project at an old address mixes two repositories.
func TestRepositoriesAreApart(t *testing.T) {
	c := caches.Caches{Root: t.TempDir(), Most: 1 << 20}
	put(t, open(t, c, "one", nil)+"/go-build/x", "mine")
	end(t, c, "one", caches.All)
	for _, tt := range []struct {
		r    caches.Repository
		same bool
	}{
		{caches.Repository{Host: "github.com", Project: "o/renamed", ID: "7"}, true},
		{caches.Repository{Host: "github.com", Project: "o/r", ID: "8"}, false},
		{caches.Repository{Host: "github.com", Project: "o/r"}, false},
		{caches.Repository{Host: "github.com", Project: "7"}, false},
		{caches.Repository{Host: "gitlab.com", Project: "o/r", ID: "7"}, false},
		{caches.Repository{Host: "../..", Project: "o/r", ID: "7"}, false},
	} {
		dir, err := c.Open(t.Context(), tt.r, "two", nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(found(t, dir)) > 0; got != tt.same || filepath.Dir(filepath.Dir(filepath.Dir(dir))) != c.Root {
			t.Errorf("%+v: %v, in %s", tt.r, got, dir)
		}
	}
}

// gc removes the copies of contexts that have ended, and caches that nobody uses.
func TestCollect(t *testing.T) {
	c := caches.Caches{Root: t.TempDir(), Most: 1 << 20}
	put(t, c.Root+"/notes/file", "of a person")
	put(t, open(t, c, "done", nil)+"/go-build/x", "12345")
	end(t, c, "done", caches.All)
	open(t, c, "left", nil)
	open(t, c, "works", nil)
	over := func(uuid string, _ time.Time) bool { return uuid == "left" }
	for _, tt := range []struct {
		dry  bool
		old  bool
		over func(string, time.Time) bool
		want string
	}{
		{true, false, over, "[{github.com/o/r left 5}]"},
		{false, false, over, "[{github.com/o/r left 5}]"},
		{false, true, over, "[]"}, // one works
		{true, true, func(string, time.Time) bool { return true }, "[{github.com/o/r works 5} {github.com/o/r  more}]"},
		{false, true, func(string, time.Time) bool { return true }, "[{github.com/o/r works 5} {github.com/o/r  more}]"},
		{false, true, func(string, time.Time) bool { return true }, "[]"},
	} {
		all := []string{}
		err := c.Collect(t.Context(), caches.Rules{Over: tt.over, Old: func(time.Time) bool { return tt.old }, DryRun: tt.dry,
			Removed: func(r caches.Removed) {
				bytes := strconv.FormatInt(r.Bytes, 10)
				if r.Bytes > 5 {
					bytes = "more"
				}
				all = append(all, fmt.Sprintf("{%s %s %s}", r.Repository, r.UUID, bytes))
			}})
		if got := fmt.Sprint(all); err != nil || got != tt.want {
			t.Errorf("%+v: %s (%v)", tt, got, err)
		}
	}
	if got := found(t, c.Root); got["notes/file"] == "" || len(got) != 2 { // and a lock
		t.Errorf("left: %v", got)
	}
}
