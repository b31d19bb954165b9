package main

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
)

// endedContext makes a context that is done, without a run.
func (w *world) endedContext(uuid string) {
	w.t.Helper()
	must(w.t, os.MkdirAll(w.path("contexts"), 0o700))
	c, err := w.opened(false).Create(&event.ContextCreated{Format: event.Format, UUID: uuid, TaskKey: "github.com/o/r/issues/1", Forge: "github.com",
		Kind: "github_issue", Title: "Greet", User: "alice", Trigger: "label"}, time.Now())
	must(w.t, err)
	_, err = c.Append(event.Event{Time: time.Now(), Body: &event.ContextCompleted{Reason: "done"}})
	must(w.t, err)
	must(w.t, c.Relocate())
	must(w.t, c.Close())
}

const forgettable = "11110000-0000-4000-8000-00000000000"

// On a terminal forget says what it would remove, and asks: only yes is yes. Where
// nobody can answer it is not asked.
func TestForgetAsks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for n, c := range []struct {
		answer string
		code   int
	}{{"\n", 1}, {"n\n", 1}, {"yesterday\n", 1}, {"\x04", 1}, {"y\n", 0}, {" YES \n", 0}, {"はい\n", 0}} {
		uuid := forgettable + string(rune('0'+n))
		w.endedContext(uuid)
		p := w.startOnTerminal(80, "forget", uuid)
		w.until("forget asks", func() bool { return strings.Contains(p.shown.String(), "Remove this for good? [y/N] ") })
		_, err := io.WriteString(p.terminal, c.answer)
		must(t, err)
		code, shown := p.end()
		_, err = w.store().DirOf(uuid)
		gone := err != nil
		if code != c.code || gone != (c.code == 0) || !strings.Contains(shown, uuid+"  would be forgotten, ") || strings.Contains(shown, "nothing was removed") == gone {
			t.Errorf("%q: exit %d, gone: %v\n%s", c.answer, code, gone, shown)
		}
	}
}

// A dry run says in both languages what would be removed, and removes nothing; --yes does not ask.
func TestForgetDryRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	uuid := forgettable + "9"
	w.endedContext(uuid)
	for lang, want := range map[string]string{"en": uuid + "  would be forgotten, ", "ja": uuid + "  削除の対象（"} {
		w.extra = "language: " + lang
		if out, errOut := w.agent(0, "forget", uuid, "--dry-run"); !strings.HasPrefix(out, want) || errOut != "" {
			t.Errorf("%s: %q %q", lang, out, errOut)
		}
	}
	if l := linesOf[forgotten](w, 0, "forget", uuid, "--dry-run"); len(l) != 1 || !l[0].DryRun || l[0].UUID != uuid {
		t.Errorf("%+v", l)
	}
	if dir, err := w.store().DirOf(uuid); err != nil || dir != contexts.Completed {
		t.Errorf("a dry run removed it: %v %v", dir, err)
	}
	p := w.startOnTerminal(80, "forget", uuid, "--yes")
	if code, shown := p.end(); code != 0 || strings.Contains(shown, "[y/N]") {
		t.Errorf("--yes: exit %d\n%s", code, shown)
	}
}
