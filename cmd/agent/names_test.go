package main

import (
	"testing"

	"agent/forge/forgetest"
	"agent/llm/llmtest"
)

// Forges do not tell owners and repositories apart by case, and GitHub not labels:
// a label `Coding Agent` was listed and then skipped for ever, and another
// spelling of a URL made a second context.
func TestNamesWithoutCase(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t, forms(llmtest.Always(llmtest.Done("I looked.")), nil))
	w.forge.AddRepository("Acme/Widgets", forgetest.Repository{Private: true, Git: w.path("origin.git")})
	w.forge.AddIssue("Acme/Widgets", "Greet", "Please greet.", "alice", "Coding Agent", "Coding Agent Failed")
	w.agent(0, "run")
	if l := w.only(); l.TaskKey != w.forge.Host()+"/Acme/Widgets/issues/1" || l.State != "completed" {
		t.Fatalf("%+v", l)
	}
	if labels := w.forge.Labels("acme/widgets", 1); len(labels) != 1 || labels[0] != doneLabel {
		t.Errorf("labels: %q", labels)
	}
	url := "http://" + w.forge.Host() + "/ACME/widgets/issues/1"
	w.agent(0, "run", url)
	if all := w.list(0); len(all) != 2 || all[0].TaskKey != all[1].TaskKey {
		t.Errorf("another spelling is another task: %+v", all)
	}
	w.wantExact(w.list(0)[0].UUID)
}
