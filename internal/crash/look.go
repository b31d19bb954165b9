package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/handlers/engine"
	"agent/internal/fsx"
	"agent/internal/logtest"
	"agent/internal/world"
)

// end is what came of the task, without what differs between two runs in any case.
type end struct {
	Comments []string
	Labels   []string
	Changes  []string
	Branch   map[string]string
	Status   string
	Summary  string

	uncertain int      // calls that may or may not have happened
	kept      []string // directories with files that were in the way of what the log says
}

var (
	numbers = regexp.MustCompile(`[0-9]+`)
	head    = regexp.MustCompile("--head [0-9]+:[0-9a-f]{64}`")
)

// look gives the end, or what is wrong with it in itself.
func (w *scene) look() (end, error) {
	id, log, err := w.events()
	if err != nil {
		return end{}, err
	}
	e := end{Labels: w.Forge.Labels()}
	slices.Sort(e.Labels)
	plain := strings.NewReplacer(id, "UUID", id[:8], "UUID8", w.Forge.Host(), "HOST", w.Dir, "DIR")
	for _, c := range w.Forge.Comments() {
		body := head.ReplaceAllString(logtest.Marker.ReplaceAllString(c.Body, ""), "HEAD")
		e.Comments = append(e.Comments, numbers.ReplaceAllString(c.Author+": "+plain.Replace(body), "N"))
	}
	for _, ev := range log {
		switch b := ev.Body.(type) {
		case *event.SummaryAdded:
			e.Summary += b.Text.View()
		case *event.ToolInterrupted:
			e.uncertain++
		case *event.WorkspaceRestored:
			e.kept = append(e.kept, filepath.Dir(b.Kept))
		}
	}
	e.Status = log[len(log)-1].Body.Type()
	e.Changes = w.changes(plain)
	e.Branch, err = w.branch(id)
	return e, errors.Join(err, w.checkOps(id, log), w.checkCommand(log))
}

// events reads the one log. It must lie where ended contexts are, and every
// decision in it must be what the program decides now.
func (w *scene) events() (id string, log []event.Event, err error) {
	fsys, err := fsx.OpenOS(w.Path("contexts"))
	if err != nil {
		return "", nil, err
	}
	defer fsys.Close()
	store, err := contexts.Open(fsys, contexts.Options{ReadOnly: true})
	if err != nil {
		return "", nil, err
	}
	for entry, err := range store.List() {
		if err != nil || id != "" || entry.Dir != contexts.Completed {
			return "", nil, fmt.Errorf("%s lies in %s beside %q (%v)", entry.UUID, entry.Dir, id, err)
		}
		id = entry.UUID
	}
	if id == "" {
		return "", nil, errors.New("there is no context")
	}
	for ev, err := range store.Events(id) {
		if err != nil {
			return "", nil, err
		}
		log = append(log, ev)
	}
	report, err := engine.Replay(store.Events(id))
	for _, d := range report.Differences {
		err = errors.Join(err, fmt.Errorf("seq %d was %s, today %s", d.Seq, d.Recorded, d.Decided))
	}
	for name, want := range report.Files {
		if data, _ := store.ReadFile(id, name); string(data) != string(want) {
			err = errors.Join(err, fmt.Errorf("%s is not what the log gives", name))
		}
	}
	return id, log, err
}

// changes lists the pull requests.
func (w *scene) changes(plain *strings.Replacer) (list []string) {
	for _, c := range w.Forge.Changes() {
		list = append(list, plain.Replace(c.Head+"\n"+c.Title+"\n"+c.Body))
	}
	return list
}

// branch gives the files of the one branch that was pushed, with one commit on top of the old ones.
func (w *scene) branch(id string) (map[string]string, error) {
	origin := w.Path("origin.git")
	out, err := git(origin, "for-each-ref", "--format=%(refname:short)", "refs/heads/agent")
	if err != nil {
		return nil, err
	}
	name := strings.TrimSpace(out)
	if !strings.HasSuffix(name, id[:8]) || strings.Contains(name, "\n") {
		return nil, fmt.Errorf("branches are %q", name)
	}
	files := map[string]string{}
	if files["commits"], err = git(origin, "rev-list", "--count", "main.."+name); err != nil {
		return nil, err
	}
	list, err := git(origin, "ls-tree", "-r", "--name-only", name)
	if err != nil {
		return nil, err
	}
	for _, file := range strings.Fields(list) {
		if files[file], err = git(origin, "show", name+":"+file); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// checkOps wants one comment for every op that stands, and no others of ours.
func (w *scene) checkOps(id string, log []event.Event) error {
	var comments []logtest.Comment
	for _, c := range w.Forge.Comments() {
		comments = append(comments, logtest.Comment{Author: c.Author, Body: c.Body})
	}
	return logtest.CheckComments(id, log, comments, world.Bot)
}

// checkCommand wants the command run no more often than the log says it was asked for.
func (w *scene) checkCommand(log []event.Event) error {
	asked := 0
	for _, ev := range log {
		if b, ok := ev.Body.(*event.ToolRequested); ok && b.Tool == "run_command" {
			asked++
		}
	}
	ran, err := os.ReadFile(w.counter())
	if err == nil && len(ran) > asked {
		err = fmt.Errorf("the command ran %d times and was asked for %d times", len(ran), asked)
	}
	return err
}

// leftovers wants no working copy and no process to be left, but what a killed call had
// changed is kept for people.
func (w *scene) leftovers(kept []string) error {
	copies, problems := os.ReadDir(w.Path("workspaces"))
	for _, c := range copies {
		if !slices.Contains(kept, w.Path("workspaces", c.Name())) {
			problems = errors.Join(problems, fmt.Errorf("a working copy is left: %s", c.Name()))
		}
	}
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		line, _ := os.ReadFile(name) // it may have ended
		if strings.Contains(string(line), w.Dir) {
			problems = errors.Join(problems, fmt.Errorf("a process is left: %q", line))
		}
	}
	return errors.Join(problems, err)
}
