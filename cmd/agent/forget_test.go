package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent/internal/exhaustive"
	"agent/llm/llmtest"
)

// holders are the files below contexts/ that hold a text, logs that are archived unpacked.
func (w *world) holders(text string) (files []string) {
	w.t.Helper()
	must(w.t, filepath.WalkDir(w.path("contexts"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		if strings.Contains(string(data), text) {
			files = append(files, name)
		}
		return err
	}))
	for _, l := range w.list(0) {
		if out, _ := w.agent(0, "inspect", "--json", l.UUID); strings.Contains(out, text) {
			files = append(files, "log of "+l.UUID)
		}
	}
	return files
}

// archive packs the log of a context now.
func (w *world) archive(uuid string) {
	w.t.Helper()
	_, err := w.opened(false).Archive(uuid)
	must(w.t, err)
}

// TestForgetWhatWasPassedOn: what the third go has from the first one, by way of
// the second, is gone too, from blobs, projection files and archives.
func TestForgetWhatWasPassedOn(t *testing.T) {
	t.Parallel()
	const needle = "Needle-7731"
	script := greet()
	w := newWorld(t, nil)
	w.model.Close()
	w.model = llmtest.New(func(n int, r llmtest.Request) llmtest.Reply {
		if isSummary(r) { // of the second attempt and the third it has the words of the first
			return llmtest.Text("It is about " + needle + ".")
		}
		return script(n, r)
	})
	t.Cleanup(w.model.Close)
	w.agent(0, "run")
	first := w.only()
	script = llmtest.Turns(llmtest.Reply{}, llmtest.ToolCalls(ask(first.UUID, "summary")), llmtest.Done("I looked."))
	second := w.again(0)
	script = llmtest.Turns(llmtest.Reply{}, llmtest.ToolCalls(ask(second.UUID, "summary")), llmtest.Done("I looked once more."))
	third := w.again(0)
	w.archive(second.UUID)
	if out, _ := w.agent(0, "inspect", second.UUID); strings.Count(out, needle) < 2 || strings.Contains(out, "forgotten") {
		t.Errorf("inspect says %s", out)
	}
	if n := len(w.holders(needle)); n < 10 {
		t.Fatalf("%d files hold the text; the test needs more", n)
	}
	out, _ := w.agent(0, "forget", first.UUID)
	if !strings.Contains(out, second.UUID+"  lost") || !strings.Contains(out, third.UUID+"  lost") {
		t.Errorf("forget says %s", out)
	}
	if left := w.holders(needle); len(left) > 0 {
		t.Errorf("it is left in %q", left)
	}
	w.agent(0, "verify")
	for _, heir := range []string{second.UUID, third.UUID} {
		if out, _ := w.agent(0, "replay", heir); !strings.Contains(out, "forgotten") || !strings.Contains(out, "exact") {
			t.Errorf("replay says %s", out)
		}
	}
	script = llmtest.Turns(llmtest.Done("There was nothing to do."))
	fourth := w.again(0)
	if in := w.inherited(first.TaskKey); in.From != "" || in.Reason != third.UUID+": its summary was forgotten" {
		t.Errorf("the next attempt takes over %+v", in)
	}
	w.wantExact(fourth.UUID)
}

// TestForgetAfterCompaction: summaries within a conversation go as well, and the
// replay does not take it for a difference that they would be due at other times.
func TestForgetAfterCompaction(t *testing.T) {
	exhaustive.Only(t)
	t.Parallel()
	const needle = "Needle-7732"
	turns := 0
	w := newWorld(t, nil)
	w.model.Close()
	w.model = llmtest.New(func(n int, r llmtest.Request) llmtest.Reply {
		if isSummary(r) || strings.HasPrefix(r.System(), "You shorten") {
			return llmtest.Text("It is about " + needle + "." + strings.Repeat(" and so on", 1200))
		}
		if turns++; turns%6 == 0 {
			return llmtest.Done("I wrote the files.")
		}
		return write("file.txt", strings.Repeat("word ", 2500+turns))
	})
	t.Cleanup(w.model.Close)
	w.extra = "context_storage: {compression_threshold: 0.05, keep_recent_messages: 2}"
	w.agent(0, "run")
	first := w.only()
	heir := w.again(0)
	if out, _ := w.agent(0, "inspect", heir.UUID); strings.Count(out, "summary of events") < 2 {
		t.Fatalf("there were not two compactions:\n%s", out)
	}
	w.agent(0, "forget", first.UUID)
	if left := w.holders(needle); len(left) > 0 {
		t.Errorf("it is left in %q", left)
	}
	if out, _ := w.agent(0, "replay", heir.UUID); !strings.Contains(out, "exact") {
		t.Errorf("replay says %s", out)
	}
}
