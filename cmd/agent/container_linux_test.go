package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent/forge/forgetest"
	"agent/internal/container/imagetest"
	"agent/llm/llmtest"
)

// inContainer makes a world whose repository chooses the image of a toolchain that the machine lacks.
func inContainer(t *testing.T, script llmtest.Script) *world {
	t.Helper()
	w := newWorld(t, script)
	w.env = append(w.env, "PATH="+imagetest.Podman(t)+":"+os.Getenv("PATH"))
	w.extra = "sandbox: {container: {allow: [localhost/*], pull: never}}"
	w.pushes("main", "a.frob", "hello")
	w.person("main", []string{"config", "core.hooksPath", "/dev/null"},
		[]string{"-c", `alias.put=!f() { mkdir -p .agent; printf '%s\n' ` + imagetest.Name + ` > .agent/container; }; f`, "put"},
		[]string{"add", "-A"}, []string{"commit", "-qm", "By a person"}, []string{"push", "-q", "origin", "HEAD"})
	return w
}

// TestTaskInContainer solves an issue with a toolchain that only an image has. The agent is killed
// on the way: nothing of it lives on, and the next run ends the task.
func TestTaskInContainer(t *testing.T) {
	t.Parallel()
	w := inContainer(t, llmtest.Turns(command("frob"), command("sh", "-c", "cat a.out; env"), command("sleep", "60"), llmtest.Done("Frobbed."), llmtest.Done("a.out belongs to it.")))
	p := w.start("run")
	w.until("the command runs", func() bool { return len(w.processes("sleep")) == 1 })
	p.kill()
	w.until("every process of the agent has ended", func() bool { return len(w.processes("")) == 0 })
	w.agent(0, "run")
	w.wantDone(1, w.only())
	branch := strings.TrimSpace(w.git("for-each-ref", "--format=%(refname:short)", "refs/heads/agent"))
	if got := w.git("show", branch+":a.out"); got != "HELLO\n" {
		t.Errorf("a.out holds %q", got)
	}
	said := w.model.Requests()[2].Last().Content
	if !strings.Contains(said, "HELLO") || !strings.Contains(said, "FROB_HOME=/opt/frob") {
		t.Errorf("inside:\n%s", said)
	}
	if system := w.model.Requests()[0].Messages[0].Content; !strings.Contains(system, "in a container of the image "+imagetest.Name) {
		t.Errorf("the model is not told:\n%s", system)
	}
	w.noSecrets()
	images, _ := filepath.Glob(w.path("images", "*", "root", "opt", "frob"))
	if len(images) != 1 {
		t.Errorf("images: %q", images)
	}
	if out, _ := w.agent(0, "gc", "--dry-run"); strings.Contains(out, "container image") {
		t.Errorf("gc would remove an image that was just used:\n%s", out)
	}
}

// TestImageIsMissing: a project whose image cannot be had waits. Its commands do not run with the machine's
// programs, and the tasks of other projects are done.
func TestImageIsMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	w.env = append(w.env, "PATH="+imagetest.Podman(t)+":"+os.Getenv("PATH"))
	w.extra = "sandbox: {container: {projects: {" + testRepo + ": localhost/none:1}, pull: never}}"
	w.site = strings.ReplaceAll((&onGitHub{w: w}).config(), testRepo, testRepo+", acme/others")
	w.forge.AddRepository("acme/others", forgetest.Repository{Private: true, Git: w.path("origin.git")})
	w.forge.AddIssue("acme/others", "Greet", "Please write hello.txt.", "alice", botLabel)
	_, stderr := w.agent(75, "run")
	if !strings.Contains(stderr, "localhost/none:1") {
		t.Errorf("the image is not named:\n%s", stderr)
	}
	states := map[string]string{}
	for _, l := range w.list(0) {
		states[l.TaskKey[strings.Index(l.TaskKey, "/")+1:]] = string(l.State)
	}
	if want := map[string]string{testRepo + "/issues/1": "interrupted", "acme/others/issues/1": "completed"}; !maps.Equal(states, want) {
		t.Errorf("states: %v", states)
	}
}
