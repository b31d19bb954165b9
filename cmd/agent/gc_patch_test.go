package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent/eventlog/event"
)

// TestGCKeepsPatch: what a stopped context had not published outlives its working copy.
func TestGCKeepsPatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	dir := w.path("workspaces", oldUUID)
	must(t, os.MkdirAll(filepath.Dir(dir), 0o700))
	commit := w.person("main", []string{"clone", "-q", w.path("origin.git"), dir}, []string{"rev-parse", "HEAD"})
	must(t, os.WriteFile(filepath.Join(dir, "hello.txt"), []byte("hello\n"), 0o600))
	w.ended(testRepo+"/issues/99", 20, &event.ConfigPinned{Bot: testBot}, &event.WorkspacePrepared{Dir: dir, Base: "main", Commit: commit},
		&event.ContextStopped{Reason: "command"})
	if got := w.collected(); got.Clones != 1 || got.Archived != 1 || got.Problems != 0 {
		t.Errorf("gc says %+v", got)
	}
	if left, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if patch := w.patch(); !strings.Contains(patch, "+hello") {
		t.Errorf("the patch is %s", patch)
	}
	w.wantPatch()
	w.agent(0, "verify", oldUUID)
}
