package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/exhaustive"
	"agent/llm/llmtest"
)

// several is a task of several steps that change files in all ways.
func several() llmtest.Script {
	return llmtest.Turns(
		write("hello.txt", "hello\n"),
		command("sh", "-c", "mkdir -p src && printf 'one\\ntwo\\n' > src/a.txt && ln -s a.txt src/link && printf '#!/bin/sh\\n' > src/run && chmod +x src/run && rm README.md"),
		llmtest.ToolCall("workspace__edit_file", map[string]any{"path": "src/a.txt", "old_text": "two", "new_text": "TWO"}),
		command("sh", "-c", "mv src/link src/moved; echo x > scratch; rm scratch; echo done"),
		llmtest.Done("I wrote the files."),
		llmtest.Done("All of them are part of the work."))
}

// harm is one way to lose a working copy, or a part of it.
var harms = []struct {
	name string
	do   func(t *testing.T, dir string)
}{
	{"deleted", func(t *testing.T, dir string) { must(t, os.RemoveAll(dir)) }},
	{"emptied", func(t *testing.T, dir string) { empty(t, dir, func(string) bool { return true }) }},
	{"without .git", func(t *testing.T, dir string) { must(t, os.RemoveAll(filepath.Join(dir, ".git"))) }},
	{"only .git", func(t *testing.T, dir string) { empty(t, dir, func(name string) bool { return name != ".git" }) }},
	{"without packs", func(t *testing.T, dir string) { must(t, os.RemoveAll(filepath.Join(dir, ".git/objects"))) }},
	{"empty configuration", func(t *testing.T, dir string) { must(t, os.WriteFile(filepath.Join(dir, ".git/config"), nil, 0o600)) }},
	{"no configuration", func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, ".git/config"))) }},
	{"another origin", func(t *testing.T, dir string) {
		must(t, os.WriteFile(filepath.Join(dir, ".git/config"), []byte("[core]\n\trepositoryformatversion = 0\n[remote \"origin\"]\n\turl = https://evil.example/x.git\n"), 0o600))
	}},
	{"configuration of NULs", func(t *testing.T, dir string) {
		must(t, os.WriteFile(filepath.Join(dir, ".git/config"), make([]byte, 300), 0o600))
	}},
	{"empty index", func(t *testing.T, dir string) { must(t, os.WriteFile(filepath.Join(dir, ".git/index"), nil, 0o600)) }},
	{"no HEAD", func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, ".git/HEAD"))) }},
	{"another commit", func(t *testing.T, dir string) {
		inDir(t, dir, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "--allow-empty", "-m", "not of the agent")
	}},
	{"an orphan branch", func(t *testing.T, dir string) {
		inDir(t, dir, "checkout", "-q", "--orphan", "other")
		inDir(t, dir, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "--allow-empty", "-m", "x")
	}},
	{"empty files", func(t *testing.T, dir string) {
		must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if d.IsDir() && d.Name() == ".git" {
				return filepath.SkipDir
			}
			if err == nil && d.Type().IsRegular() {
				err = os.Truncate(path, 0)
			}
			return err
		}))
	}},
	{"more files", func(t *testing.T, dir string) {
		must(t, os.MkdirAll(filepath.Join(dir, "stray"), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, "stray/file"), []byte("stray\n"), 0o600))
	}},
	{"a link out", func(t *testing.T, dir string) { must(t, os.Symlink("/etc", filepath.Join(dir, "etc"))) }},
}

func empty(t *testing.T, dir string, take func(name string) bool) {
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		if take(e.Name()) {
			must(t, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
}

func runGit(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func inDir(t *testing.T, dir string, args ...string) {
	runGit(t, append([]string{"-C", dir}, args...)...)
}

// TestWorkingCopyHarmed kills the agent at each step and then harms the working copy. The
// next process ends as if nothing had happened: the same tree is pushed.
func TestWorkingCopyHarmed(t *testing.T) {
	t.Parallel()
	whole := newWorld(t, several())
	whole.agent(0, "run")
	want := whole.pushedTree()
	type point struct{ harm, step int }
	var points []point
	for step := range 6 {
		for harm := range harms {
			points = append(points, point{(harm + step) % len(harms), step})
		}
	}
	for _, p := range exhaustive.Sample(points, 13) {
		t.Run(harms[p.harm].name+" at "+string(rune('0'+p.step)), func(t *testing.T) {
			t.Parallel()
			w := killedAt(t, int32(p.step+1))
			dirs, _ := filepath.Glob(w.path("workspaces", "*-*-*-*-*"))
			if len(dirs) != 1 {
				t.Fatalf("working copies: %v", dirs)
			}
			harms[p.harm].do(t, dirs[0])
			w.agent(0, "run")
			if got := w.pushedTree(); got != want {
				t.Errorf("another tree was pushed:\n%s\nwant\n%s", got, want)
			}
			l := w.only()
			w.wantExact(l.UUID)
			if left, _ := filepath.Glob(w.path("workspaces", "*.found")); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			restored := find[*event.WorkspaceRestored](w.events(l.UUID))
			if len(restored) != 1 || restored[0].Error != "" || len(restored[0].Missing) > 0 {
				t.Fatalf("restored: %+v", restored)
			}
			if harms[p.harm].name == "more files" {
				if text, err := os.ReadFile(filepath.Join(restored[0].Kept, "stray/file")); string(text) != "stray\n" {
					t.Errorf("what was there is not kept: %v, %+v", err, restored[0])
				}
			}
		})
	}
}

// pushedTree lists what was pushed.
func (w *world) pushedTree() string {
	w.t.Helper()
	branches := strings.Fields(w.git("for-each-ref", "--format=%(refname)", "refs/heads/agent"))
	if len(branches) != 1 {
		w.t.Fatalf("branches: %v", branches)
	}
	return w.git("ls-tree", "-r", branches[0])
}

// TestSecretIsNotSaved: a file that holds a configured value is nowhere below contexts/, and
// the model is told. The rest is saved, and compares without clone and forge.
func TestSecretIsNotSaved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, llmtest.Turns(
		command("sh", "-c", "printf %s '"+testKey[:12]+"' > part; printf %s '"+testKey[12:]+"' > rest; cat part rest > config.env; rm part rest"),
		write("hello.txt", "hello\n"), llmtest.Done("I wrote hello.txt."), llmtest.Done("Both stay.")))
	w.agent(0, "run")
	l := w.only()
	saved := find[*event.WorkspaceSaved](w.events(l.UUID))
	var not []event.NotSaved
	for _, s := range saved {
		not = append(not, s.NotSaved...)
	}
	if len(not) != 1 || not[0] != (event.NotSaved{Path: "config.env", Reason: "secret"}) {
		t.Errorf("not saved: %+v", not)
	}
	if results := find[*event.ToolReplied](w.events(l.UUID)); !strings.Contains(results[0].Content.View(), "config.env (it holds a secret value)") {
		t.Errorf("the model was told %q", results[0].Content.View())
	}
	w.noSecrets()
	objects, err := w.store().Objects(l.UUID).Path()
	must(t, err)
	if text := w.unpacked(objects); l.State != "paused" || !strings.Contains(text, "hello\n") {
		t.Errorf("saved: %q", text)
	}
}

// unpacked is every content in a directory of objects.
func (w *world) unpacked(objects string) string {
	w.t.Helper()
	bare := filepath.Join(w.t.TempDir(), "bare")
	runGit(w.t, "init", "-q", "--bare", bare)
	must(w.t, os.RemoveAll(filepath.Join(bare, "objects")))
	must(w.t, os.Symlink(objects, filepath.Join(bare, "objects")))
	return runGit(w.t, "--git-dir", bare, "cat-file", "--batch-all-objects", "--batch")
}

// TestChangedInPlace: what a person changed in a workspace while nobody worked there is
// never overwritten. A person is asked, and a resume takes it.
func TestChangedInPlace(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	script, hold, held := several(), make(chan struct{}), make(chan struct{}, 10)
	w := newWorld(t, func(n int, r llmtest.Request) llmtest.Reply {
		if asked.Add(1) == 3 {
			held <- struct{}{}
			<-hold
		}
		return script(n, r)
	})
	w.inPlace()
	p := w.start("run")
	<-held
	p.kill()
	close(hold)
	must(t, os.WriteFile(w.path("work", "mine.txt"), []byte("a person's\n"), 0o600))
	must(t, os.WriteFile(w.path("work", "hello.txt"), []byte("a person's\n"), 0o600))
	w.agent(0, "run")
	l := w.only()
	if l.State != "paused" {
		t.Fatalf("it is %s", l.State)
	}
	changed := find[*event.WorkspaceChanged](w.events(l.UUID))
	if len(changed) != 1 || changed[0].Count != 2 {
		t.Errorf("changed: %+v", changed)
	}
	if out, _ := w.agent(0, "why", l.UUID); !strings.Contains(out, "somebody changed files in the workspace") {
		t.Error(out)
	}
	w.agent(0, "resume", l.UUID)
	w.agent(0, "run")
	if l = w.only(); l.State != "completed" {
		t.Fatalf("it is %s", l.State)
	}
	for _, name := range []string{"mine.txt", "hello.txt"} {
		if text, _ := os.ReadFile(w.path("work", name)); string(text) != "a person's\n" {
			t.Errorf("%s was overwritten: %q", name, text)
		}
	}
	w.wantExact(l.UUID)
	if dirs, _ := filepath.Glob(w.path("work", ".git", "objects", "pack", "*")); len(dirs) > 0 {
		t.Errorf("something was written into a person's repository: %v", dirs)
	}
}

// TestForgottenFiles: what was saved, and what was kept beside the clone, goes with the context.
func TestForgottenFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	w.agent(0, "run")
	l := w.only()
	path, err := w.store().Objects(l.UUID).Path()
	must(t, err)
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	kept := w.path("workspaces", l.UUID+".kept")
	must(t, os.MkdirAll(filepath.Join(kept, "9"), 0o700))
	w.agent(0, "forget", l.UUID)
	if dirs, _ := filepath.Glob(w.path("contexts", string(contexts.Completed), "*")); len(dirs) > 0 {
		t.Errorf("left: %v", dirs)
	}
	if _, err := os.Stat(kept); err == nil {
		t.Error("what was kept is still there")
	}
}
