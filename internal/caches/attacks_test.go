package caches_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"agent/internal/caches"
)

const secret = "not for tools"

// Whatever a copy holds, the next context gets regular files of its own, from the copy alone,
// within the bound. The whole copy is the attacker's; what lies beside it is not.
func TestHostileCopies(t *testing.T) {
	for name, attack := range map[string]func(t *testing.T, dir, host string) error{
		"link to a file":      func(_ *testing.T, dir, host string) error { return os.Symlink(host+"/file", dir+"/go-build/l") },
		"link to a directory": func(_ *testing.T, dir, host string) error { return os.Symlink(host, dir+"/go-build/l") },
		"relative link":       func(_ *testing.T, dir, _ string) error { return os.Symlink("../../../../host/file", dir+"/go-build/l") },
		"link to the layer": func(_ *testing.T, dir, _ string) error {
			return os.Symlink("../../../layer-1/go-build/before", dir+"/go-build/l")
		},
		"hard link":              func(_ *testing.T, dir, host string) error { return os.Link(host+"/file", dir+"/go-build/l") },
		"pipe":                   func(_ *testing.T, dir, _ string) error { return syscall.Mkfifo(dir+"/go-build/l", 0o600) },
		"socket":                 socket,
		"a cache that is a link": func(t *testing.T, dir, host string) error { return linkInstead(t, dir+"/go-build", host) },
		"a part that is a link": func(t *testing.T, dir, host string) error {
			put(t, dir+"/npm/_cacache/x", "")
			return os.Symlink(host, dir+"/npm/_cacache/index-v5")
		},
		"a cache that is a file": func(t *testing.T, dir, _ string) error {
			_ = os.RemoveAll(dir + "/pip")
			put(t, dir+"/pip", secret)
			return nil
		},
		"the copy is gone":   func(_ *testing.T, dir, _ string) error { return os.RemoveAll(dir) },
		"the copy is a link": func(t *testing.T, dir, host string) error { return linkInstead(t, dir, host) },
		"sparse file over the bound": func(t *testing.T, dir, _ string) error {
			put(t, dir+"/pip/big", "")
			return os.Truncate(dir+"/pip/big", 1<<40)
		},
		"deep directories": func(_ *testing.T, dir, _ string) error {
			return os.MkdirAll(dir+"/xdg/"+strings.Repeat("d/", 500), 0o700)
		},
		"a directory nobody may read": func(t *testing.T, dir, _ string) error { put(t, dir+"/xdg/d/l", ""); return os.Chmod(dir+"/xdg/d", 0) },
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			host := base + "/host"
			put(t, host+"/file", secret)
			c := caches.Caches{Root: base + "/caches", Most: 1 << 20}
			put(t, open(t, c, "before", nil)+"/go-build/before", "right")
			end(t, c, "before", caches.All)
			dir := open(t, c, "one", nil)
			put(t, dir+"/xdg/good", "good")
			if err := attack(t, dir, host); err != nil {
				t.Fatal(err)
			}
			_, _ = c.Close(t.Context(), repo, "one", caches.All) // it may say no
			_ = os.Chmod(dir+"/xdg/d", 0o700)
			for name, text := range found(t, open(t, c, "two", nil)) {
				if !(name == "xdg/good" && text == "good" || name == "go-build/before" && text == "right" || text == "") {
					t.Errorf("%s holds %q", name, text)
				}
			}
			if text, err := os.ReadFile(host + "/file"); err != nil || string(text) != secret {
				t.Errorf("the host's file holds %q (%v)", text, err)
			}
		})
	}
}

func socket(_ *testing.T, dir, _ string) error {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	at, err := filepath.Rel(mustGetwd(), dir+"/go-build/s")
	if err != nil || len(at) > 100 {
		return nil // paths of sockets are short
	}
	return syscall.Bind(fd, &syscall.SockaddrUnix{Name: at})
}

func mustGetwd() string { dir, _ := os.Getwd(); return dir }

func linkInstead(t *testing.T, path, to string) error {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	return os.Symlink(to, path)
}

// What a context writes into its copy reaches neither the layer nor another copy before the end.
func TestCopiesAreApart(t *testing.T) {
	c := caches.Caches{Root: t.TempDir(), Most: 1 << 20}
	put(t, open(t, c, "zero", nil)+"/go-build/x", "right")
	end(t, c, "zero", caches.All)
	one, two := open(t, c, "one", nil), open(t, c, "two", nil)
	if one == two {
		t.Fatal("two contexts have one copy")
	}
	f, err := os.OpenFile(one+"/go-build/x", os.O_WRONLY, 0) // in place, not a new file
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("wrong"); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"a copy": two, "a later copy": open(t, c, "three", nil)} {
		if got := found(t, dir)["go-build/x"]; got != "right" {
			t.Errorf("%s holds %q", name, got)
		}
	}
	end(t, c, "one", caches.Downloads) // a stranger's
	if got := found(t, open(t, c, "four", nil))["go-build/x"]; got != "right" {
		t.Errorf("a stranger's task left %q", got)
	}
	end(t, c, "two", caches.All)
	if _, err := f.WriteString("wrong"); err != nil { // a descriptor that outlived its context
		t.Fatal(err)
	}
	if got := found(t, open(t, c, "five", nil))["go-build/x"]; got != "right" {
		t.Errorf("an old descriptor changed it to %q", got)
	}
}

// A file that is swapped for a link, again and again, while the layer is made.
func TestSwapsWhilePromoting(t *testing.T) {
	base := t.TempDir()
	put(t, base+"/host/file", secret)
	c := caches.Caches{Root: base + "/caches", Most: 1 << 20}
	for range 20 {
		dir := open(t, c, "one", nil)
		put(t, dir+"/go-build/d/x", "mine")
		var done atomic.Bool
		go func() {
			for !done.Load() {
				_ = os.Rename(dir+"/go-build/d", dir+"/away")
				_ = os.Symlink(base+"/host", dir+"/go-build/d")
				_ = os.Remove(dir + "/go-build/d")
				_ = os.Rename(dir+"/away", dir+"/go-build/d")
				_ = os.Symlink(base+"/host/file", dir+"/go-build/d/new")
				_ = os.Rename(dir+"/go-build/d/new", dir+"/go-build/d/x")
				_ = os.WriteFile(dir+"/go-build/d/y", []byte("mine"), 0o600)
				_ = os.Rename(dir+"/go-build/d/y", dir+"/go-build/d/x")
			}
		}()
		_, _ = c.Close(t.Context(), repo, "one", caches.All)
		done.Store(true)
		for name, text := range found(t, open(t, c, "two", nil)) {
			if text != "mine" && text != "" { // it was being written
				t.Fatalf("%s holds %q", name, text)
			}
		}
		end(t, c, "two", caches.Nothing)
	}
}

// The bound keeps what was used last, and times in the future count as now.
func TestBound(t *testing.T) {
	c := caches.Caches{Root: t.TempDir(), Most: 40 << 10}
	dir := open(t, c, "one", nil)
	for i, name := range []string{"old", "middle", "new"} {
		put(t, dir+"/go-build/"+name, strings.Repeat("x", 12<<10))
		at := time.Now().Add(time.Duration(i-3) * time.Hour)
		if err := os.Chtimes(dir+"/go-build/"+name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	far := time.Now().AddDate(100, 0, 0)
	put(t, dir+"/go-build/future", "x")
	_ = os.Chtimes(dir+"/go-build/future", far, far)
	kept := end(t, c, "one", caches.All)
	got := found(t, open(t, c, "two", nil))
	if len(got) != 3 || got["go-build/old"] != "" || kept.Files != 3 || kept.Bytes > 40<<10 {
		t.Errorf("%+v, %d files", kept, len(got))
	}
	info, err := os.Stat(open(t, c, "two", nil) + "/go-build/future")
	if err != nil || info.ModTime().After(time.Now()) {
		t.Errorf("%v %v", info, err)
	}
}

// A context that waits keeps a copy within the bound, and finds the layer again if it had more.
func TestTrim(t *testing.T) {
	c := caches.Caches{Root: t.TempDir(), Most: 10 << 10}
	put(t, open(t, c, "zero", nil)+"/go-build/x", "right")
	end(t, c, "zero", caches.All)
	for name, size := range map[string]int{"within": 1 << 10, "over": 20 << 10} {
		dir := open(t, c, name, nil)
		put(t, dir+"/pip/x", strings.Repeat("x", size))
		if err := c.Trim(t.Context(), repo, name); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(dir); (err == nil) != (name == "within") {
			t.Errorf("%s: %v", name, err)
		}
		got := found(t, open(t, c, name, nil))
		if got["go-build/x"] != "right" || (got["pip/x"] != "") != (name == "within") {
			t.Errorf("%s: %d files", name, len(got))
		}
		end(t, c, name, caches.Nothing)
	}
}
