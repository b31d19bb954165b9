package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"agent/forge/forgetest"
)

// TestCloneElsewhere: a forge that has its repository cloned from somewhere else gets
// neither the token sent there nor a repository of this machine read. It is the
// operator's to mend: no item is touched.
func TestCloneElsewhere(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { asked.Add(1); w.WriteHeader(http.StatusNotFound) }))
	t.Cleanup(thief.Close)
	for name, url := range map[string]func(*world) string{
		"another host":   func(*world) string { return thief.URL + "/o/r.git" },
		"a path":         func(w *world) string { return w.path("origin.git") },
		"a file URL":     func(w *world) string { return "file://" + w.path("origin.git") },
		"ssh":            func(*world) string { return "git@127.0.0.1:o/r.git" },
		"another user's": func(w *world) string { return "http://x@" + w.forge.Host() + "/" + testRepo + ".git" },
	} {
		t.Run(name, func(t *testing.T) {
			w := emptyWorld(t, greet())
			w.forge.AddRepository(testRepo, forgetest.Repository{Private: true, Git: w.path("origin.git"), CloneURL: url(w)})
			w.issue("Greet the world")
			for range 2 {
				if _, errs := w.agent(78, "run"); !strings.Contains(errs, "clone_from") {
					t.Errorf("the operator is told:\n%s", errs)
				}
			}
			if n := len(w.forge.Comments(testRepo, 1)); n > 0 || len(w.list(0)) > 0 || len(w.model.Requests()) > 0 {
				t.Errorf("it was begun: %d comments", n)
			}
			w.wantLabels(1, botLabel)
			if out, errs := w.agent(78, "doctor"); !strings.Contains(out+errs, "clone_from") {
				t.Errorf("doctor says:\n%s%s", out, errs)
			}
		})
	}
	if asked.Load() > 0 {
		t.Errorf("the other host was asked %d times", asked.Load())
	}
	t.Run("allowed", func(t *testing.T) {
		w := emptyWorld(t, greet())
		w.forge.AddRepository(testRepo, forgetest.Repository{Private: true, CloneURL: w.path("origin.git")})
		w.issue("Greet the world")
		w.hub = "\n  clone_from: [" + w.dir + "]"
		w.agent(0, "run")
		w.wantLabels(1, doneLabel)
	})
}
