package main

import (
	"os"
	"path/filepath"
	"strings"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/fsx"
	"agent/internal/report"
	"agent/projections"
)

// asked counts the requests to the model, without those for summaries.
func (w *world) asked() (n int) {
	for _, r := range w.model.Requests() {
		if !isSummary(r) {
			n++
		}
	}
	return n
}

// list gives what `agent list --json` says.
func (w *world) list(code int) []report.Listed {
	w.t.Helper()
	return linesOf[report.Listed](w, code, "list")
}

// only is the one context that there is.
func (w *world) only() report.Listed {
	w.t.Helper()
	all := w.list(0)
	if len(all) != 1 {
		w.t.Fatalf("%d contexts, want 1: %+v", len(all), all)
	}
	return all[0]
}

// store opens the contexts for looking.
func (w *world) store() *contexts.Store { return w.opened(true) }

func (w *world) opened(readOnly bool) *contexts.Store {
	w.t.Helper()
	fsys, err := fsx.OpenOS(w.path("contexts"))
	must(w.t, err)
	s, err := contexts.Open(fsys, contexts.Options{ReadOnly: readOnly, Dir: w.path("contexts")})
	must(w.t, err)
	return s
}

// events reads the log of a context.
func (w *world) events(uuid string) []event.Event {
	w.t.Helper()
	var all []event.Event
	for ev, err := range w.store().Events(uuid) {
		must(w.t, err)
		all = append(all, ev)
	}
	return all
}

// fold gives the state of a context.
func (w *world) fold(uuid string) *projections.State {
	w.t.Helper()
	s := projections.NewState()
	for _, ev := range w.events(uuid) {
		s.Apply(ev)
	}
	return s
}

// find gives the bodies of one type in a log, oldest first.
func find[B event.Body](events []event.Event) []B {
	var found []B
	for _, ev := range events {
		if b, ok := ev.Body.(B); ok {
			found = append(found, b)
		}
	}
	return found
}

// bodies are the comments of the bot on an issue without their markers.
func (w *world) bodies(number int) []string {
	w.t.Helper()
	var all []string
	for _, c := range w.forge.Comments(testRepo, number) {
		if c.Author == testBot {
			body, _, _ := strings.Cut(c.Body, "\n\n<!-- agent ")
			all = append(all, body)
		}
	}
	return all
}

func (w *world) wantLabels(number int, want ...string) {
	w.t.Helper()
	if got := w.forge.Labels(testRepo, number); strings.Join(got, ",") != strings.Join(want, ",") {
		w.t.Errorf("labels of #%d: %q, want %q", number, got, want)
	}
}

// wantComment wants exactly one comment of the bot that begins with head.
func (w *world) wantComment(number int, head string) string {
	w.t.Helper()
	var found []string
	for _, body := range w.bodies(number) {
		if strings.HasPrefix(body, head) {
			found = append(found, body)
		}
	}
	if len(found) != 1 {
		w.t.Fatalf("%d comments on #%d begin with %q, want 1; all:\n%s", len(found), number, head, strings.Join(w.bodies(number), "\n=====\n"))
	}
	return found[0]
}

// wantExact wants the replay of a context to be exact.
func (w *world) wantExact(uuid string) {
	w.t.Helper()
	if out, _ := w.agent(0, "replay", uuid); !strings.HasPrefix(out, "exact: ") && !strings.HasPrefix(out, "一致: ") {
		w.t.Errorf("replay is not exact:\n%s", out)
	}
}

// wantDone wants issue #n done by exactly one final comment and its replay to be exact.
func (w *world) wantDone(number int, l report.Listed) {
	w.t.Helper()
	if l.State != "completed" {
		w.t.Errorf("state of %s: %q, want completed (%s)", l.TaskKey, l.State, l.Error)
	}
	w.wantLabels(number, doneLabel)
	w.wantComment(number, "✅ **Done**")
	w.wantExact(l.UUID)
}

// noSecrets looks for secrets in everything that outlives the process or leaves it.
func (w *world) noSecrets(more ...string) {
	w.t.Helper()
	secrets := append([]string{testToken, testKey, canary}, more...)
	check := func(where, text string) {
		for _, s := range secrets {
			if strings.Contains(text, s) {
				w.t.Errorf("%s holds the secret %q", where, s)
			}
		}
	}
	for _, dir := range []string{"contexts", "logs"} {
		must(w.t, filepath.WalkDir(w.path(dir), func(path string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == contexts.ObjectsDir {
				check(path, w.unpacked(path))
			}
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			check(path, string(data))
			return err
		}))
	}
	for _, r := range w.forge.Requests() {
		check(r.Method+" "+r.Path, r.Body)
	}
}

// wantClosed wants modes 0700 and 0600 below the contexts and the logs.
func (w *world) wantClosed() {
	w.t.Helper()
	for _, dir := range []string{"contexts", "logs"} {
		must(w.t, filepath.WalkDir(w.path(dir), func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			want := os.FileMode(0o600)
			if d.IsDir() {
				want = 0o700
			}
			if err == nil && info.Mode().Perm() != want {
				w.t.Errorf("%s has mode %04o, want %04o", path, info.Mode().Perm(), want)
			}
			return err
		}))
	}
}
