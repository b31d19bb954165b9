package workspace_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
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
	for _, args := range [][]string{{"init", "-q", "-b", "main", dir}, append(commit, "first"), {"-C", dir, "checkout", "-q", "-b", "other"}, append(commit, "second"), {"-C", dir, "checkout", "-q", "main"}} {
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
			reserved, err := os.Stat(ahead.Dir)
			if err != nil {
				t.Fatal(err)
			}
			ahead.Clone(t.Context())
			if c.late {
				origin(t, repo)
			} else {
				await(t, filepath.Join(root, "agent-clone-*", "clone"))
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
			if out, err := exec.Command("git", "-C", prepared.Dir, "status", "--porcelain").CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("status: %s%v", out, err)
			}
		})
	}
}

// TestNeverBegun: what was reserved for a context that does not begin goes with the process.
func TestNeverBegun(t *testing.T) {
	root := t.TempDir()
	w := workspace.New(workspace.Config{Root: root, Needed: true})
	ahead := w.Reserve(foreseen(""))
	other := filepath.Join(root, "another")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	if workspace.RemoveLeft(root, time.Now()); !there(ahead.Dir) {
		t.Error("the place that a process has reserved is gone")
	}
	if ahead.Drop(); there(ahead.Dir) {
		t.Error("the place stays")
	}
	killed := []string{filepath.Join(root, "0a1b2c3d-0000-4000-8000-000000000002"), filepath.Join(root, "0a1b2c3d-0000-4000-8000-000000000003")}
	for _, dir := range killed {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(killed[1], "work"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	workspace.RemoveLeft(root, time.Now())
	if there(killed[0]) || !there(killed[1]) || !there(other) {
		t.Errorf("empty %v, with work %v, of somebody else %v", there(killed[0]), there(killed[1]), there(other))
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
