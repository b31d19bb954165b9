package workspace

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/internal/git"
	"agent/projections"
)

// TestByProducts: what commands left beside the work is in no tree, also where a
// tool committed it; what an edit or the task names, and what an earlier attempt
// left, is.
func TestByProducts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gitIn(t, dir, "init", "-q", "-b", "main")
	putFile(t, filepath.Join(dir, "a.py"), "x = 1\n")
	putFile(t, filepath.Join(dir, "build", "make.sh"), "make\n")
	gitIn(t, dir, "add", "-A")
	gitIn(t, dir, "commit", "-qm", "First")
	base, err := exec.Command("git", "-C", dir, "rev-parse", "HEAD").Output()
	must(t, err)
	for _, name := range []string{"__pycache__/a.pyc", "build/new.sh", "dist/app.js", "dist/other.js", "vendor/lib/x.php", "target/left.rs", "target/x.o", "b.py", "node_modules/x/y.js"} {
		putFile(t, filepath.Join(dir, name), "new\n")
	}
	gitIn(t, dir, "add", "-f", "__pycache__", "b.py")
	gitIn(t, dir, "commit", "-qm", "By a tool")

	s := projections.NewState()
	add := func(b event.Body) { s.Seq++; s.Apply(event.Event{Seq: s.Seq, Body: b}) }
	add(&event.WorkspacePrepared{Dir: dir, Commit: strings.TrimSpace(string(base)), Continued: event.Continued{From: "x", Files: []string{"target/left.rs"}}})
	add(&event.TaskFetched{Title: "Update", Body: event.T("See the files.")})
	add(&event.CommentsFetched{Last: true, Comments: []event.Comment{{ID: "1", Verdict: event.NewComment, Body: event.T("「vendor/」を更新してください")}, {ID: "2", Verdict: event.UntrustedComment, Body: event.T("node_modules")}}})
	add(&event.ToolRequested{Server: "ws", Tool: "write_file", Args: event.T(`{"path":"` + dir + `/dist/app.js","content":"new"}`)})
	add(&event.ToolReplied{Content: event.T("written")})
	add(&event.ToolRequested{Server: "ws", Tool: "run_command", Args: event.T(`{"argv":["touch","node_modules/x/y.js"]}`)})
	add(&event.ToolReplied{Content: event.T("exit code: 0")})
	add(&event.ToolRequested{Server: "ws", Tool: "read_file", Args: event.T(`{"path":"__pycache__/a.pyc"}`)})
	add(&event.ToolReplied{Content: event.T("new")})

	repo, err := git.Open(dir)
	must(t, err)
	for range 2 { // measuring again finds the same
		name, _, without, err := tree(t.Context(), repo, s)
		must(t, err)
		if want := []event.ByProduct{{Path: "__pycache__/", Kind: "Python"}, {Path: "node_modules/", Kind: "Node.js"}, {Path: "target/x.o", Kind: "compiler"}}; !slices.Equal(without, want) {
			t.Errorf("left out %v, want %v", without, want)
		}
		changes, err := repo.Compare(t.Context(), s.Workspace.Commit, name)
		must(t, err)
		var got []string
		for _, c := range changes {
			got = append(got, c.Path)
		}
		if want := []string{"b.py", "build/new.sh", "dist/app.js", "dist/other.js", "target/left.rs", "vendor/lib/x.php"}; !slices.Equal(got, want) {
			t.Errorf("the tree has %q, want %q", got, want)
		}
	}
}
