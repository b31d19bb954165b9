package git

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agent/internal/exhaustive"

	"golang.org/x/sys/unix"
)

// exchange gives two paths each other's content, until it is killed.
func exchange(a, b string) {
	for {
		_ = unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	}
}

const outsideText = "aws_secret_access_key = of the operator\n"

// attack is a working copy in which one path becomes another one while git works,
// and what lies outside of it.
type attack struct {
	*testing.T
	repo    *Repo
	outside string // a repository of the operator's; its only file is "credentials"
	blob    string // the name of that file's content
	commit  string // the copy's
}

// swaps are the paths that are exchanged: one of the copy, and what prepare puts beside it.
var swaps = map[string]struct {
	path    string
	prepare func(a attack, beside string) error
}{
	"directory":  {"sub", func(a attack, beside string) error { return os.Symlink(a.outside, beside) }},
	"file":       {"credentials", func(a attack, beside string) error { return os.Symlink(a.outside+"/credentials", beside) }},
	"index":      {".git/index", func(a attack, beside string) error { return os.Symlink(a.outside+"/.git/index", beside) }},
	"objects":    {".git/objects", func(a attack, beside string) error { return os.Symlink(a.outside+"/.git/objects", beside) }},
	"references": {".git/refs", func(a attack, beside string) error { return os.Symlink(a.outside+"/.git/refs", beside) }},
	"alternates": {".git/objects/info", func(a attack, beside string) error {
		if err := os.MkdirAll(beside, 0o755); err != nil {
			return err
		}
		return os.WriteFile(beside+"/alternates", []byte(a.outside+"/.git/objects\n"), 0o644)
	}},
	"git directory": {".git", func(a attack, beside string) error { return os.Symlink(a.outside+"/.git", beside) }},
	"copy":          {"", func(a attack, beside string) error { return os.Symlink(a.outside, beside) }},
}

func newAttack(t *testing.T, name string) (a attack, stop func()) {
	t.Helper()
	dir := t.TempDir()
	a = attack{T: t, outside: filepath.Join(dir, "outside")}
	plain(t, dir, "init", "-q", "outside")
	put(t, a.outside, "credentials", outsideText)
	plain(t, a.outside, "add", "-A")
	plain(t, a.outside, "commit", "-qm", "x")
	a.blob = plain(t, a.outside, "rev-parse", "HEAD:credentials")
	plain(t, dir, "init", "-q", "copy")
	copied := filepath.Join(dir, "copy")
	harmless := strings.Repeat("x", len(outsideText)-1) + "\n" // git reads as much as it saw
	put(t, copied, "sub/credentials", harmless)
	put(t, copied, "credentials", harmless)
	plain(t, copied, "add", "-A")
	plain(t, copied, "commit", "-qm", "x")
	a.commit = plain(t, copied, "rev-parse", "HEAD")
	if err := os.MkdirAll(copied+"/.git/objects/info", 0o755); err != nil {
		t.Fatal(err)
	}
	var err error
	if a.repo, err = Open(copied); err != nil {
		t.Fatal(err)
	}
	swap, beside := swaps[name], filepath.Join(copied, ".git/hooks/beside") // where nothing is checked
	if name == "git directory" || name == "copy" {
		beside = filepath.Join(dir, "beside")
	}
	_ = os.MkdirAll(filepath.Dir(beside), 0o755)
	if err := swap.prepare(a, beside); err != nil {
		t.Fatal(err)
	}
	p := exec.Command(os.Args[0], "exchange", filepath.Join(copied, swap.path), beside)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return a, func() { _ = p.Process.Kill(); _ = p.Wait() }
}

// state is what git would write outside.
func (a attack) state() string {
	var all strings.Builder
	_ = filepath.WalkDir(a.outside, func(path string, d os.DirEntry, err error) error {
		if info, err := d.Info(); err == nil && !d.IsDir() {
			all.WriteString(path + info.ModTime().String() + "\n")
		}
		return nil
	})
	return all.String()
}

// succeeds tries once, and says how the attack came through, or "".
func (a attack) succeeds() (how string) {
	before := a.state()
	_, _, _ = a.repo.Tree(a.Context(), 1<<20, nil)
	_ = a.repo.published(a.Context(), a.commit) // writes a reference
	_ = a.repo.Contents(a.Context(), []string{a.blob}, 1<<20, func(_, content string) {
		if content == outsideText {
			how = "the content was read"
		}
	})
	if a.state() != before {
		how = "files outside were changed"
	}
	return how
}

// ownsBlob reports whether the copy holds the operator's file; after the swaps have stopped.
func (a attack) ownsBlob() bool {
	for _, dir := range []string{a.repo.Dir, filepath.Dir(a.repo.Dir) + "/beside"} {
		for _, objects := range []string{dir + "/.git/objects/", dir + "/objects/", dir + "/.git/hooks/beside/"} {
			if info, err := os.Lstat(strings.TrimSuffix(objects, "/")); err != nil || !info.IsDir() {
				continue
			}
			real, _ := filepath.EvalSymlinks(objects)
			if strings.HasPrefix(real, a.outside) {
				continue
			}
			if _, err := os.Lstat(objects + a.blob[:2] + "/" + a.blob[2:]); err == nil {
				return true
			}
		}
	}
	return false
}

func try(t *testing.T, name string, times int) (how string) {
	t.Helper()
	a, stop := newAttack(t, name)
	defer stop()
	for range times {
		if how = a.succeeds(); how != "" {
			return how
		}
	}
	stop()
	if a.ownsBlob() {
		return "the file is in the copy"
	}
	return ""
}

func TestSwapsReachNothingOutside(t *testing.T) {
	exhaustive.Slow(t)
	for name := range swaps {
		t.Run(name, func(t *testing.T) {
			if how := try(t, name, exhaustive.Of(4, 200)); how != "" {
				t.Error(how)
			}
		})
	}
}

// TestSwapsAreReal shows that the swaps come through where git is not confined.
func TestSwapsAreReal(t *testing.T) {
	exhaustive.Only(t) // it is a matter of luck how long it takes
	unconfined = true
	defer func() { unconfined = false }()
	for _, name := range slices.Sorted(maps.Keys(swaps)) {
		t.Run(name, func(t *testing.T) {
			for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); { // git writes an object once only, so begin anew often
				if how := try(t, name, 3); how != "" {
					t.Log(how)
					return
				}
			}
			t.Error("it never came through, and proves nothing")
		})
	}
}

// TestNoGitOutlivesAKilledAgent: a server that lets git wait, and a kill.
func TestNoGitOutlivesAKilledAgent(t *testing.T) {
	asked := make(chan struct{}, 1)
	stuck := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	defer stuck.Close()
	for n := range exhaustive.Of(5, 100) {
		url := stuck.URL + "/outlived.git"
		agent := exec.CommandContext(t.Context(), os.Args[0], "clone", url, filepath.Join(t.TempDir(), "w"))
		if err := agent.Start(); err != nil {
			t.Fatal(err)
		}
		<-asked
		if !strings.Contains(commandLines(), "outlived.git") {
			t.Fatal("git does not run, nothing is proven")
		}
		_ = agent.Process.Kill()
		_ = agent.Wait()
		for end := time.Now().Add(time.Second); strings.Contains(commandLines(), "outlived.git"); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("try %d: git lives on", n)
			}
		}
	}
}

// TestGitSeesItsOwnFilesOnly runs git on files that it may not see.
func TestGitSeesItsOwnFilesOnly(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "secret", "x\n")
	put(t, dir, "work/file", "x\n")
	read := func(path string) error {
		_, err := command{name: "hash-object", args: []string{"--no-filters", path}, dir: dir, trees: []string{dir + "/work"}, env: []string{"GIT_DIR=/dev/null"}}.run(context.Background())
		return err
	}
	if err := read(dir + "/work/file"); err != nil {
		t.Error(err)
	}
	for _, path := range []string{dir + "/secret", "/proc/self/environ", "/etc/shadow"} {
		if read(path) == nil {
			t.Errorf("git reads %s", path)
		}
	}
	if err := os.Symlink(dir, dir+"/link"); err != nil {
		t.Fatal(err)
	}
	if _, err := (command{name: "version", dir: "/", trees: []string{dir + "/link"}}).run(context.Background()); err == nil {
		t.Error("a link was opened to others")
	}
}

func BenchmarkCommand(b *testing.B) {
	for name, free := range map[string]bool{"confined": false, "unconfined": true} {
		b.Run(name, func(b *testing.B) {
			unconfined = free
			defer func() { unconfined = false }()
			for b.Loop() {
				if _, err := (command{name: "version", dir: "/"}).run(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
