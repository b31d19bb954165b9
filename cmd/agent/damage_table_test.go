package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"agent/internal/exhaustive"
)

// storeDamage is damage that the lines of a log alone do not show.
type storeDamage struct {
	name   string
	harm   func(w *world, dir, log string) // the directory of the context, its log
	says   string                          // every command says so
	repair int                             // exit code of agent repair
}

// storeDamages: issue 12 §12. A shortened log was known to list and verify only,
// a missing one was 65 or 74.
var storeDamages = []storeDamage{
	{"shortened", func(w *world, _, log string) { w.editLog(log, withoutLast(3)) }, "was there", 0},
	{"emptied", func(w *world, _, log string) { must(w.t, os.Truncate(log, 0)) }, "holds no event", 65},
	{"log removed", func(w *world, _, log string) { must(w.t, os.Remove(log)) }, "it has no log", 65},
	{"moved by hand", func(w *world, dir, _ string) {
		must(w.t, os.Rename(dir, strings.Replace(dir, "/paused/", "/completed/", 1)))
	}, "has not ended", 0},
	{"replaced by a link", func(w *world, dir, _ string) {
		must(w.t, errors.Join(os.Rename(dir, w.path("elsewhere")), os.Symlink(w.path("elsewhere"), dir)))
	}, "is not a directory", 65},
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
	copyStore := func(from, to string) {
		must(t, errors.Join(os.RemoveAll(w.path(to)), exec.Command("cp", "-a", w.path(from), w.path(to)).Run()))
	}
	copyStore("contexts", "sound")
	dir := w.path("contexts", "paused", uuid)
	for n, d := range storeDamages {
		if n%exhaustive.Of(4, 1) != 0 {
			continue
		}
		must(t, os.RemoveAll(w.path("elsewhere")))
		copyStore("sound", "contexts")
		d.harm(w, dir, dir+"/events.jsonl")
		for _, c := range []struct {
			code int
			args []string
		}{
			{65, []string{"list", "--json"}}, {65, []string{"verify"}}, {65, []string{"verify", uuid}}, {1, []string{"status", "--check"}},
			{0, []string{"status"}}, {65, []string{"inspect", uuid}}, {65, []string{"why", uuid}}, {65, []string{"stats"}},
			{65, []string{"search", "context"}}, {65, []string{"replay", uuid}}, {65, []string{"run", uuid}},
			{d.repair, []string{"repair", uuid, "--accept-loss"}},
		} {
			code, text := w.said(c.args...)
			says := d.says
			switch {
			case c.args[0] == "status" && len(c.args) > 1:
				says = "damaged"
			case c.code == 0 && c.args[0] == "repair":
				says = "repaired"
			}
			if code != c.code || !strings.Contains(text, says) {
				t.Errorf("%s: agent %s: exit %d, want %d and %q:\n%s", d.name, strings.Join(c.args, " "), code, c.code, says, text)
			}
			if c.args[0] == "repair" && strings.Contains(text, "agent repair") {
				t.Errorf("%s: repair hints at itself:\n%s", d.name, text)
			}
		}
	}
	copyStore("sound", "contexts")
	must(t, os.Link(dir+"/events.jsonl", w.path("backup.jsonl")))
	for _, args := range [][]string{{"list"}, {"verify"}, {"inspect", uuid}, {"why", uuid}, {"stats"}, {"search", "context"}, {"replay", uuid}} {
		if code, text := w.said(args...); code != 0 {
			t.Errorf("hard link: agent %s: exit %d\n%s", strings.Join(args, " "), code, text)
		}
	}
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
