package workspace_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agent/internal/exhaustive"

	"golang.org/x/sys/unix"
)

func init() {
	exchange = func(a, b string) {
		for {
			_ = unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
		}
	}
}

// swapped are the paths that become links to the operator's files and back while a tool works.
var swapped = map[string]string{
	"directory":         "d",
	"directory below":   "d/e",
	"file":              "d/e/f",
	"not there yet":     "d/new",
	"the other parent":  "to",
	"directory of both": "both",
}

// swapTools are the calls of each tool that touches files by name, over the same paths.
var swapTools = map[string][]args{
	"read_file":  {{"path": "d/e/f"}, {"path": "both/f"}},
	"list_files": {{"path": "d"}, {"path": "d/e"}},
	"search":     {{"pattern": "operator", "path": "d"}, {"pattern": "operator"}},
	"edit_file": {{"path": "d/e/f", "old_text": "inside", "new_text": "changed"}, {"path": "both/f", "old_text": "changed", "new_text": "inside"},
		{"path": "d/e/f", "old_text": "operator", "new_text": "changed"}},
	"write_file":  {{"path": "d/e/f", "content": "changed"}, {"path": "d/new/x", "content": "new"}, {"path": "to/x", "content": "new"}},
	"delete_file": {{"path": "d/e/f"}, {"path": "d/e/only"}, {"path": "both/f"}, {"path": "d/new/f"}},
	"move_file": {{"path": "d/e/f", "to": "to/f"}, {"path": "d/e/only", "to": "mine"}, {"path": "both/f", "to": "both/g"},
		{"path": "top", "to": "d/new/x"}, {"path": "to/f", "to": "d/e/f"}},
	"apply_patch": {
		{"patch": "*** Begin Patch\n*** Update File: d/e/f\n@@\n-inside\n+changed\n*** Add File: d/new/x\n+new\n*** Delete File: both/f\n*** End Patch"},
		{"patch": "*** Begin Patch\n*** Update File: top\n*** Move to: to/top\n@@\n-inside\n+changed\n*** End Patch"},
		{"patch": "*** Begin Patch\n*** Delete File: d/e/f\n*** Delete File: both/f\n*** Update File: to/f\n*** Move to: d/e/f\n@@\n-inside\n+changed\n*** End Patch"},
		{"patch": "*** Begin Patch\n*** Update File: d/e/f\n@@\n-of the operator\n+changed\n*** Delete File: d/e/only\n*** End Patch"},
	},
}

// canary is what must not be read. Nothing that a tool is asked for contains it.
const (
	canary    = "canary-7f3a"
	operators = canary + " of the operator\n"
)

// outsideState is all that a tool could change outside: names, kinds, modes, times and contents.
func outsideState(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		var text []byte
		if !entry.IsDir() {
			text, err = os.ReadFile(path)
		}
		fmt.Fprintf(&all, "%s %v %v %s\n", path, info.Mode(), info.ModTime(), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// swapping makes the files inside and outside, and starts the process that swaps path.
func swapping(t *testing.T, b bench, path string) (outside string, refill func()) {
	t.Helper()
	outside = filepath.Join(filepath.Dir(b.dir), "outside")
	put := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err == nil {
			_ = os.WriteFile(name, []byte(text), 0o640) // the swaps may be in the way
		}
	}
	for _, name := range []string{"f", "only", "e/f", "e/only", "x/y", "top"} {
		put(filepath.Join(outside, name), operators)
	}
	swapsAt, err := os.OpenRoot(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = swapsAt.Close() })
	refill = func() { // within the root: the test itself must not lose against the swaps
		for _, dir := range []string{"d/e", "d/new", "to", "both"} {
			_ = swapsAt.MkdirAll(dir, 0o755)
		}
		for _, name := range []string{"d/e/f", "both/f", "to/f", "top"} {
			_ = swapsAt.WriteFile(name, []byte("inside\n"), 0o644)
		}
		for _, name := range []string{"d/new/x", "to/x", "mine", "both/g", "to/top"} {
			_ = swapsAt.Remove(name)
		}
	}
	refill()
	target := outside
	if filepath.Base(path) == "f" {
		target = filepath.Join(outside, "f")
	}
	beside := filepath.Join(b.dir, ".beside")
	if err := os.Symlink(target, beside); err != nil {
		t.Fatal(err)
	}
	p := exec.Command(os.Args[0], "exchange", filepath.Join(b.dir, path), beside)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill(); _ = p.Wait() })
	return outside, refill
}

// TestSwapsLeadNowhere: a process that a tool left running swaps a directory or a file for
// a link to the operator's files while another tool works. There is no sandbox here: the
// tools themselves never leave the workspace, by reading, writing, moving or removing.
func TestSwapsLeadNowhere(t *testing.T) {
	exhaustive.Slow(t)
	for _, what := range slices.Sorted(maps.Keys(swapped)) {
		t.Run(what, func(t *testing.T) {
			b := open(t)
			outside, refill := swapping(t, b, swapped[what])
			before := outsideState(t, outside)
			for _, tool := range slices.Sorted(maps.Keys(swapTools)) {
				for n := range exhaustive.Of(5, 1000) {
					refill()
					call := swapTools[tool][n%len(swapTools[tool])]
					text, _ := b.call(tool, call)
					if strings.Contains(text, canary) { // in a refusal, too: it shows the closest text
						t.Fatalf("%s %v read outside: %s", tool, call, text)
					}
				}
				if after := outsideState(t, outside); after != before {
					t.Fatalf("%s changed what lies outside:\n%s\nbefore:\n%s", tool, after, before)
				}
			}
		})
	}
}

// TestSwapsAreFast shows that the same swaps lead outside whoever looks first and opens then.
func TestSwapsAreFast(t *testing.T) {
	exhaustive.Only(t) // it is a matter of luck how long it takes
	b := open(t)
	outside, refill := swapping(t, b, "d")
	before := outsideState(t, outside)
	for range 200_000 {
		refill()
		name := filepath.Join(b.dir, "d/e/f")
		if real, err := filepath.EvalSymlinks(name); err == nil && strings.HasPrefix(real, b.dir) {
			_ = os.WriteFile(name, []byte("changed"), 0o644)
		}
		if outsideState(t, outside) != before {
			return
		}
	}
	t.Error("no swap came through, and TestSwapsLeadNowhere proves nothing")
}
