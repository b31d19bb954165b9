package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
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
)

// end is what came of the task, without what differs between two runs in any case.
type end struct {
	Comments []string
	Labels   []string
	Changes  []string
	Branch   map[string]string
	Status   string
	Summary  string

	uncertain int // calls that may or may not have happened
}

var (
	numbers = regexp.MustCompile(`[0-9]+`)
	head    = regexp.MustCompile("--head [0-9]+:[0-9a-f]{64}`")
)

// look gives the end, or what is wrong with it in itself.
func (w *world) look() (end, error) {
	id, log, err := w.events()
	if err != nil {
		return end{}, err
	}
	e := end{Labels: w.forge.Labels(project, 1)}
	slices.Sort(e.Labels)
	plain := strings.NewReplacer(id, "UUID", id[:8], "UUID8", w.forge.Host(), "HOST", w.dir, "DIR")
	for _, c := range w.forge.Comments(project, 1) {
		body := head.ReplaceAllString(logtest.Marker.ReplaceAllString(c.Body, ""), "HEAD")
		e.Comments = append(e.Comments, numbers.ReplaceAllString(c.Author+": "+plain.Replace(body), "N"))
	}
	for _, ev := range log {
		switch b := ev.Body.(type) {
		case *event.SummaryAdded:
			e.Summary += b.Text.View()
		case *event.ToolInterrupted:
			e.uncertain++
		}
	}
	e.Status = log[len(log)-1].Body.Type()
	var errs [3]error
	e.Changes, errs[0] = w.changes(plain)
	e.Branch, errs[1] = w.branch(id)
	errs[2] = errors.Join(w.checkOps(id, log), w.checkCommand(log))
	return e, errors.Join(errs[:]...)
}

// events reads the one log. It must lie where ended contexts are, and every
// decision in it must be what the program decides now.
func (w *world) events() (id string, log []event.Event, err error) {
	fsys, err := fsx.OpenOS(filepath.Join(w.dir, "contexts"))
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
func (w *world) changes(plain *strings.Replacer) (list []string, err error) {
	request, err := http.NewRequest(http.MethodGet, w.forge.URL()+"/repos/"+project+"/pulls?state=all", nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var pulls []struct {
		Title, Body string
		Head        struct{ Ref string }
	}
	err = json.NewDecoder(response.Body).Decode(&pulls)
	for _, p := range pulls {
		list = append(list, plain.Replace(p.Head.Ref+"\n"+p.Title+"\n"+p.Body))
	}
	return list, err
}

// branch gives the files of the one branch that was pushed, with one commit on top of the old ones.
func (w *world) branch(id string) (map[string]string, error) {
	origin := filepath.Join(w.dir, "origin.git")
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
func (w *world) checkOps(id string, log []event.Event) error {
	var comments []logtest.Comment
	for _, c := range w.forge.Comments(project, 1) {
		comments = append(comments, logtest.Comment{Author: c.Author, Body: c.Body})
	}
	return logtest.CheckComments(id, log, comments, bot)
}

// checkCommand wants the command run no more often than the log says it was asked for.
func (w *world) checkCommand(log []event.Event) error {
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

// leftovers wants no working copy and no process to be left.
func (w *world) leftovers() (problems error) {
	copies, err := os.ReadDir(filepath.Join(w.dir, "workspaces"))
	if err != nil || len(copies) > 0 {
		problems = fmt.Errorf("working copies are left: %v (%v)", copies, err)
	}
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		line, _ := os.ReadFile(name) // it may have ended
		if strings.Contains(string(line), w.dir) {
			problems = errors.Join(problems, fmt.Errorf("a process is left: %q", line))
		}
	}
	return errors.Join(problems, err)
}
