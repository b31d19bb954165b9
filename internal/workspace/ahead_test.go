package workspace_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/internal/workspace"
	"agent/projections"
)

// origin makes a repository with the branches main and other.
func origin(t *testing.T, dir string) {
	t.Helper()
	commit := []string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m"}
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "a.txt"), []byte("a\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main", dir}, {"-C", dir, "add", "a.txt"}, append(commit, "first"), {"-C", dir, "checkout", "-q", "-b", "other"},
		append(commit, "second"), {"-C", dir, "checkout", "-q", "main"}} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

// TestCloneAhead: a clone that was begun ahead is taken if the task wants then what it wanted before, whatever became of
// the repository meanwhile, and whoever has opened its place finds it there. Else another one is made, and of the first
// nothing is left.
func TestCloneAhead(t *testing.T) {
	for name, c := range map[string]struct {
		late      bool                           // the repository is there only after the clone ahead
		meanwhile func(repository, place string) // after the clone ahead
		drop      bool                           // it is given up
		body      string                         // of the task by then
		base      string
		same      bool // the place is the directory that was reserved
	}{
		"as foreseen":     {meanwhile: func(repository, _ string) { _ = os.RemoveAll(repository) }, base: "main", same: true},
		"another base":    {body: "base: other", base: "other"},
		"not made":        {late: true, base: "main"},
		"ended":           {drop: true, base: "main"},
		"killed half way": {meanwhile: func(_, place string) { _ = os.WriteFile(filepath.Join(place, "a.txt"), nil, 0o600) }, base: "main"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			repo, root := filepath.Join(dir, "origin"), filepath.Join(dir, "workspaces")
			if err := os.Mkdir(root, 0o700); err != nil {
				t.Fatal(err)
			}
			w := workspace.New(workspace.Config{Root: root, Needed: true, Forge: repository{url: repo},
				Token: func(context.Context) (string, error) { return "", nil }})
			if !c.late {
				origin(t, repo)
			}
			ahead := w.Reserve(foreseen(""))
			opened, err := os.Open(ahead.Dir)
			if err != nil {
				t.Fatal(err)
			}
			defer opened.Close()
			reserved, err := opened.Stat()
			if err != nil {
				t.Fatal(err)
			}
			ahead.Clone(t.Context())
			if c.late {
				origin(t, repo)
			} else {
				await(t, filepath.Join(root, "agent-clone-*", "clone"))
			}
			if c.same {
				time.Sleep(1100 * time.Millisecond) // git compares seconds
			}
			if c.meanwhile != nil {
				c.meanwhile(repo, ahead.Dir)
			}
			if c.drop {
				ahead.Drop()
			}
			prepared, err := w.Prepare(t.Context(), foreseen(c.body))
			if err != nil || prepared.Error != "" || prepared.Base != c.base || prepared.Commit == "" {
				t.Errorf("%+v, %v", prepared, err)
			}
			if place, err := os.Stat(prepared.Dir); err != nil || os.SameFile(reserved, place) != c.same {
				t.Errorf("the place that was reserved: %v, %v", !c.same, err)
			}
			ahead.Drop()
			if left, err := os.ReadDir(root); err != nil || len(left) != 1 || filepath.Join(root, left[0].Name()) != prepared.Dir {
				t.Errorf("left: %v, %v", left, err)
			}
			// Unlike git status, this does not read the files again to find that they are the same.
			if out, err := exec.Command("git", "-C", prepared.Dir, "diff-index", "--name-only", "HEAD").CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("changed: %s%v", out, err)
			}
		})
	}
}

// TestNeverBegun: what was reserved for a context that does not begin goes, with the process or after it. What others
// have made stays, empty or not.
func TestNeverBegun(t *testing.T) {
	root := t.TempDir()
	left := func(began bool) []string {
		return workspace.RemoveLeft(root, time.Now(), func(string) bool { return began })
	}
	w := workspace.New(workspace.Config{Root: root, Needed: true})
	ahead := w.Reserve(foreseen(""))
	if never := left(false); never != nil || !there(ahead.Dir) {
		t.Errorf("the place that a process has reserved is gone, %v", never)
	}
	if ahead.Drop(); there(ahead.Dir) {
		t.Error("the place stays")
	}
	const first, second = "0a1b2c3d-0000-4000-8000-000000000002", "0a1b2c3d-0000-4000-8000-000000000003"
	killed := func(uuid string) {
		t.Helper()
		dir := filepath.Join(root, "agent-clone-"+uuid)
		if err := errors.Join(os.MkdirAll(filepath.Join(root, uuid), 0o700), os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "context"), []byte(uuid), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	other := filepath.Join(root, second)
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	killed(first)
	if never := left(false); !slices.Equal(never, []string{first}) || there(filepath.Join(root, first)) || !there(other) {
		t.Errorf("%v never began; of another %v", never, there(other))
	}
	killed(first)
	if never := left(true); never != nil || !there(filepath.Join(root, first)) {
		t.Errorf("the place of a context is gone, %v", never)
	}
	killed(second)
	if err := os.WriteFile(filepath.Join(other, "work"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if left(false); !there(filepath.Join(other, "work")) {
		t.Error("work is gone")
	}
	if found, err := filepath.Glob(filepath.Join(root, "agent-*")); err != nil || found != nil {
		t.Errorf("left: %v, %v", found, err)
	}
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func foreseen(body string) *projections.State {
	s := projections.NewState()
	for i, b := range []event.Body{
		&event.ContextCreated{Format: event.Format, UUID: "0a1b2c3d-0000-4000-8000-000000000001", TaskKey: "forge.example/o/r/issues/1", Kind: "issue", User: "u", Title: "t", Trigger: "label"},
		&event.ConfigPinned{}, &event.TaskFetched{Title: "t", Body: event.T(body)},
	} {
		s.Apply(event.Event{Seq: uint64(i + 1), Body: b})
	}
	return s
}

func await(t *testing.T, pattern string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return
		}
	}
	t.Fatalf("no %s", pattern)
}
