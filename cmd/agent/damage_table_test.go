package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"agent/internal/exhaustive"
)

// storeDamage is one kind of damage to a context, and what each command says of it.
type storeDamage struct {
	name string
	harm func(w *world, dir, log string) // the directory of the context, its log
	says string                          // what every command says that knows it
	not  map[string]int                  // exit codes of commands other than 65; those with 0 need not know it
}

// storeDamages: a shortened log was known to list and verify only, a missing one
// was 65 or 74, one whose directory is gone was dropped without a word, and
// projection files that could not be written on a full disk stayed wrong.
var storeDamages = []storeDamage{
	{"shortened", func(w *world, _, log string) { w.editLog(log, withoutLast(3)) }, "was there", map[string]int{"repair": 0}},
	{"emptied", func(w *world, _, log string) { must(w.t, os.Truncate(log, 0)) }, "holds no event", nil},
	{"log removed", func(w *world, _, log string) { must(w.t, os.Remove(log)) }, "it has no log", nil},
	{"a flipped bit", func(w *world, _, log string) {
		w.editLog(log, func(data []byte) []byte { data[len(data)/2] ^= 1; return data })
	}, "damaged", map[string]int{"repair": 0}},
	{"moved by hand", func(w *world, dir, _ string) {
		must(w.t, os.Rename(dir, strings.Replace(dir, "/paused/", "/completed/", 1)))
	}, "has not ended", map[string]int{"repair": 0}},
	{"replaced by a link", func(w *world, dir, _ string) {
		must(w.t, errors.Join(os.Rename(dir, w.path("elsewhere")), os.Symlink(w.path("elsewhere"), dir)))
	}, "is not a directory", nil},
	{"replaced by a file", func(w *world, dir, _ string) {
		must(w.t, errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)))
	}, "is not a directory", nil},
	{"directory gone", func(w *world, dir, _ string) { must(w.t, os.RemoveAll(dir)) }, "its directory is gone", nil},
	{"open to others", func(w *world, _, log string) { must(w.t, os.Chmod(log, 0o644)) }, "is open to others", harmless(78, "verify", "verify all")},
	{"a link among the files", func(w *world, dir, _ string) {
		must(w.t, os.Symlink("/etc/passwd", dir+"/note"))
	}, "neither a file nor a directory", harmless(65, "verify", "verify all")},
	{"stale projection file", func(w *world, dir, _ string) {
		must(w.t, os.WriteFile(dir+"/messages.jsonl", []byte("{}\n"), 0o600))
	}, "messages.jsonl", harmless(1, "verify", "verify all", "replay")},
	{"hard link of a backup", func(w *world, _, log string) {
		must(w.t, errors.Join(os.RemoveAll(w.path("backup")), os.Link(log, w.path("backup"))))
	}, "", harmless(0)},
}

// damageCommands are the commands by the name that the table gives them, harmless first.
var damageCommands = []struct{ name, line string }{
	{"list", "list --json"}, {"verify all", "verify"}, {"verify", "verify UUID"}, {"status", "status --check"},
	{"inspect", "inspect UUID"}, {"why", "why UUID"}, {"stats", "stats"}, {"search", "search context"}, {"replay", "replay UUID"},
	{"dry run", "run UUID --dry-run"}, {"pause", "pause UUID"}, {"run", "run UUID"}, {"run again", "run UUID"}, {"resume", "resume UUID"},
	{"rebuild", "rebuild UUID"}, {"repair", "repair UUID --accept-loss"},
}

// harmless is for what only some commands have to know of.
func harmless(code int, knows ...string) map[string]int {
	codes := map[string]int{}
	for _, c := range damageCommands {
		if codes[c.name] = 0; slices.Contains(knows, c.name) {
			codes[c.name] = code
		}
	}
	return codes
}

func withoutLast(n int) func([]byte) []byte {
	return func(data []byte) []byte {
		lines := bytes.SplitAfter(data, []byte("\n"))
		return bytes.Join(lines[:len(lines)-1-n], nil)
	}
}

func (w *world) editLog(log string, edit func([]byte) []byte) {
	data, err := os.ReadFile(log)
	must(w.t, errors.Join(err, os.WriteFile(log, edit(data), 0o600)))
}

// said runs a command and gives its exit code and all that it printed.
func (w *world) said(args ...string) (code int, text string) {
	p := w.start(args...)
	code = p.wait()
	return code, p.out.String() + p.err.String()
}

// TestEveryCommandKnowsDamage: each damage, each command: what it says, its exit code.
func TestEveryCommandKnowsDamage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hanging(1, greet()))
	uuid := w.pausedByCommand()
	w.copyStore("contexts", "sound")
	for n, d := range storeDamages {
		if n%exhaustive.Of(5, 1) != 0 {
			continue
		}
		must(t, os.RemoveAll(w.path("elsewhere")))
		w.copyStore("sound", "contexts")
		dir := w.path("contexts", "paused", uuid)
		d.harm(w, dir, dir+"/events.jsonl")
		for _, c := range damageCommands {
			want, listed := d.not[c.name]
			if !listed {
				want = 65
			}
			if want == 0 && slices.Contains([]string{"pause", "run", "run again", "resume", "repair"}, c.name) && d.not["list"] == 0 && len(d.not) > 1 {
				continue // it works as on a sound store
			}
			w.wantDamage(d, c.name, strings.Fields(strings.ReplaceAll(c.line, "UUID", uuid)), want)
		}
	}
}

// wantDamage runs a command on a damaged store.
func (w *world) wantDamage(d storeDamage, name string, args []string, want int) {
	w.t.Helper()
	says := d.says
	switch {
	case name == "status" && want == 65:
		says = "damaged" // it counts them
	case want == 0 && name == "repair":
		says = "repaired"
	case want == 0:
		says = ""
	}
	code, text := w.said(args...)
	if code != want || !strings.Contains(text, says) {
		w.t.Errorf("%s: agent %s: exit %d, want %d and %q:\n%s", d.name, strings.Join(args, " "), code, want, says, text)
	}
	if name == "repair" && strings.Contains(text, "agent repair") {
		w.t.Errorf("%s: repair hints at itself:\n%s", d.name, text)
	}
}

func (w *world) copyStore(from, to string) {
	must(w.t, errors.Join(os.RemoveAll(w.path(to)), exec.Command("cp", "-a", w.path(from), w.path(to)).Run()))
}

// TestIndexIsSetAside: index/ as a file or a link stops nothing.
func TestIndexIsSetAside(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	w.agent(0, "run")
	before, _ := w.agent(0, "list", "--json")
	index := w.path("contexts", "index")
	for name, place := range map[string]func() error{
		"file": func() error { return os.WriteFile(index, []byte("x"), 0o600) },
		"link": func() error { return os.Symlink("/nonexistent", index) },
	} {
		must(t, errors.Join(os.RemoveAll(index), place()))
		if out, _ := w.agent(0, "list", "--json"); out != before {
			t.Errorf("%s: list says %s", name, out)
		}
		w.agent(0, "run")
		w.agent(0, "rebuild", "--index")
		if info, err := os.Lstat(index); err != nil || !info.IsDir() {
			t.Errorf("%s: index/ was not made again: %v", name, err)
		}
	}
}

// TestUnsavedProjectionFiles: files that could not be written at the end of a
// task, when there was no room, were wrong for ever.
func TestUnsavedProjectionFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hanging(1, greet()))
	uuid := w.pausedByCommand()
	w.copyStore("contexts", "sound")
	for name, next := range map[string][]string{"the next run": {"run", uuid}, "gc": {"gc"}} {
		w.copyStore("sound", "contexts")
		// In the way of the file that replaces it, as a disk without room is.
		blocked := "/task_state.json.tmp"
		must(t, os.Mkdir(w.path("contexts", "paused", uuid)+blocked, 0o700))
		w.agent(0, "stop", uuid)
		w.agent(0, "run")
		done := w.path("contexts", "completed", uuid)
		if _, err := os.Stat(done + blocked); err != nil {
			t.Fatal("the file was written, so this shows nothing: ", err)
		}
		must(t, os.Remove(done+blocked))
		for _, c := range [][]string{{"verify", uuid}, {"verify"}, {"replay", uuid}} {
			if code, text := w.said(c...); code != 1 || !strings.Contains(text, "task_state.json") {
				t.Errorf("%s: agent %s: exit %d\n%s", name, strings.Join(c, " "), code, text)
			}
		}
		w.agent(0, "gc", "--dry-run")
		w.agent(0, next...)
		for _, c := range []string{"verify", "replay"} {
			if code, text := w.said(c, uuid); code != 0 {
				t.Errorf("after %s: agent %s: exit %d\n%s", name, c, code, text)
			}
		}
	}
}

// TestRunWithALostContext: each run says the same, does nothing for that task, and
// works on the others; when the context is given up, a label begins anew.
func TestRunWithALostContext(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hanging(1, greet()))
	uuid := w.pausedByCommand()
	must(t, os.RemoveAll(w.path("contexts", "paused", uuid)))
	w.forge.AddLabels(testRepo, 1, botLabel)
	w.issue("Another task")
	for n, calls := 0, 0; n < 2; n++ {
		code, text := w.said("run")
		if code != 65 || strings.Count(text, "its directory is gone") != 2 { // the context, and the task that is labelled
			t.Errorf("run %d: exit %d\n%s", n, code, text)
		}
		if n > 0 && len(w.model.Requests()) != calls {
			t.Error("the second run did more than the first")
		}
		calls = len(w.model.Requests())
	}
	w.wantDamageTold(1)
	w.agent(0, "forget", uuid)
	w.agent(0, "run")
	if out, _ := w.agent(0, "list", "--json"); strings.Count(out, `"completed"`) != 2 {
		t.Errorf("not begun anew:\n%s", out)
	}
}

// wantDamageTold wants the damage of its record to be told on an issue once, over all rounds.
func (w *world) wantDamageTold(number int) {
	w.t.Helper()
	n := 0
	for _, body := range w.bodies(number) {
		if strings.Contains(body, "record of its work on this task is damaged") {
			n++
		}
	}
	if n != 1 {
		w.t.Errorf("#%d was told of damage %d times: %q", number, n, w.bodies(number))
	}
}

// TestDamageIsToldOnTheItem: whatever is damaged, the people of the item learn it once,
// and another task is worked on.
func TestDamageIsToldOnTheItem(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hanging(1, greet()))
	uuid := w.pausedByCommand()
	log := w.path("contexts", "paused", uuid, "events.jsonl")
	w.editLog(log, func(data []byte) []byte { data[len(data)/2] ^= 1; return data })
	w.issue("Another task")
	for range 2 {
		w.agent(65, "run")
	}
	w.wantDamageTold(1)
	w.forge.AddLabels(testRepo, 1, botLabel)
	w.agent(65, "run") // listed and looked at
	w.wantDamageTold(1)
	w.wantLabels(2, doneLabel)
	w.forge.RemoveLabels(testRepo, 1, botLabel, pausedLabel)
	w.agent(65, "run")
	w.wantDamageTold(1)
}
