package trees

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/fsx"
	"agent/internal/snapshot"
)

const (
	uuid   = "11110000-0000-4000-8000-000000000001"
	secret = "ghp_a-secret"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run is a context whose files are saved after steps, from no file on.
type run struct {
	t     *testing.T
	store *contexts.Store
	ctx   *contexts.Context
	dir   string
	copy  *snapshot.Copy
}

func newRun(t *testing.T) *run {
	t.Helper()
	r := &run{t: t, dir: t.TempDir()}
	home := filepath.Join(t.TempDir(), "contexts")
	fsys, err := fsx.OpenOS(home)
	must(t, err)
	r.store, err = contexts.Open(fsys, contexts.Options{Dir: home})
	must(t, err)
	r.ctx, err = r.store.Create(&event.ContextCreated{Format: event.Format, UUID: uuid, TaskKey: "github.com/o/r/issues/1", Forge: "github.com", Kind: "github_issue", Trigger: "label"}, time.Now())
	must(t, err)
	t.Cleanup(func() { _ = r.ctx.Close() })
	objects, err := snapshot.OpenStore(r.store.Objects(uuid))
	must(t, err)
	base := snapshot.NewTree(1, nil)
	r.copy, err = snapshot.NewCopy(r.dir, objects, base, base, nil, snapshot.Options{Largest: 1 << 20})
	must(t, err)
	return r
}

// step changes files and saves them, as a tool call does; "" deletes a file.
func (r *run) step(files map[string]string) uint64 {
	r.t.Helper()
	for name, text := range files {
		path := filepath.Join(r.dir, name)
		if text == "" {
			must(r.t, os.Remove(path))
			continue
		}
		must(r.t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(r.t, os.WriteFile(path, []byte(text), 0o644))
	}
	asked, err := r.ctx.Append(event.Event{Time: time.Now(), Body: &event.ToolRequested{Server: "workspace", Tool: "run_command", Args: event.T(`{"argv":["make"]}`)}})
	must(r.t, err)
	saved, err := r.copy.Save(r.t.Context(), snapshot.Request{})
	must(r.t, err)
	ev, err := r.ctx.Append(event.Event{Time: time.Now(), Cause: asked.Seq, Body: &event.WorkspaceSaved{Reason: "tool", Tree: saved.Tree, From: saved.From, Base: "c0ffee", Count: len(saved.Changes)}})
	must(r.t, err)
	_, err = r.ctx.Append(event.Event{Time: time.Now(), Cause: asked.Seq, Body: &event.ToolReplied{}})
	must(r.t, err)
	return ev.Seq
}

func (r *run) view() *View {
	r.t.Helper()
	v, err := Open(r.store, uuid, func(s string) string { return strings.ReplaceAll(s, secret, "[redacted]") })
	must(r.t, err)
	return v
}

// git gives what git prints about a directory.
func git(t *testing.T, dir, input string, args ...string) string {
	t.Helper()
	c := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@x"}, args...)...)
	c.Env, c.Stdin = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1"), strings.NewReader(input)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// What git applies from our patches are the files as they were saved, whatever their
// names and contents are; and the points name the steps.
func TestPatchesApply(t *testing.T) {
	t.Parallel()
	r := newRun(t)
	steps := []map[string]string{
		{"a.txt": "one\ntwo\nthree\n", "deep/down/ä b.txt": "no end", "with\ttab": "x\n", `quo"te\s`: "y\n"},
		{"a.txt": "one\nzwei\nthree\n", "deep/down/ä b.txt": "an end\n"},
		{"a.txt": "", "new": "n\n"},
	}
	var seqs []uint64
	for _, files := range steps {
		seqs = append(seqs, r.step(files))
	}
	v := r.view()
	if len(v.Points) != 3 || v.Points[1].Seq != seqs[1] || v.Points[1].Step != `workspace/run_command {"argv":["make"]}` || v.State.Saved.Tree != v.Points[2].Saved.Tree {
		t.Fatalf("points: %+v", v.Points)
	}
	clone := t.TempDir()
	git(t, clone, "", "init", "-q")
	before := snapshot.NewTree(1, nil).Name()
	for i, files := range steps {
		all, err := v.Diff(before, v.Points[i].Saved.Tree)
		must(t, err)
		patch := ""
		for _, d := range all {
			patch += d.Patch
		}
		git(t, clone, patch, "apply", "-")
		for name, want := range files {
			got, err := os.ReadFile(filepath.Join(clone, name))
			if string(got) != want || (want == "") != errors.Is(err, os.ErrNotExist) {
				t.Errorf("after step %d %q holds %q, want %q (%v)", i, name, got, want, err)
			}
		}
		before = v.Points[i].Saved.Tree
	}
	if same, err := v.Diff(before, before); err != nil || len(same) != 0 {
		t.Errorf("a tree differs from itself: %v %v", same, err)
	}
}

// A difference says what kind it is, and counts lines. Binary files are named only.
func TestKinds(t *testing.T) {
	t.Parallel()
	r := newRun(t)
	r.step(map[string]string{"changed": "a\nb\n", "deleted": "d\n", "mode": "m\n", "binary": "a\x00b", "huge": strings.Repeat("x\n", 100)})
	must(t, os.Chmod(filepath.Join(r.dir, "mode"), 0o755))
	r.step(map[string]string{"changed": "a\nB\nc\n", "deleted": "", "added": "n\n", "binary": "a\x00c"})
	v := r.view()
	all, err := v.Diff(v.Points[0].Saved.Tree, v.Points[1].Saved.Tree)
	must(t, err)
	got := map[string]Difference{}
	for _, d := range all {
		got[d.Path] = d
	}
	for path, want := range map[string]Difference{"changed": {Change: "changed", Added: 2, Removed: 1}, "deleted": {Change: "deleted", Removed: 1},
		"mode": {Change: "mode"}, "added": {Change: "added", Added: 1}, "binary": {Change: "changed", Binary: true}} {
		d := got[path]
		if d.Change != want.Change || d.Added != want.Added || d.Removed != want.Removed || d.Binary != want.Binary || d.Patch == "" {
			t.Errorf("%s: %+v", path, d)
		}
	}
	if len(got) != 5 || strings.Contains(got["binary"].Patch, "\x00") || !strings.Contains(got["mode"].Patch, "old mode 100644\nnew mode 100755") {
		t.Errorf("%+v", got)
	}
}

// What is shown passes the redactor: in patches and in contents.
func TestRedacted(t *testing.T) {
	t.Parallel()
	r := newRun(t)
	r.step(map[string]string{"key": secret + "\n"})
	v := r.view()
	all, err := v.Diff(snapshot.NewTree(1, nil).Name(), v.Start())
	must(t, err)
	tree, err := v.Tree(v.Start())
	must(t, err)
	_, data, err := v.Content(tree, "key")
	must(t, err)
	if shown := all[0].Patch + string(data); strings.Contains(shown, secret) || strings.Count(shown, "[redacted]") != 2 {
		t.Errorf("shown: %s", shown)
	}
	if _, _, err := v.Content(tree, "nothing"); err == nil {
		t.Error("a file that is none has a content")
	}
}

// A point is asked for by an event; before the first save there is none. A log without
// saves says so.
func TestPoints(t *testing.T) {
	t.Parallel()
	r := newRun(t)
	if _, err := Open(r.store, uuid, nil); !errors.Is(err, ErrNone) {
		t.Errorf("without saves: %v", err)
	}
	first := r.step(map[string]string{"a": "1\n"})
	second := r.step(map[string]string{"a": "2\n"})
	v := r.view()
	for seq, want := range map[uint64]uint64{0: second, first: first, second - 1: first, second: second, second + 1: second} {
		if p, err := v.At(seq); err != nil || p.Seq != want {
			t.Errorf("at %d: %d (%v), want %d", seq, p.Seq, err, want)
		}
	}
	if _, err := v.At(first - 1); err == nil {
		t.Error("there is a point before the first save")
	}
	var past *NoEventError
	if _, err := v.At(second + 2); !errors.As(err, &past) || past.Last != second+1 {
		t.Errorf("past the end: %v", err)
	}
	if saves, err := Check(r.store, uuid); err != nil || saves != 2 {
		t.Errorf("check: %d %v", saves, err)
	}
	objects, err := r.store.Objects(uuid).Path()
	must(t, err)
	must(t, os.RemoveAll(objects))
	var damage *contexts.DamageError
	if _, err := Check(r.store, uuid); !errors.As(err, &damage) {
		t.Errorf("check of lost objects: %v", err)
	}
}
