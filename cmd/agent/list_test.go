package main

import (
	"os"
	"strings"
	"testing"
)

// TestListKeepsIndex: a list that has to make the index from all logs keeps it. Where there
// is nothing to list, or nothing can be written, it makes nothing and lists all the same.
func TestListKeepsIndex(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	if _, err := os.Stat(w.path("contexts")); !os.IsNotExist(err) {
		t.Fatal(err)
	}
	w.agent(0, "list")
	if _, err := os.Stat(w.path("contexts")); !os.IsNotExist(err) {
		t.Errorf("a list of nothing made something: %v", err)
	}
	w.agent(0, "run")
	index := w.path("contexts", "index")
	must(t, os.RemoveAll(index))
	before, _ := w.agent(0, "list")
	store := w.store()
	if !store.Indexed() {
		t.Error("the index is not there after a list")
	}
	must(t, os.RemoveAll(index))
	must(t, os.WriteFile(index, nil, 0o400)) // in the way
	must(t, os.Chmod(w.path("contexts", ".quarantine"), 0o500))
	after, _ := w.agent(0, "list")
	if before != after || strings.Count(after, "completed") != 1 {
		t.Errorf("first %q, then %q", before, after)
	}
}
