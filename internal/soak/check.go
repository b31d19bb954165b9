package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/handlers/engine"
	"agent/internal/app"
	"agent/internal/config"
	"agent/internal/logtest"
	"agent/internal/world"
)

// checkAll holds the store against the forges.
func (s *soak) checkAll() {
	cfg, _, err := config.Load(s.world.ConfigFile(), func(string) string { return "" }, config.Offline())
	if err != nil {
		s.problem("%v", err)
		return
	}
	var checked atomic.Bool // what follows the history goes on, and meets the end of servers and files
	defer checked.Store(true)
	store, err := app.OpenReadOnly(cfg, func(err error) {
		if !checked.Load() {
			s.problem("%v", err)
		}
	})
	if err != nil {
		s.problem("%v", err)
		return
	}
	of := map[string]string{} // uuid by task
	for i, err := range store.Infos(contexts.Query{}) {
		switch {
		case err != nil || i.Err != nil:
			s.problem("%s: %v", i.UUID, errors.Join(err, i.Err))
		case of[i.TaskKey] != "":
			s.problem("%s has a second context", i.TaskKey)
		case !i.Over():
			s.problem("%s of %s is %s", i.UUID, i.TaskKey, i.State)
		}
		of[i.TaskKey] = i.UUID
	}
	changes := map[world.Forge]map[int]string{s.world.Forge: {}, s.world.Beside: {}}
	for f, known := range changes {
		for _, c := range f.Changes() {
			known[c.Number] = c.Head
		}
	}
	for _, t := range s.all() {
		if err := s.check(t, store, of[t.key()], changes[t.forge]); err != nil {
			s.problem("%s: %v", t.key(), err)
		}
	}
	for f, left := range changes {
		if len(left) > 0 {
			s.problem("%s has requests that no log opened: %v", f.Host(), left)
		}
	}
	s.checkBranches(store)
	s.verify(0)
	s.checkCopies()
	s.checkLeft()
}

// check holds one task against its log. It takes its request from changes.
func (s *soak) check(t *task, store *contexts.Store, id string, changes map[int]string) (problems error) {
	if id == "" {
		return errors.New("it has no context")
	}
	var log []event.Event
	number := 0
	for ev, err := range store.Events(id) {
		if err != nil {
			return err
		}
		log = append(log, ev)
		if b, ok := ev.Body.(*event.ChangeOpened); ok && b.Number > 0 {
			if number > 0 && number != b.Number {
				problems = errors.Join(problems, fmt.Errorf("it opened requests %d and %d", number, b.Number))
			}
			number = b.Number
		}
	}
	var comments []logtest.Comment
	for _, c := range t.item.Comments() {
		comments = append(comments, logtest.Comment{Author: c.Author, Body: c.Body})
	}
	problems = errors.Join(problems, logtest.CheckComments(id, log, comments, world.Bot), checkLabels(t, log))
	report, err := engine.Replay(store.Events(id))
	if problems = errors.Join(problems, err); len(report.Differences) > 0 {
		problems = errors.Join(problems, fmt.Errorf("%d decisions differ, the first at %d: was %s, today %s",
			len(report.Differences), report.Differences[0].Seq, report.Differences[0].Recorded, report.Differences[0].Decided))
	}
	branch, opened := changes[number]
	delete(changes, number)
	if ended := log[len(log)-1].Body.Type(); ended != "context.completed" {
		return problems // it was taken off before there was a change, or after
	}
	if !opened {
		return errors.Join(problems, fmt.Errorf("its request %d is not there", number))
	}
	return errors.Join(problems, s.checkFile(t, branch))
}

// checkFile wants the file of a task on its branch.
func (s *soak) checkFile(t *task, branch string) error {
	lines := 1
	if t.kind == asksMore && t.acted {
		lines = 2
	}
	repository := "origin.git"
	if t.forge == s.world.Beside {
		repository = "beside.git"
	}
	out, err := exec.Command("git", "-C", s.world.Path(repository), "show", branch+":"+t.file()).CombinedOutput()
	if want := strings.Repeat("a line\n", lines); err != nil || string(out) != want {
		return fmt.Errorf("%s on its branch is %q, want %q (%v)", t.file(), out, want, err)
	}
	return nil
}

// checkLeft wants no process, and nothing half done.
func (s *soak) checkLeft() {
	own := []byte("HOME=" + s.world.Dir + "\x00")
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		var left []string
		dirs, _ := filepath.Glob("/proc/[0-9]*")
		for _, dir := range dirs {
			if env, err := os.ReadFile(dir + "/environ"); err == nil && bytes.Contains(env, own) {
				line, _ := os.ReadFile(dir + "/cmdline")
				left = append(left, strings.ReplaceAll(string(line), "\x00", " "))
			}
		}
		if len(left) == 0 {
			break
		}
		if time.Now().After(end) {
			s.problem("processes are left: %q", left)
			break
		}
	}
	for _, dir := range []string{"contexts/.control", "contexts/running", "contexts/paused"} {
		if left, err := os.ReadDir(s.world.Path(dir)); err != nil || len(left) > 0 {
			s.problem("%s holds %d (%v)", dir, len(left), err)
		}
	}
}
