package snapshot

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"agent/internal/fsx"
)

const canary = "canary-2f9c41d8a7"

func secretOptions() Options {
	return Options{Largest: 1000, Secret: func(s string) bool { return strings.Contains(s, canary) }}
}

// What is not saved keeps the entry that it had, is named once, and does not stop the rest.
func TestNotSaved(t *testing.T) {
	r := newRepo(t, secretOptions(), map[string]string{"config": "harmless\n", "big": "small\n", "other": "x", "fifo": "was a file\n"})
	base := r.copy.Last()
	socket, err := net.Listen("unix", filepath.Join(r.dir, "socket"))
	must(t, err)
	defer socket.Close()
	r.write("config", "password="+canary)
	r.write("new/"+canary, "the name holds it")
	must(t, os.Symlink("/home/"+canary, filepath.Join(r.dir, "link")))
	r.write("big", strings.Repeat("x", 1001))
	must(t, os.Remove(filepath.Join(r.dir, "fifo")))
	must(t, syscall.Mkfifo(filepath.Join(r.dir, "fifo"), 0o644))
	git(t, r.dir, "init", "-q", "inner")
	r.write("inner/file", "of another repository")
	r.write("GIT~1", "x")
	r.write("a/.GIT/config", "x")
	r.write("other", "changed")
	saved := r.save(Request{})
	want := []NotSaved{{"GIT~1", BadName}, {"a/.GIT/", BadName}, {"big", TooLarge}, {"config", Secret}, {"fifo", Special}, {"inner/", Nested},
		{"link", Secret}, {"new/" + canary, Secret}, {"socket", Special}}
	slices.SortFunc(saved.NotSaved, func(a, b NotSaved) int { return strings.Compare(a.Path, b.Path) })
	if !slices.Equal(saved.NotSaved, want) {
		t.Errorf("not saved: %v, want %v", saved.NotSaved, want)
	}
	var paths []string
	for _, c := range saved.Changes {
		paths = append(paths, c.Path)
	}
	if !slices.Equal(paths, []string{"fifo", "other"}) {
		t.Errorf("changed: %q", paths)
	}
	for _, path := range []string{"config", "big"} {
		if e, _ := r.copy.Last().Entry(path); e == (Entry{}) || e != must2(base.Entry(path)) {
			t.Errorf("%s is %v in the tree, not what it was", path, e)
		}
	}
	if again := r.save(Request{}); !again.Nothing() {
		t.Errorf("it is said twice: %+v", again)
	}
	if text := r.alone("cat-file", "--batch-all-objects", "--batch"); strings.Contains(text, canary) {
		t.Error("the secret is stored")
	}
	r.write("config", "without it")
	r.write("big", "small again")
	if saved := r.save(Request{}); len(saved.Changes) != 2 {
		t.Errorf("what can be saved again is not: %+v", saved.Changes)
	}
}

// What git cannot reach is left out, and what is saved can be read: by a scan, and where a tool
// says which file it wrote. What a commit holds too deep stays what it was.
func TestDeepPaths(t *testing.T) {
	committed := strings.Repeat("c/", maxOpen+1) + "x"
	r := newRepo(t, Options{}, map[string]string{"a": "a", committed: "as committed"})
	for i, paths := range [][]string{nil, {strings.Repeat("d/", 3000) + "x"}, {strings.Repeat(strings.Repeat("e", 200)+"/", 30) + "x"}, {strings.Repeat("f/", maxOpen+1) + "x"}} {
		for _, path := range append(paths, "a") {
			must(t, fillDeep(r.dir, path, fmt.Sprint("new ", i)))
		}
		saved := r.save(Request{Paths: paths})
		if len(saved.Changes) != 1 || saved.Changes[0].Path != "a" || paths != nil && len(saved.NotSaved) != 1 {
			t.Errorf("%.20q: changes %v, %d not saved", paths, saved.Changes, len(saved.NotSaved))
		}
		if err := r.store.Check(saved.Tree, []string{"a"}); err != nil {
			t.Errorf("%.20q: %v", paths, err)
		}
		if e, ok := r.copy.Last().Entry(committed); !ok || e.Name == "" {
			t.Error("what the commit holds is gone")
		}
	}
}

// fillDeep writes a file step by step, since no system call takes its path.
func fillDeep(dir, path, content string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for {
		name, left, below := strings.Cut(path, "/")
		if !below {
			return root.WriteFile(name, []byte(content), 0o600)
		}
		if err := root.Mkdir(name, 0o700); err != nil && !os.IsExist(err) {
			return err
		}
		sub, err := root.OpenRoot(name)
		if err != nil {
			return err
		}
		_ = root.Close()
		root, path = sub, left
	}
}

func must2(e Entry, _ bool) Entry { return e }

// A content of the repository that holds a secret value is not copied from there either.
func TestEarlierSecret(t *testing.T) {
	r := newRepo(t, secretOptions(), map[string]string{"config": "password=" + canary})
	r.write("config", "password from the environment")
	saved := r.save(Request{})
	if len(saved.Changes) != 1 {
		t.Fatalf("%+v", saved)
	}
	if text := r.alone("cat-file", "--batch-all-objects", "--batch"); strings.Contains(text, canary) || !strings.Contains(text, "from the environment") {
		t.Error("the earlier secret is stored, or the new content is not")
	}
}

// A file that becomes part of the work later is stored then, though it was read before.
func TestLeftOutAtFirst(t *testing.T) {
	r := newRepo(t, Options{}, map[string]string{"a": "a"})
	r.write("cache/x", "x")
	time.Sleep(2 * racy)
	for range 2 {
		if saved := r.save(Request{Without: func(fresh []string) []string { return []string{"cache/"} }}); !saved.Nothing() {
			t.Fatalf("left out: %+v", saved)
		}
	}
	saved := r.save(Request{})
	if saved.Tree != r.added() || r.alone("cat-file", "blob", saved.Tree+":cache/x") != "x" {
		t.Errorf("%+v", saved)
	}
}

// A submodule stays what the commit says, whatever a tool does in its directory.
func TestSubmodule(t *testing.T) {
	r := newRepo(t, Options{}, map[string]string{"a": "a"})
	git(t, r.dir, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",sub")
	git(t, r.dir, "commit", "-q", "-m", "sub")
	base := r.listed("HEAD")
	r.copy.base, r.copy.last = base, base
	r.write("sub/file", "x")
	git(t, r.dir, "init", "-q", "sub")
	if saved := r.save(Request{}); !saved.Nothing() {
		t.Errorf("%+v", saved)
	}
}

// A process swaps directories for links to the outside, and files for links and FIFOs,
// while the copy is read and filled: nothing outside is read or written, and nothing waits.
func TestSwappingProcess(t *testing.T) {
	r := newRepo(t, Options{}, map[string]string{"d/e/file": "inside\n", "f": "f"})
	outside := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(outside, "e"), 0o755))
	for _, name := range []string{"e/file", "e/only", "file"} {
		must(t, os.WriteFile(filepath.Join(outside, name), []byte(canary), 0o644))
	}
	stop := swap(t, r.dir, outside)
	defer stop()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	end := time.Now().Add(1500 * time.Millisecond)
	rounds := 0
	for ; time.Now().Before(end); rounds++ {
		if rounds%3 != 0 {
			_, _ = r.copy.Save(ctx, Request{Paths: [][]string{nil, {"d/e/file"}}[rounds%2]})
			continue
		}
		if found, err := r.copy.Differs(ctx, nil); err == nil {
			_, _ = r.copy.Fill(ctx, found) // it may lose against the process, and never leave the copy
		}
	}
	if ctx.Err() != nil {
		t.Fatal("it waited")
	}
	for _, name := range []string{"e/file", "e/only", "file"} {
		if text, err := os.ReadFile(filepath.Join(outside, name)); string(text) != canary {
			t.Errorf("%s outside was changed: %q, %v", name, text, err)
		}
	}
	entries, err := os.ReadDir(outside)
	must(t, err)
	if len(entries) != 2 {
		t.Errorf("something was written outside: %v", entries)
	}
	if _, err := os.Stat(r.stored); err == nil {
		if text := r.alone("cat-file", "--batch-all-objects", "--batch"); strings.Contains(text, nameOf(SHA1, kindBlob, []byte(canary))) {
			t.Error("a file outside was read")
		}
	}
	if rounds < 10 {
		t.Errorf("only %d rounds", rounds)
	}
}

// swap swaps until it is stopped. Its own steps lead nowhere outside.
func swap(t *testing.T, dir, outside string) (stop func()) {
	root, err := os.OpenRoot(dir)
	must(t, err)
	replace := func(name, target string) {
		_ = root.Rename(name, name+"-")
		_ = root.Symlink(target, name)
		_ = root.Remove(name)
		_ = root.Rename(name+"-", name)
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			default:
			}
			replace("d", outside)
			replace("d/e", filepath.Join(outside, "e"))
			replace("f", filepath.Join(outside, "file"))
			_ = root.Remove("f")
			_ = syscall.Mkfifo(filepath.Join(dir, "f"), 0o644)
			_ = root.Remove("f")
			_ = root.WriteFile("f", []byte("f"), 0o644)
		}
	}()
	return func() { close(quit); <-done; _ = root.Close() }
}

// What was looked at can be a link, a pipe or another file when it is opened. Each step
// alone refuses that, so that no order of them leads outside.
func TestNothingThroughLinks(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	must(t, os.WriteFile(filepath.Join(outside, "file"), []byte(canary), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "file"), []byte("inside"), 0o644))
	must(t, os.Symlink(outside, filepath.Join(dir, "dir")))
	must(t, os.Symlink(filepath.Join(outside, "file"), filepath.Join(dir, "link")))
	must(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644))
	d, err := openRoot(dir)
	must(t, err)
	defer d.close()
	theirs, err := openRoot(outside)
	must(t, err)
	defer theirs.close()
	seen, err := theirs.stat("file")
	must(t, err)
	for _, name := range []string{"link", "file", "fifo"} {
		if data, err := d.read(name, seen, 100); err == nil {
			t.Errorf("%s gave %q, which is not what was seen", name, data)
		}
	}
	if sub, err := d.sub("dir"); err == nil {
		sub.close()
		t.Error("a link was opened as a directory")
	}
	if _, err := d.readPath("dir/file", seen, 100); err == nil {
		t.Error("a file was read through a link")
	}
	if _, err := openRoot(filepath.Join(dir, "dir")); err == nil {
		t.Error("a link was taken for the copy")
	}
	must(t, d.remove("dir/file"))
	must(t, d.write("link", ModeFile, []byte("new")))
	must(t, d.write("dir/other", ModeFile, []byte("new")))
	if entries := must1(os.ReadDir(outside)); len(entries) != 1 || string(must1(os.ReadFile(filepath.Join(outside, "file")))) != canary {
		t.Errorf("outside: %v", entries)
	}
	if info := must1(os.Lstat(filepath.Join(dir, "dir"))); !info.IsDir() {
		t.Error("the link is still in the place of the directory")
	}
}

// A tree with names that lead out of the copy, or into its .git, is not followed.
func TestHostileTree(t *testing.T) {
	for _, path := range []string{"../out", "a/../../out", ".git/hooks/post-checkout", "a/.GIT/x", "/abs", "x/./y", "git~1/x"} {
		home := t.TempDir()
		dir := filepath.Join(home, "copy")
		must(t, os.MkdirAll(dir, 0o755))
		if err := writeBelow(dir, path, ModeFile, []byte("x")); err == nil {
			t.Errorf("%q was written", path)
		}
		if entries, _ := os.ReadDir(home); len(entries) != 1 {
			t.Errorf("%q: %v", path, entries)
		}
	}
}

// Whatever a byte of a repository's pack says, an object has the content of its name or
// is not there.
func TestDamagedPacks(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q", ".")
	for n := range 4 {
		must(t, os.WriteFile(filepath.Join(dir, "f"), []byte(strings.Repeat("line\n", 300)+fmt.Sprint(n)), 0o644))
		git(t, dir, "add", "-A")
		git(t, dir, "commit", "-q", "-m", "x")
	}
	git(t, dir, "repack", "-q", "-a", "-d", "-f")
	head := git(t, dir, "rev-parse", "HEAD")
	blobs := strings.Fields(git(t, dir, "rev-parse", "HEAD:f", "HEAD~1:f", "HEAD~2:f"))
	r := rand.New(rand.NewPCG(3, 4))
	for _, pattern := range []string{"*.pack", "*.idx"} {
		file := must1(filepath.Glob(filepath.Join(dir, ".git/objects/pack", pattern)))[0]
		good := must1(os.ReadFile(file))
		must(t, os.Chmod(file, 0o644))
		for range 150 {
			bad := slices.Clone(good)
			for range 1 + r.IntN(4) {
				bad[r.IntN(len(bad))] = byte(r.IntN(256))
			}
			must(t, os.WriteFile(file, bad[:len(bad)-r.IntN(2)*r.IntN(len(bad))], 0o644))
			repository, err := OpenRepository(dir)
			must(t, err)
			_, _ = repository.Tree(head)
			for _, name := range blobs {
				if data, ok := repository.get(kindBlob, name, 1<<20); ok && nameOf(SHA1, kindBlob, data) != name {
					t.Errorf("%s has another content", name)
				}
			}
			repository.Close()
		}
		must(t, os.WriteFile(file, good, 0o644))
	}
}

// A power cut or a full disk in the middle of a save leaves what was saved before as it
// was, and what Save has acknowledged is there after a cut.
func TestCrashWhileSaving(t *testing.T) {
	base := NewTree(SHA1, nil)
	for n := 1; ; n++ {
		disk := fsx.NewMem()
		dir := t.TempDir()
		var acknowledged []string
		disk.KillAt(n, n%2 == 0)
		store, err := OpenStore(folder{disk})
		if err == nil {
			c, err := NewCopy(dir, store, base, base, nil, Options{Largest: 1000})
			must(t, err)
			for i := range 3 {
				must(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte(fmt.Sprint(i)), 0o644))
				saved, err := c.Save(t.Context(), Request{})
				if err != nil {
					break
				}
				acknowledged = append(acknowledged, saved.Tree)
			}
		}
		after := disk.Crash(int64(n), 0.5)
		store, err = OpenStore(folder{after})
		must(t, err)
		for i, name := range acknowledged {
			tree, err := store.Tree(name, nil)
			if err != nil {
				t.Fatalf("operation %d: %v", n, err)
			}
			if missing, err := store.WriteBelow(filepath.Join(t.TempDir(), "out"), tree); err != nil || len(missing) > 0 {
				t.Fatalf("operation %d: save %d: %v, missing %q", n, i, err, missing)
			}
		}
		if len(acknowledged) == 3 {
			return
		}
	}
}
