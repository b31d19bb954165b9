package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agent/internal/fsx"
)

// folder is an object directory as package contexts has it.
type folder struct{ fsx.FS }

func (f folder) Names() (names []string, err error) {
	entries, err := f.ReadDir("objects/pack")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

func (f folder) Open(name string) (fsx.File, error) {
	return f.OpenFile(path.Join("objects/pack", name), os.O_RDONLY, 0)
}

func (f folder) Keep(name string, data []byte) error {
	if err := fsx.MkdirSync(f.FS, "objects/pack"); err != nil {
		return err
	}
	file, err := f.OpenFile(path.Join("objects/pack", name+fsx.TempSuffix), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return f.Rename(path.Join("objects/pack", name+fsx.TempSuffix), path.Join("objects/pack", name))
}

func (f folder) Sync() error { return f.SyncDir("objects/pack") }

func (f folder) Remove(names ...string) error {
	for _, name := range names {
		if err := f.FS.Remove(path.Join("objects/pack", name)); err != nil {
			return err
		}
	}
	return nil
}

// repo is a repository of git with our own object directory beside it.
type repo struct {
	t      testing.TB
	dir    string // of the working copy
	store  *Store
	stored string // our object directory
	copy   *Copy
}

func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@x", "-c", "core.quotePath=false", "-c", "protocol.file.allow=always"}, args...)...)
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1")
	var complaint bytes.Buffer
	c.Stderr = &complaint
	out, err := c.Output()
	if err != nil {
		t.Fatalf("git %q: %v: %s", args, err, complaint.String())
	}
	return strings.TrimSuffix(string(out), "\n")
}

// newRepo commits files, and begins to save what is made of them.
func newRepo(t testing.TB, o Options, files map[string]string) *repo {
	t.Helper()
	home := t.TempDir()
	r := &repo{t: t, dir: filepath.Join(home, "copy")}
	git(t, home, "init", "-q", r.dir)
	for name, text := range files {
		r.write(name, text)
	}
	git(t, r.dir, "add", "-A")
	git(t, r.dir, "commit", "-q", "--allow-empty", "-m", "base")
	disk, err := fsx.OpenOS(filepath.Join(home, "context"))
	must(t, err)
	t.Cleanup(func() { _ = disk.Close() })
	r.stored = filepath.Join(home, "context", "objects")
	r.store, err = OpenStore(folder{disk})
	must(t, err)
	if o.Largest == 0 {
		o.Largest = 1 << 20
	}
	o.Original = r.original
	base := r.listed("HEAD")
	r.copy, err = NewCopy(r.dir, r.store, base, base, nil, o)
	must(t, err)
	return r
}

// listed is a tree as git lists it.
func (r *repo) listed(tree string) *Tree {
	entries := map[string]Entry{}
	for line := range strings.SplitSeq(git(r.t, r.dir, "ls-tree", "-r", "-z", tree), "\x00") {
		if meta, name, ok := strings.Cut(line, "\t"); ok {
			field := strings.Fields(meta)
			entries[name] = Entry{field[0], field[2]}
		}
	}
	return NewTree(SHA1, entries)
}

func (r *repo) original(ctx context.Context, names []string, each func(string, []byte)) error {
	repository, err := OpenRepository(r.dir)
	if err != nil {
		return err
	}
	defer repository.Close()
	return repository.Blobs(ctx, names, 1<<20, each)
}

func (r *repo) write(name, text string) {
	r.t.Helper()
	file := filepath.Join(r.dir, name)
	must(r.t, os.MkdirAll(filepath.Dir(file), 0o755))
	must(r.t, os.WriteFile(file, []byte(text), 0o644))
}

func (r *repo) save(q Request) Saved {
	r.t.Helper()
	saved, err := r.copy.Save(r.t.Context(), q)
	must(r.t, err)
	return saved
}

// added is the tree that git makes of everything, in an index of its own.
func (r *repo) added() string {
	c := exec.Command("sh", "-c", "git add -A && git write-tree")
	c.Dir = r.dir
	c.Env = append(os.Environ(), "GIT_INDEX_FILE="+filepath.Join(r.t.TempDir(), "index"), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=advice.addEmbeddedRepo", "GIT_CONFIG_VALUE_0=false")
	out, err := c.Output()
	must(r.t, err)
	return strings.TrimSpace(string(out))
}

// alone runs git on our objects, without the repository.
func (r *repo) alone(args ...string) string {
	bare := r.t.TempDir()
	git(r.t, bare, "init", "-q", "--bare", ".")
	must(r.t, os.RemoveAll(filepath.Join(bare, "objects")))
	must(r.t, os.Symlink(r.stored, filepath.Join(bare, "objects")))
	return git(r.t, bare, args...)
}

// step is something that a tool does in a copy.
type step struct {
	name string
	do   func(r *repo)
}

var steps = []step{
	{"write", func(r *repo) { r.write("new.txt", "one\ntwo\n") }},
	{"edit", func(r *repo) { r.write("src/deep/a.txt", "first\nchanged\nthird\nfourth\n") }},
	{"again at once, of the same size", func(r *repo) { r.write("src/deep/a.txt", "first\nCHANGED\nthird\nfourth\n") }},
	{"mode", func(r *repo) { must(r.t, os.Chmod(filepath.Join(r.dir, "run.sh"), 0o755)) }},
	{"link", func(r *repo) { must(r.t, os.Symlink("../../etc/passwd", filepath.Join(r.dir, "src/link"))) }},
	{"file to link", func(r *repo) {
		must(r.t, os.Remove(filepath.Join(r.dir, "old.txt")))
		must(r.t, os.Symlink("run.sh", filepath.Join(r.dir, "old.txt")))
	}},
	{"names", func(r *repo) {
		for _, name := range []string{"a b", "line\nbreak", "tab\t\"quote'", "bytes\xff\xfe", "é日本", "-rf", ".hidden", "d.txt/x", "d/x", "d0", ":x", "*"} {
			r.write("names/"+name, name)
		}
	}},
	{"ignored", func(r *repo) { r.write("build/out.o", "x"); r.write("src/x.log", "x") }},
	{"rule", func(r *repo) { r.write("src/.gitignore", "!x.log\n") }},
	{"no EOL conversion", func(r *repo) { r.write("dos.txt", "a\r\nb\r\n") }},
	{"directory to file", func(r *repo) {
		must(r.t, os.RemoveAll(filepath.Join(r.dir, "src/deep")))
		r.write("src/deep", "now a file")
	}},
	{"file to directory", func(r *repo) {
		must(r.t, os.Remove(filepath.Join(r.dir, "new.txt")))
		r.write("new.txt/inner/x", "y")
	}},
	{"delete", func(r *repo) { must(r.t, os.RemoveAll(filepath.Join(r.dir, "names"))) }},
	{"binary", func(r *repo) { r.write("b.bin", "a\x00b") }},
	{"empty directory", func(r *repo) { must(r.t, os.MkdirAll(filepath.Join(r.dir, "empty/er"), 0o755)) }},
	{"empty file", func(r *repo) { r.write("nothing", "") }},
}

var beginning = map[string]string{"src/deep/a.txt": "first\nsecond\nthird\n", "src/b.txt": "b\n", "run.sh": "#!/bin/sh\n", "old.txt": "old\n",
	".gitignore": "build/\n*.log\n", "kept/c.txt": "c\n", "many/1": "1", "many/2": "2"}

// Each step saves what git would add, and any two trees can be compared without the
// repository. The counts of lines are git's.
func TestSavesWhatGitAdds(t *testing.T) {
	r := newRepo(t, Options{}, beginning)
	trees := []string{r.copy.Last().Name()}
	for _, s := range steps {
		s.do(r)
		saved := r.save(Request{})
		if want := r.added(); saved.Tree != want {
			t.Fatalf("%s: saved %s, git adds %s:\n%s", s.name, saved.Tree, want, git(t, r.dir, "status", "--short"))
		}
		if again := r.save(Request{}); !again.Nothing() {
			t.Errorf("%s: a second save finds %+v", s.name, again)
		}
		if saved.Tree != saved.From {
			trees = append(trees, saved.Tree)
			checkCounts(t, r, saved)
		}
	}
	if len(trees) < len(steps)-2 {
		t.Fatalf("only %d trees", len(trees))
	}
	for i, from := range trees {
		for _, to := range []string{trees[0], trees[(i+1)%len(trees)], trees[(i*5)%len(trees)]} {
			if got, want := r.alone("diff-tree", "-r", "-p", "--full-index", from, to), git(t, r.dir, "diff-tree", "-r", "-p", "--full-index", r.inRepo(from), r.inRepo(to)); got != want {
				t.Fatalf("%s..%s differ without the repository:\n%s\n---\n%s", from, to, got, want)
			}
		}
	}
	if packs, _ := filepath.Glob(r.stored + "/pack/*.idx"); len(packs) != len(trees)-1 {
		t.Errorf("%d packs for %d saves", len(packs), len(trees)-1)
	}
	for _, idx := range must1(filepath.Glob(r.stored + "/pack/*.idx")) {
		git(t, r.dir, "verify-pack", idx)
	}
	if got := r.alone("cat-file", "--batch-all-objects", "--batch-check"); strings.Contains(got, nameOf(SHA1, kindBlob, []byte("c\n"))) {
		t.Error("a content that never changed is stored")
	}
}

func must1[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// inRepo gives the repository the objects of a tree, so that git there can show it.
func (r *repo) inRepo(tree string) string {
	must(r.t, os.MkdirAll(filepath.Join(r.dir, ".git/objects/info"), 0o755))
	must(r.t, os.WriteFile(filepath.Join(r.dir, ".git/objects/info/alternates"), []byte(r.stored+"\n"), 0o644))
	return tree
}

func checkCounts(t *testing.T, r *repo, saved Saved) {
	t.Helper()
	want := map[string]string{}
	for line := range strings.SplitSeq(r.alone("diff-tree", "-r", "-z", "--no-renames", "--minimal", "--numstat", saved.From, saved.Tree), "\x00") {
		if part := strings.SplitN(line, "\t", 3); len(part) == 3 {
			want[part[2]] = part[0] + " " + part[1]
		}
	}
	got := map[string]string{}
	for _, c := range saved.Changes {
		got[c.Path] = fmt.Sprint(c.Added, " ", c.Removed)
		if c.Binary {
			got[c.Path] = "- -"
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("counted %v, git %v", got, want)
	}
}

// A save that names the files which were written reads no others, and falls back to
// all where a name cannot tell.
func TestNamedPaths(t *testing.T) {
	r := newRepo(t, Options{}, beginning)
	r.save(Request{})
	for _, c := range []struct {
		path string
		do   func()
	}{
		{"src/b.txt", func() { r.write("src/b.txt", "B\n") }},
		{"src/fresh/x.txt", func() { r.write("src/fresh/x.txt", "x") }},
		{"./src//b.txt", func() { r.write("src/b.txt", "again\n") }},
		{"src/y.log", func() { r.write("src/y.log", "ignored") }},
		{"build/y", func() { r.write("build/y", "ignored") }},
		{"link", func() {
			must(t, os.Symlink("src/b.txt", filepath.Join(r.dir, "link")))
			r.write("src/b.txt", "through a link")
		}},
		{filepath.Join(r.dir, "run.sh"), func() { r.write("run.sh", "absolute") }},
		{"../x", func() { r.write("run.sh", "outside") }},
		{"kept", func() { must(t, os.RemoveAll(filepath.Join(r.dir, "kept"))); r.write("kept", "a file") }},
		{"many/1", func() { must(t, os.Remove(filepath.Join(r.dir, "many/1"))) }},
	} {
		c.do()
		if saved, want := r.save(Request{Paths: []string{c.path}}), r.added(); saved.Tree != want {
			t.Errorf("%s: saved %s, git adds %s", c.path, saved.Tree, want)
		}
	}
	r.write("src/b.txt", "not looked at")
	r.write("run.sh", "looked at")
	saved := r.save(Request{Paths: []string{"run.sh"}})
	if len(saved.Changes) != 1 || saved.Changes[0].Path != "run.sh" {
		t.Errorf("looked at more than run.sh: %+v", saved.Changes)
	}
}

// Every saved tree can be made again from every other, also if the repository gives
// only what the base has.
func TestFills(t *testing.T) {
	r := newRepo(t, Options{}, beginning)
	base := r.copy.Last()
	trees := []string{base.Name()}
	for _, s := range steps {
		s.do(r)
		if tree := r.save(Request{}).Tree; !slices.Contains(trees, tree) {
			trees = append(trees, tree)
		}
	}
	for n := range trees {
		name := trees[(n*5)%len(trees)]
		if n%3 == 1 {
			r.write("stray/file.txt", "stray") // a process that died wrote it
			r.write("run.sh", "half")
		}
		store, err := OpenStore(r.store.files) // as another process does
		must(t, err)
		tree, err := store.Tree(name, base)
		must(t, err)
		c, err := NewCopy(r.dir, store, base, tree, nil, r.copy.o)
		must(t, err)
		found, err := c.Differs(t.Context(), nil)
		must(t, err)
		aside := filepath.Join(t.TempDir(), "aside")
		kept, err := found.Put(aside)
		must(t, err)
		if n%3 == 1 {
			if text, err := os.ReadFile(filepath.Join(aside, "stray/file.txt")); string(text) != "stray" || !slices.Contains(kept.Paths, "stray/file.txt") {
				t.Errorf("what was in the way is not kept: %q, %v, %v", text, err, kept.Paths)
			}
		}
		missing, err := c.Fill(t.Context(), found)
		must(t, err)
		if got := r.added(); got != name || len(missing) > 0 {
			t.Fatalf("filled %s, wanted %s; missing %q\n%s", got, name, missing, git(t, r.dir, "diff-tree", "-r", r.inRepo(name), got))
		}
		if again, err := c.Differs(t.Context(), nil); err != nil || len(again.Changes) > 0 {
			t.Errorf("after that it differs: %+v, %v", again.Changes, err)
		}
	}
}

// Objects are read as git reads them, from loose files and from packs with deltas of
// both kinds, in both formats.
func TestReadsRepositories(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		dir := t.TempDir()
		git(t, dir, "init", "-q", "--object-format="+format, ".")
		text := strings.Repeat("some line that is always the same\n", 200)
		for n := range 6 {
			must(t, os.MkdirAll(filepath.Join(dir, "d/e"), 0o755))
			must(t, os.WriteFile(filepath.Join(dir, "d/e/f"), []byte(text+fmt.Sprint(n)+text), 0o755))
			must(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(n)), []byte(fmt.Sprint(n)), 0o644))
			git(t, dir, "add", "-A")
			git(t, dir, "commit", "-q", "-m", "x")
		}
		all := strings.Fields(git(t, dir, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype)=%(objectname)"))
		for _, how := range []string{"", "-adf", "-adf --offset"} {
			if how != "" {
				git(t, dir, "-c", "repack.useDeltaBaseOffset="+fmt.Sprint(how != "-adf"), "repack", "-q", "-a", "-d", "-f")
			}
			r, err := OpenRepository(dir)
			must(t, err)
			for _, one := range all {
				kind, name, _ := strings.Cut(one, "=")
				if kind != "blob" {
					continue
				}
				data, ok := r.get(kindBlob, name, 1<<20)
				if want := git(t, dir, "cat-file", "blob", name); !ok || strings.TrimSuffix(string(data), "\n") != want {
					t.Errorf("%s %q: %s is %d bytes, %v", format, how, name, len(data), ok)
				}
			}
			head := git(t, dir, "rev-parse", "HEAD")
			tree, err := r.Tree(head)
			if want := git(t, dir, "rev-parse", "HEAD^{tree}"); err != nil || tree.Name() != want {
				t.Errorf("%s %q: %v, not the tree %s", format, how, err, want)
			}
			r.Close()
		}
	}
}
