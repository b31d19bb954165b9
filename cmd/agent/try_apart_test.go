package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"agent/forge/forgetest"
	"agent/llm/llmtest"
)

// refusing is a model that refuses the key until it works.
func refusing(works *atomic.Bool, script llmtest.Script) llmtest.Script {
	calls := -1
	return func(_ int, r llmtest.Request) llmtest.Reply {
		if !works.Load() {
			return llmtest.Error(401, "invalid_api_key", "Incorrect API key provided")
		}
		calls++
		return script(calls, r)
	}
}

// newTrier is somebody with a configuration who tries something in a directory.
func newTrier(t *testing.T, script llmtest.Script) *user {
	t.Helper()
	w := newWorld(t, script)
	u := &user{world: w, project: w.path("sum")}
	u.put("hello.txt", "hello\n")
	return u
}

// tried runs agent try with the configuration and gives the context.
func (u *user) tried(code int, args ...string) (uuid, errOut string) {
	u.t.Helper()
	out, errOut := u.try(code, "", append(args, "--json", "--config", u.configure())...)
	return u.result(out).UUID, errOut
}

// A try that the model server refused holds up no task of a run, and is no trouble of
// the machine. Its stop takes effect at once.
func TestRefusedTryHoldsUpNothing(t *testing.T) {
	t.Parallel()
	var works atomic.Bool
	u := newTrier(t, refusing(&works, greet()))
	id, errOut := u.tried(1, "greet")
	if !strings.Contains(errOut, "agent try --resume "+id[:8]) || strings.Contains(errOut, "agent resume") || strings.Contains(errOut, "no other task") {
		t.Errorf("try says\n%s", errOut)
	}
	works.Store(true)
	if out, errOut := u.agent(0, "run"); strings.Contains(out+errOut, "skipped") || strings.Contains(out+errOut, "files/try-") {
		t.Errorf("run says\n%s%s", out, errOut)
	}
	u.wantLabels(1, doneLabel)
	if out, _ := u.agent(0, "status", "--check"); strings.Contains(out, "try") {
		t.Errorf("status --check says\n%s", out)
	}
	if out, _ := u.agent(0, "status"); strings.Contains(out, "files/try-") || strings.Contains(out, "not configured") || !strings.Contains(out, "agent try --resume") {
		t.Errorf("status says\n%s", out)
	}
	if out, _ := u.agent(0, "run", "--dry-run"); strings.Contains(out, id[:8]) {
		t.Errorf("run --dry-run says\n%s", out)
	}
	if out, _ := u.agent(0, "run", id); !strings.Contains(out, "agent try --resume "+id[:8]) {
		t.Errorf("run of the try says\n%s", out)
	}
	if out, _ := u.agent(0, "resume", id); !strings.Contains(out, "agent try --resume "+id[:8]) || strings.Contains(out, "next run") {
		t.Errorf("resume says\n%s", out)
	}
	if out, _ := u.agent(0, "pause", id); !strings.Contains(out, "is paused: nothing to pause") {
		t.Errorf("pause says\n%s", out)
	}
	if out, _ := u.agent(0, "resume", "--all"); !strings.Contains(out, "nothing to resume") {
		t.Errorf("resume --all says\n%s", out)
	}
	calls := len(u.model.Requests())
	if out, _ := u.agent(0, "stop", id); !strings.Contains(out, id+"  stopped") {
		t.Errorf("stop says\n%s", out)
	}
	if n := len(u.model.Requests()); n != calls {
		t.Errorf("the stop asked the model %d times", n-calls)
	}
	u.nothingLeft()
	u.wantExact(id)
	if state := u.fold(id).Status; state != "stopped" {
		t.Errorf("it is %s", state)
	}
	u.agent(0, "verify", id)
	u.agent(0, "forget", id, "--yes")
}

// The directory of a try may be gone, and nothing may be configured: its stop still ends it.
func TestStopOfATryWithoutItsDirectory(t *testing.T) {
	t.Parallel()
	u := newUser(t, hanging(1, llmtest.Turns(write("hello.txt", "hello\n"), llmtest.Done("Greeted."))))
	p := u.begin("", "try", "greet")
	u.awaitCalls(2)
	p.kill()
	must(t, os.RemoveAll(filepath.Join(u.dir, ".local", "state", "agent", "try")))
	u.host = "127.0.0.1:1" // no model answers
	list := u.begin("", "list", "--json")
	list.wait()
	_, rest, _ := strings.Cut(list.out.String(), `"uuid":"`)
	id := rest[:36]
	stop := u.begin("", "stop", id[:8])
	if code := stop.wait(); code != 0 || !strings.Contains(stop.out.String(), id+"  stopped") {
		t.Fatalf("stop: exit %d: %s%s", code, &stop.out, &stop.err)
	}
	forget := u.begin("", "forget", id, "--yes")
	if code := forget.wait(); code != 0 {
		t.Errorf("forget: exit %d: %s%s", code, &forget.out, &forget.err)
	}
}

// A task of a repository that was taken out of the configuration holds up no other, and
// a stop ends one whose forge is not configured any more.
func TestUnservedTaskHoldsUpNothing(t *testing.T) {
	t.Parallel()
	var works atomic.Bool
	w := newWorld(t, refusing(&works, greet()))
	w.agent(78, "run")
	id := w.only().UUID
	works.Store(true)
	w.forge.AddRepository("acme/gadgets", forgetest.Repository{Private: true, Git: w.path("origin.git")})
	w.forge.AddIssue("acme/gadgets", "Greet", "Please write hello.txt.", "alice", botLabel)
	site := (&onGitHub{w: w}).config()
	w.site = strings.ReplaceAll(site, testRepo, "acme/gadgets")
	if w.site == site {
		t.Fatalf("the configuration does not name %s:\n%s", testRepo, site)
	}
	w.agent(0, "run")
	if n := len(w.list(0)); n != 2 {
		t.Errorf("%d contexts, want another one", n)
	}
	must(t, os.MkdirAll(w.path("inbox"), 0o700))
	w.site = "task_source: files\nfiles: {directory: " + w.path("inbox") + ", repository: " + w.path("origin.git") + "}"
	if out, _ := w.agent(0, "resume", id); !strings.Contains(out, "agent stop "+id[:8]) {
		t.Errorf("resume says\n%s", out)
	}
	w.agent(0, "stop", id)
	w.agent(0, "run")
	if state := w.fold(id).Status; state != "stopped" {
		t.Errorf("it is %s", state)
	}
	w.wantExact(id)
}

// What a try shows is true of a try: no run takes it, no branch is pushed, nobody else reads it.
func TestTryShowsWhatIsTrueOfIt(t *testing.T) {
	t.Parallel()
	down := true
	script, calls := fix(), -1
	u := newUser(t, func(_ int, r llmtest.Request) llmtest.Reply {
		if down {
			return llmtest.JSON(500, "<html>")
		}
		calls++
		return script(calls, r)
	})
	out, errOut := u.try(1, "", "fix the failing test")
	for _, untrue := range []string{"automatically", "agent resume", "next try"} {
		if strings.Contains(out+errOut, untrue) {
			t.Errorf("paused, it says %q:\n%s%s", untrue, out, errOut)
		}
	}
	_, rest, found := strings.Cut(errOut, "agent try --resume ")
	if !found || !strings.Contains(out, "the model is not answering") {
		t.Fatalf("it says\n%s%s", out, errOut)
	}
	id := strings.Fields(rest)[0]
	down = false
	out, errOut = u.try(0, "", "--resume", id)
	for _, untrue := range []string{"pushed", "git am", "--head", "@", "New comments"} {
		if shown, _, _ := strings.Cut(out, "diff --git"); strings.Contains(shown+errOut, untrue) {
			t.Errorf("done, it says %q:\n%s%s", untrue, shown, errOut)
		}
	}
	if !strings.Contains(out, "✅ **Done**") || !strings.Contains(out, "▶️ **Resumed.**") {
		t.Errorf("it says\n%s", out)
	}
	resume := u.begin("", "resume", id)
	if resume.wait(); strings.Contains(resume.out.String(), "agent run") {
		t.Errorf("resume of an ended try says\n%s", &resume.out)
	}
}
