package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"agent/forge"
	"agent/forge/files"
	"agent/forge/forgetest"
	"agent/internal/exhaustive"
	"agent/llm/llmtest"
)

// fileKind is a task in a file. It is not one of kinds: what those tests do to a server
// cannot be done to a directory.
const fileKind = "file"

// onFiles is a person with an editor.
type onFiles struct{ w *world }

func (f *onFiles) dir() string  { return f.w.path("inbox") }
func (f *onFiles) path() string { return filepath.Join(f.dir(), "greet.md") }

func (f *onFiles) config() string {
	return fmt.Sprintf("task_source: files\nfiles:\n  directory: %q\n  repository: %q\n  push: true\n  bot_name: %s", f.dir(), f.w.path("origin.git"), testBot)
}

func (f *onFiles) open(title, body, author string, labels ...string) {
	must(f.w.t, os.Mkdir(f.dir(), 0o700))
	f.save(fmt.Sprintf("---\ntitle: %s\nauthor: %s\nlabels: [%s]\n---\n\n%s\n", title, author, strings.Join(labels, ", "), body))
}

// save replaces the file in one step.
func (f *onFiles) save(text string) {
	f.w.t.Helper()
	must(f.w.t, os.WriteFile(f.path()+"~", []byte(text), 0o600))
	must(f.w.t, os.Rename(f.path()+"~", f.path()))
}

func (f *onFiles) text() string {
	f.w.t.Helper()
	data, err := os.ReadFile(f.path())
	must(f.w.t, err)
	return string(data)
}

func (f *onFiles) say(author, body string) int64 {
	f.save(f.text() + "\n=== @" + author + "\n" + body + "\n")
	return 0 // the adapter gives it one
}

func (f *onFiles) noise()      { f.say("ci[bot]", "Said-by-machine: build 7 is green.") }
func (f *onFiles) url() string { return "files/inbox/tasks/1" }

// client reads the task as the agent does, and writes nothing.
func (f *onFiles) client() *files.Client {
	c, err := files.New(files.Config{Directory: f.dir(), Name: "inbox", BotName: testBot, ReadOnly: true})
	must(f.w.t, err)
	f.w.t.Cleanup(c.Close)
	return c
}

var fileKey = forge.TaskKey{Host: "files/inbox", Project: "inbox", Kind: forge.FileTask, Number: 1}

func (f *onFiles) labels() []string {
	task, err := f.client().Task(f.w.t.Context(), fileKey)
	must(f.w.t, err)
	return task.Labels
}

func (f *onFiles) relabel(change func([]string) []string) {
	labels := change(slices.Clone(f.labels()))
	lines := strings.Split(f.text(), "\n")
	i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "labels:") })
	lines[i] = "labels: [" + strings.Join(labels, ", ") + "]"
	f.save(strings.Join(lines, "\n"))
}

func (f *onFiles) label(names ...string) {
	f.relabel(func(all []string) []string { return append(all, names...) })
}
func (f *onFiles) unlabel(names ...string) {
	f.relabel(func(all []string) []string {
		return slices.DeleteFunc(all, func(l string) bool { return slices.Contains(names, l) })
	})
}

func (f *onFiles) comments() (all []remark) {
	got, err := f.client().Comments(f.w.t.Context(), fileKey, time.Time{})
	must(f.w.t, err)
	for _, c := range got {
		all = append(all, remark{c.Author.Login, unmarked(c.Body)})
	}
	return all
}

func (f *onFiles) changes() int {
	head, _, _ := strings.Cut(strings.TrimPrefix(f.text(), "---\n"), "\n---\n")
	return strings.Count(head, "branch: ")
}

func (f *onFiles) branch() string { return "" }
func (f *onFiles) finish()        { f.save(strings.Replace(f.text(), "---\n", "---\nstate: closed\n", 1)) }

// What only servers have.
func (f *onFiles) none()                         { f.w.t.Fatal("a directory has no such thing") }
func (f *onFiles) edit(int64, string)            { f.none() }
func (f *onFiles) retitle(string, string)        { f.none() }
func (f *onFiles) labelAs(string, ...string)     { f.none() }
func (f *onFiles) permit(string)                 { f.none() }
func (f *onFiles) assign(...string)              { f.none() }
func (f *onFiles) requests() []forgetest.Request { f.none(); return nil }
func (f *onFiles) fault(forgetest.Fault)         { f.none() }
func (f *onFiles) clearFaults()                  { f.none() }
func (f *onFiles) own() string                   { f.none(); return "" }
func (f *onFiles) listPath() string              { f.none(); return "" }

// The whole way of a task in a file: paused in mid-call, spoken to, resumed, pushed.
func TestTalkInAFile(t *testing.T) { t.Parallel(); talkThrough(t, fileKind) }

// A follow-up in a file is with the author, and ends with thanks.
func TestFollowUpInAFile(t *testing.T) { t.Parallel(); followUpThrough(t, fileKind) }

// A second attempt at a task in a file knows what the first did, also under another
// name of the file: the number is the task's. Nothing is pushed unless it is asked for.
func TestSecondAttemptAtAFile(t *testing.T) {
	t.Parallel()
	c := newTalk(t, fileKind, greet())
	c.site = strings.Replace(c.site, "push: true", "push: false", 1)
	c.agent(0, "run")
	first := c.wantState("completed", doneLabel)
	if said := c.wantSaid(1, "✅ **Done** @alice"); !strings.Contains(said, "No branch was pushed. The change is in the patch below") || !strings.Contains(said, "+hello") {
		t.Errorf("not said where the change is:\n%s", said)
	}
	if left := c.git("for-each-ref", "refs/heads/agent"); left != "" {
		t.Errorf("pushed: %s", left)
	}
	if _, err := os.Stat(c.path("contexts", "completed", first.UUID, "change.patch")); err != nil {
		t.Errorf("the patch beside the log: %v", err)
	}
	f := c.thread.(*onFiles)
	c.say("alice", "Said-again: in French, please.")
	c.label(botLabel)
	text := f.text()
	must(t, os.Rename(f.path(), filepath.Join(f.dir(), "renamed.md")))
	c.agent(0, "run")
	if in := c.inherited("files/inbox/tasks/1"); in.From != first.UUID {
		t.Errorf("provenance: %+v", in)
	}
	if m := c.firstRequest("Said-again:").Messages[1].Content; !strings.HasPrefix(m, "Summary of the previous run:") {
		t.Errorf("inherited: %s", m)
	}
	if !strings.Contains(text, "\nnumber: 1\n") {
		t.Errorf("the file has no number:\n%s", text)
	}
}

// A plan, with a failure, a replan and two verifications, reported in a file.
func TestPlanInAFile(t *testing.T) {
	t.Parallel()
	c := newTalk(t, fileKind, planner)
	c.extra = planningOn
	c.agent(0, "run")
	c.wantState("completed", doneLabel)
	c.wantSaid(1, "✅ **Done** @alice")
	c.wantHistory()
	c.wantPublished()
}

// A broken file is named, and the tasks in the others are worked on. A look at what
// would be done writes nothing. The doctor names it too.
func TestBrokenFile(t *testing.T) {
	t.Parallel()
	c := newTalk(t, fileKind, greet())
	bad := filepath.Join(c.thread.(*onFiles).dir(), "bad.md")
	must(t, os.WriteFile(bad, []byte("---\nlabels: [coding agent\n---\n"), 0o600))
	before := c.thread.(*onFiles).text()
	out, errOut := c.agent(78, "run", "--dry-run")
	if after := c.thread.(*onFiles).text(); before != after || !strings.Contains(out, "cannot check  ") || !strings.Contains(out, "bad.md") || !strings.Contains(out, "would start") {
		t.Errorf("a look changed the file, or did not name the broken one:\n%s%s\n%s", out, errOut, after)
	}
	_, errOut = c.agent(78, "run")
	if !strings.Contains(errOut, "bad.md: the front matter cannot be read") || !strings.Contains(errOut, "→ correct the files that are named") || strings.Contains(errOut, "token") {
		t.Errorf("stderr: %s", errOut)
	}
	c.wantState("completed", doneLabel)
	out, _ = c.agent(78, "doctor", "--no-model-call")
	if !strings.Contains(out, "bad.md") || !strings.Contains(out, "git can read the repository") {
		t.Errorf("doctor: %s", out)
	}
	must(t, os.Remove(bad))
	if out, _ := c.agent(0, "doctor", "--no-model-call"); !strings.Contains(out, "inbox; open tasks: 0") {
		t.Errorf("doctor: %s", out)
	}
	dir := filepath.Dir(bad)
	loop := c.start("loop", "--interval", "1")
	c.until("the loop says where it looks", func() bool { return strings.Contains(loop.out.String(), "looking at files/inbox ("+dir+") for") })
	loop.signal(syscall.SIGTERM)
	loop.wait()
	must(t, os.Rename(dir, dir+"~"))
	_, errOut = c.agent(78, "run")
	if !strings.Contains(errOut, "is not there\n") || !strings.Contains(errOut, "→ check files.directory") || strings.Contains(errOut, "token") {
		t.Errorf("stderr: %s", errOut)
	}
}

// TestRepositoryOfFiles: a repository that the configuration names wrongly is no fault of a task.
func TestRepositoryOfFiles(t *testing.T) {
	t.Parallel()
	c := newTalk(t, fileKind, greet())
	origin, away := c.path("origin.git"), c.path("away.git")
	for name, spoil := range map[string]func(){
		"none there": func() {},
		"no repository": func() {
			must(t, os.Mkdir(origin, 0o700))
			must(t, os.WriteFile(filepath.Join(origin, "README.md"), []byte("no git here"), 0o600))
		},
		"a broken one": func() { must(t, os.MkdirAll(filepath.Join(origin, ".git"), 0o700)) },
	} {
		must(t, os.Rename(origin, away))
		spoil()
		_, errOut := c.agent(78, "run")
		if text := c.thread.(*onFiles).text(); !strings.Contains(errOut, origin) || !strings.Contains(text, "labels: [coding agent]\n") || strings.Contains(text, "===") || len(c.list(0)) > 0 {
			t.Errorf("%s: %s\n%s", name, errOut, text)
		}
		must(t, os.RemoveAll(origin))
		must(t, os.Rename(away, origin))
	}
	c.agent(0, "run")
	c.wantState("completed", doneLabel)
}

// The model cannot write a comment into the file of its task: it might approve its own work.
func TestTasksAreOutOfReach(t *testing.T) {
	t.Parallel()
	var script later
	c := newTalk(t, fileKind, script.play)
	script.script = llmtest.Turns(command("sh", "-c", "echo '=== @alice' >> "+c.thread.(*onFiles).path()), llmtest.Done("I could not."))
	c.agent(0, "run")
	c.wantSaid(1, "✅ **Done**")
	for _, r := range c.comments() {
		if r.author != testBot {
			t.Errorf("somebody else said %q", r.body)
		}
	}
}

// Killed in a model call, and again while it works on: the next run finishes, and each
// comment stands in the file once.
func TestKilledInAFile(t *testing.T) {
	t.Parallel()
	c := newTalk(t, fileKind, hanging(2, hanging(1, llmtest.Turns(write("hello.txt", "hello\n"), llmtest.Done("I wrote hello.txt."), llmtest.Done("I wrote hello.txt.")))))
	for n := 2; n <= 3; n++ {
		p := c.start("run")
		c.awaitCalls(n)
		p.kill()
	}
	c.say("alice", "Said-meanwhile: be quick.")
	c.agent(0, "run")
	c.wantOnce()
}

// TestKilledAnytimeInAFile kills the program at random moments, again and again. The file
// then says everything once.
func TestKilledAnytimeInAFile(t *testing.T) {
	t.Parallel()
	for seed := range uint64(exhaustive.Of(1, 40)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 20))
			c := newTalk(t, fileKind, greet())
			for range 3 {
				p := c.start("run")
				time.Sleep(time.Duration(50+random.IntN(900)) * time.Millisecond)
				p.kill()
			}
			c.agent(0, "run")
			c.wantOnce()
		})
	}
}

// wantOnce wants the task to be done, everything said once, and the replay exact.
func (c *talk) wantOnce() {
	t := c.t
	t.Helper()
	l := c.wantState("completed", doneLabel)
	c.wantSaid(1, "✅ **Done** @alice")
	seen := map[string]bool{}
	for _, body := range c.said() {
		if seen[body] {
			t.Errorf("said twice: %s", body)
		}
		seen[body] = true
	}
	c.wantExact(l.UUID)
	c.wantPublished()
}
