package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"agent/contexts"
	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/exhaustive"
	"agent/internal/search"
)

const oldUUID = "0b1c2d3e-0000-4000-8000-00000000000a"

// ended makes a context of an issue, named as owner/repo/issues/number, whose last
// events were some days ago.
func (w *world) ended(issue string, days int, bodies ...event.Body) {
	w.t.Helper()
	then := time.Now().AddDate(0, 0, -days)
	c, err := w.opened(false).Create(&event.ContextCreated{Format: event.Format, UUID: oldUUID, TaskKey: w.forge.Host() + "/" + issue,
		Forge: w.forge.Host(), Kind: "github_issue", Title: "Long ago"}, then)
	must(w.t, err)
	for _, b := range bodies {
		_, err := c.Append(event.Event{Time: then, Body: b})
		must(w.t, err)
	}
	must(w.t, c.Relocate())
	must(w.t, c.Close())
}

// oldContext makes a context that ended some days ago, with a working copy.
func (w *world) oldContext(days int) {
	w.t.Helper()
	w.ended(testRepo+"/issues/99", days,
		&event.MessageAdded{Role: "user", Purpose: event.TaskMessage, Content: event.T("The \"needle\" of\na \x1b[31mhaystack\x1b[0m, 干し草の中の針. " + strings.Repeat("hay ", 9000))},
		&event.ContextCompleted{Reason: "done"})
	must(w.t, os.MkdirAll(w.path("workspaces", oldUUID, "src"), 0o700))
	must(w.t, os.WriteFile(w.path("workspaces", oldUUID, "src", "f"), make([]byte, 1000), 0o600))
	must(w.t, os.MkdirAll(w.path("workspaces", "0b1c2d3e-0000-4000-8000-00000000000b"), 0o700)) // of nobody known
}

func (w *world) collected(args ...string) (c contexts.Collected) {
	w.t.Helper()
	out, _ := w.agent(0, append([]string{"gc", "--json"}, args...)...)
	must(w.t, json.Unmarshal([]byte(out), &c))
	return c
}

func isThere(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// TestGC archives an old context by command; everything that reads a log reads it as before.
func TestGC(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	w.oldContext(20)
	w.agent(0, "rebuild", oldUUID)
	before := map[string]string{}
	read := [][]string{{"list"}, {"inspect", oldUUID}, {"inspect", oldUUID, "--json"}, {"verify"}, {"search", "haystack"}}
	for _, args := range read {
		before[strings.Join(args, " ")], _ = w.agent(0, args...)
	}
	if c := w.collected("--dry-run"); c.Archived != 1 || c.Clones != 1 || c.CloneBytes != 1000 || !c.DryRun {
		t.Errorf("a dry run says %+v", c)
	}
	if !isThere(w.logPath("completed", oldUUID)) || !isThere(w.path("workspaces", oldUUID)) || isThere(w.path("contexts", "gc.json")) {
		t.Error("a dry run changed something")
	}
	if c := w.collected(); c.Archived != 1 || c.Clones != 1 || c.Problems != 0 || c.ArchivedTo >= c.ArchivedFrom {
		t.Errorf("gc says %+v", c)
	}
	if isThere(w.logPath("completed", oldUUID)) || !isThere(w.path("contexts", "completed", oldUUID, eventlog.ArchiveName)) || isThere(w.path("workspaces", oldUUID)) {
		t.Error("gc left the log or the working copy")
	}
	if !isThere(w.path("workspaces", "0b1c2d3e-0000-4000-8000-00000000000b")) {
		t.Error("gc took a directory that it does not know")
	}
	for _, args := range read {
		if out, _ := w.agent(0, args...); out != before[strings.Join(args, " ")] {
			t.Errorf("%v says\n%s, and before\n%s", args, out, before[strings.Join(args, " ")])
		}
	}
	w.agent(0, "rebuild", oldUUID)
	if out, _ := w.agent(0, "gc"); !strings.Contains(out, "archived 0 contexts") {
		t.Errorf("a second gc says %s", out)
	}
}

// TestDailyGC: a run does it once a day, and removes what is too old.
func TestDailyGC(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	w.extra = "context_storage: {archive_after_days: 7, cleanup_days: 30}"
	w.oldContext(20)
	w.agent(0, "run")
	archive := w.path("contexts", "completed", oldUUID, eventlog.ArchiveName)
	if !isThere(archive) {
		t.Fatal("the old context was not archived")
	}
	w.extra = "context_storage: {archive_after_days: 7, cleanup_days: 10}\ncontext_inheritance: {enabled: false}"
	w.agent(0, "run")
	if !isThere(archive) {
		t.Error("it was done twice in a day")
	}
	must(t, os.Remove(w.path("contexts", "gc.json")))
	w.agent(0, "run")
	if isThere(filepath.Dir(archive)) {
		t.Error("the old context was not removed")
	}
	if l := w.only(); l.State != "completed" {
		t.Errorf("left %+v", l)
	}
}

// TestDamagedArchive is contained, and named.
func TestDamagedArchive(t *testing.T) {
	exhaustive.Only(t)
	t.Parallel()
	for name, harm := range map[string]func([]byte) []byte{
		"cut":     func(b []byte) []byte { return b[:len(b)/2] },
		"flipped": func(b []byte) []byte { b[len(b)/3] ^= 8; return b },
		"empty":   func([]byte) []byte { return nil },
	} {
		w := newWorld(t, greet())
		w.oldContext(20)
		w.collected()
		archive := w.path("contexts", "completed", oldUUID, eventlog.ArchiveName)
		data, err := os.ReadFile(archive)
		must(t, err)
		must(t, os.WriteFile(archive, harm(data), 0o600))
		for _, args := range [][]string{{"list"}, {"verify"}, {"inspect", oldUUID}, {"replay", oldUUID}, {"search", "haystack"}} {
			if _, errOut := w.agent(65, args...); strings.Contains(errOut, "panic") {
				t.Errorf("%s: %v says %s", name, args, errOut)
			}
		}
		w.agent(0, "run")
		w.wantLabels(1, doneLabel)
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	w.oldContext(20)
	w.agent(0, "run") // and archives the old one
	for _, c := range []struct {
		args []string
		want int
	}{
		{[]string{"haystack"}, 1},
		{[]string{"The \"needle\" of\na"}, 1},
		{[]string{"針"}, 1},
		{[]string{"no such text"}, 0},
		{[]string{"prev"}, 0}, // is in every envelope, and in no data
		{[]string{"hello.txt", "--type", "tool.requested"}, 1},
		{[]string{"hello.txt", "--type", "tool.requested", "--type", "llm", "--task", w.forge.Host() + "/" + testRepo + "/issues/1"}, 3},
		{[]string{"haystack", "--task", w.forge.Host() + "/" + testRepo + "/issues/1"}, 0},
		{[]string{"haystack", "--task", oldUUID[:8]}, 1},
		{[]string{"haystack", "--since", "19d"}, 0},
		{[]string{"haystack", "--since", "21d", "--until", "2d"}, 1},
		{[]string{"haystack", "--until", "2001-02-03"}, 0},
		{[]string{"--regexp", `hays[a-z]+k`}, 1},
		{[]string{"--regexp", `(?i)HAYSTACK|no such`}, 1},
		{[]string{"--regexp", `needle.*\\na`}, 1},
	} {
		code := 0
		if c.want == 0 {
			code = 1 // as grep
		}
		out, _ := w.agent(code, append([]string{"search"}, c.args...)...)
		if got := strings.Count(out, "\n"); got != c.want || strings.Contains(out, "\x1b") {
			t.Errorf("%v: %d hits, want %d:\n%s", c.args, got, c.want, out)
		}
	}
	out, _ := w.agent(0, "search", "--json", "haystack")
	var hit search.Hit
	must(t, json.Unmarshal([]byte(out), &hit))
	if hit.UUID != oldUUID || hit.Seq != 2 || hit.Type != "message.added" || !strings.Contains(hit.Excerpt, "haystack") {
		t.Errorf("%+v", hit)
	}
	for _, args := range [][]string{{""}, {"x", "--since", "yesterday"}, {"--regexp", "("}} {
		w.agent(2, append([]string{"search"}, args...)...)
	}
}

// TestForget removes a finished go. What the next one took over from it is gone
// from its log's blobs and projection files; log and replay stay valid.
func TestForget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	w.agent(0, "run")
	first := w.only()
	w.forge.AddLabels(testRepo, 1, botLabel)
	w.agent(0, "run")
	in := w.inherited(first.TaskKey)
	var heir string
	for _, l := range w.list(0) {
		if l.UUID != first.UUID {
			heir = l.UUID
		}
	}
	if in.Summary.Blob == "" || in.Summary.View() == "" || in.Summary.Inline != "" {
		t.Fatalf("the inherited text is in the line: %+v", in.Summary)
	}
	blob := w.path("contexts", "completed", heir, "blobs", in.Summary.Blob)
	messages := w.path("contexts", "completed", heir, "messages.jsonl")
	holds := func() bool {
		data, err := os.ReadFile(messages)
		must(t, err)
		return strings.Contains(string(data), "Summary of the previous run")
	}
	if !isThere(blob) || !holds() {
		t.Fatal("nothing was inherited")
	}
	out, _ := w.agent(0, "forget", first.UUID[:8])
	if !strings.Contains(out, heir) {
		t.Errorf("forget says %s", out)
	}
	if l := w.only(); l.UUID != heir || l.State != "completed" {
		t.Errorf("left %+v", l)
	}
	if isThere(blob) || holds() || isThere(w.path("contexts", "completed", first.UUID)) {
		t.Error("something of it is left")
	}
	w.agent(0, "verify")
	if out, _ := w.agent(0, "replay", heir); !strings.Contains(out, "forgotten") || !strings.Contains(out, "exact") {
		t.Errorf("replay says %s", out)
	}
	w.agent(2, "forget", first.UUID)
	w.agent(0, "forget", first.TaskKey)
	if out, _ := w.agent(0, "list"); out != "" {
		t.Errorf("left %s", out)
	}
}

// TestForgetOnlyTheEnded refuses a context that lives.
func TestForgetOnlyTheEnded(t *testing.T) {
	t.Parallel()
	w, uuid := begun(t)
	w.agent(2, "forget", uuid)
	w.agent(2, "forget", w.only().TaskKey)
	if w.only().UUID != uuid {
		t.Error("it is gone")
	}
}

// TestRebuildIndex: a deleted index changes no answer, and is made anew.
func TestRebuildIndex(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	w.agent(0, "run")
	before, _ := w.agent(0, "list", "--json")
	must(t, os.RemoveAll(w.path("contexts", "index")))
	if out, _ := w.agent(0, "list", "--json"); out != before {
		t.Errorf("without its index: %s", out)
	}
	if out, _ := w.agent(0, "rebuild", "--index"); !strings.Contains(out, "1 contexts") {
		t.Errorf("rebuild says %s", out)
	}
	if out, _ := w.agent(0, "list", "--json"); out != before || !isThere(w.path("contexts", "index", "contexts.jsonl")) {
		t.Errorf("with a new index: %s", out)
	}
}

// TestArchiveIsSmall: an archived context takes about the room of its packed log. Copies of
// it in projection files, each in blocks of its own, took five times the log.
func TestArchiveIsSmall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, longer())
	w.agent(0, "run")
	uuid := w.only().UUID
	w.agent(0, "verify", uuid)
	packed, err := w.opened(false).Archive(uuid)
	must(t, err)
	room := int64(0)
	must(t, filepath.WalkDir(w.path("contexts", "completed", uuid), func(path string, _ os.DirEntry, err error) error {
		var s syscall.Stat_t
		if err == nil && !strings.Contains(path, "objects") { // the saved files are no part of the log
			err = syscall.Stat(path, &s)
			room += max(s.Blocks*512, s.Size)
		}
		return err
	}))
	const block = 4 << 10
	if most := 2*packed.After + 4*block; room > most || packed.Before == 0 {
		t.Errorf("a log of %d bytes, %d packed, takes %d, want at most %d", packed.Before, packed.After, room, most)
	}
	w.agent(0, "verify", uuid)
	w.agent(0, "replay", uuid)
	w.agent(0, "gc")
	w.agent(0, "rebuild", uuid)
	w.wantExact(uuid)
}
