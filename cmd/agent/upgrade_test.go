package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"agent/contexts"
	"agent/forge/forgetest"
	"agent/internal/app"
	"agent/internal/config"
	"agent/llm/llmtest"
)

// writeStore makes the golden store of the current formats. A release renames unreleased.tar.gz to its
// version; from then on the file is never changed. Run it under `unshare --uts` with a host name that says nothing.
var writeStore = flag.Bool("write-store", false, "write testdata/stores/unreleased.tar.gz")

const stores = "testdata/stores"

// kept are the parts of a world that make up a golden store: all that a user takes along at an upgrade.
var kept = []string{"contexts", "inbox", "origin.git"}

// TestStoresOfReleases: what earlier releases wrote can be listed, read, verified and replayed, and a task
// that they paused goes on. Each store has a task that is done and archived, a planned one that is done,
// and one that waits for a person because the model's key was refused.
func TestStoresOfReleases(t *testing.T) {
	t.Parallel()
	slow(t)
	if *writeStore {
		t.Run("write", makeStore)
	}
	all, err := filepath.Glob(filepath.Join(stores, "*.tar.gz"))
	must(t, err)
	if len(all) == 0 {
		t.Fatal("there is no store")
	}
	for _, file := range all {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".tar.gz"), func(t *testing.T) { readStore(t, file) })
	}
}

func readStore(t *testing.T, file string) {
	w := &world{t: t, dir: storeDir(t), forge: forgetest.New(), model: llmtest.New(greet())}
	t.Cleanup(w.forge.Close)
	t.Cleanup(w.model.Close)
	w.site = (&onFiles{w: w}).config()
	must(t, os.MkdirAll(w.path("tmp"), 0o700))
	unpackStore(t, file, w.dir)
	states, archived := map[string]string{}, ""
	for _, l := range w.list(0) {
		if strings.HasSuffix(l.TaskKey, "/1") {
			archived = l.UUID[:8]
		}
		states[strings.TrimPrefix(l.TaskKey, "files/inbox/tasks/")] = string(l.State)
		for _, args := range [][]string{{"inspect"}, {"inspect", "--conversation"}, {"replay"}, {"why"}} {
			out, _ := w.agent(0, append(args, l.UUID)...)
			if args[0] == "replay" && !strings.Contains(out, "exact: ") {
				t.Errorf("replay %s:\n%s", l.TaskKey, out)
			}
		}
	}
	if states["1"] != "completed" || states["2"] != "completed" || states["3"] != "paused" || len(states) != 3 {
		t.Fatalf("states: %v", states)
	}
	w.agent(0, "verify")
	if out, _ := w.agent(0, "search", "hello.txt"); !strings.Contains(out, archived) {
		t.Errorf("search finds nothing in the archive:\n%s", out)
	}
	before := snapshotLogs(t, w.path("contexts"))
	w.agent(0, "resume", "files/inbox/tasks/3")
	w.agent(0, "run")
	for _, l := range w.list(0) {
		if l.State != "completed" {
			t.Errorf("%s is %s", l.TaskKey, l.State)
		}
		w.agent(0, "replay", l.UUID)
	}
	w.agent(0, "verify")
	for uuid, log := range snapshotLogs(t, w.path("contexts")) {
		if !strings.HasPrefix(log, before[uuid]) {
			t.Errorf("%s: lines of the old log were changed", uuid)
		}
	}
	if text := (&onFiles{w: w}).text(); !strings.Contains(text, "I wrote hello.txt.") {
		t.Errorf("the task is not told:\n%s", text)
	}
}

// storeDir is where all stores were made and are read again: logs name the working copy, and a task goes
// on in that place only. One test at a time is there.
func storeDir(t *testing.T) string {
	t.Helper()
	const dir = "/tmp/agent-stores"
	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Skipf("another user works there: %v", err)
	}
	must(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	must(t, os.RemoveAll(dir))
	must(t, os.Mkdir(dir, 0o700))
	t.Cleanup(func() { _ = os.RemoveAll(dir); _ = lock.Close() })
	return dir
}

// snapshotLogs gives the text of each log that is not archived, by its context.
func snapshotLogs(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "events.jsonl" {
			return err
		}
		text, err := os.ReadFile(path)
		all[filepath.Base(filepath.Dir(path))] = string(text)
		return err
	}))
	return all
}

func makeStore(t *testing.T) {
	script := greet()
	w := emptyWorld(t, func(n int, r llmtest.Request) llmtest.Reply { return script(n, r) })
	here := storeDir(t)
	copyTree(t, w.dir, here)
	w.dir = here
	f := &onFiles{w: w}
	w.site = f.config()
	f.open("Greet the world", "Please write hello.txt.", "alice", botLabel)
	w.agent(0, "run")
	cfg, _, err := config.Load(w.configure(), os.Getenv)
	must(t, err)
	store, err := app.OpenStore(cfg, func(err error) { t.Error(err) })
	must(t, err)
	must(t, store.Collect(t.Context(), contexts.Retention{Now: time.Now().AddDate(0, 0, 10), ArchiveAfter: 7}, &contexts.Collected{}))
	for _, name := range []string{"planned", "paused"} {
		must(t, os.Rename(f.path(), filepath.Join(f.dir(), "before-"+name+".md")))
		f.save("---\ntitle: Greet again, " + name + "\nauthor: bob\nlabels: [" + botLabel + "]\n---\n\nPlease write hello.txt.\n")
		if name == "planned" {
			w.extra, script = "planning: {enabled: true}", planner
			w.agent(0, "run")
			continue
		}
		w.extra, script = "", llmtest.Turns(write("hello.txt", "hello\n"), llmtest.Error(401, "invalid_api_key", "invalid api key"))
		w.agent(78, "run")
	}
	packStore(t, w.dir, filepath.Join(stores, "unreleased.tar.gz"))
}

// packStore packs a store with its modes and its empty directories, which git would not keep.
func packStore(t *testing.T, dir, file string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(file), 0o755))
	out, err := os.Create(file)
	must(t, err)
	z, _ := gzip.NewWriterLevel(out, gzip.BestCompression)
	w := tar.NewWriter(z)
	for _, part := range kept {
		must(t, filepath.WalkDir(filepath.Join(dir, part), func(path string, d fs.DirEntry, err error) error {
			if err != nil || strings.HasSuffix(path, ".sample") {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			head, err := tar.FileInfoHeader(info, "")
			if err != nil {
				return err
			}
			head.Name, _ = filepath.Rel(dir, path)
			head.Uid, head.Gid, head.Uname, head.Gname = 0, 0, "", ""
			if err := w.WriteHeader(head); err != nil || !info.Mode().IsRegular() {
				return err
			}
			data, err := os.ReadFile(path)
			if err == nil {
				_, err = w.Write(data)
			}
			return err
		}))
	}
	must(t, errors.Join(w.Close(), z.Close(), out.Close()))
}

func unpackStore(t *testing.T, file, dir string) {
	t.Helper()
	in, err := os.Open(file)
	must(t, err)
	defer in.Close()
	z, err := gzip.NewReader(in)
	must(t, err)
	r := tar.NewReader(z)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		must(t, err)
		path := filepath.Join(dir, h.Name)
		if h.Typeflag == tar.TypeDir {
			must(t, os.MkdirAll(path, 0o700))
			continue
		}
		data, err := io.ReadAll(r)
		must(t, errors.Join(err, os.WriteFile(path, data, fs.FileMode(h.Mode).Perm())))
		must(t, os.Chtimes(path, h.ModTime, h.ModTime))
	}
}
