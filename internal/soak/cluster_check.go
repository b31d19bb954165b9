package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/world"
)

// verify lets a machine say whether its store is whole.
func (s *soak) verify(n int) {
	if s.nodes != nil { // what other machines ended gets its files here
		if code, out := s.startOn(n, "gc").wait(10 * time.Minute); code != 0 {
			s.problem("machine %d: gc ends with %d: %s", n, code, out)
		}
	}
	if code, out := s.startOn(n, "verify").wait(10 * time.Minute); code != 0 {
		s.problem("machine %d: verify ends with %d: %s", n, code, out)
	}
}

// checkCopies wants the same logs on all machines.
func (s *soak) checkCopies() {
	for n, m := range s.machines {
		if n == 0 {
			continue
		}
		s.verify(n)
		for _, dir := range []string{"running", "paused", "completed"} {
			here := logsIn(filepath.Join(s.storeOf(0), dir))
			there := logsIn(m.seen(filepath.Join(s.storeOf(n), dir)))
			for uuid, log := range here {
				if other, has := there[uuid]; !has || !bytes.Equal(log, other) {
					s.problem("machine %d: %s of %s differs: %d bytes, %d on the first machine", n, uuid, dir, len(other), len(log))
				}
				delete(there, uuid)
			}
			for uuid := range there {
				s.problem("machine %d: %s has %s, which the first machine has not", n, dir, uuid)
			}
		}
	}
}

func logsIn(dir string) map[string][]byte {
	logs := map[string][]byte{}
	found, _ := os.ReadDir(dir)
	for _, f := range found {
		logs[f.Name()], _ = os.ReadFile(filepath.Join(dir, f.Name(), "events.jsonl"))
	}
	return logs
}

// checkLabels counts on the forge how often the agent gave each label: never more often
// than its log says. After a person took one away, a repeated request gives it once more.
func checkLabels(t *task, log []event.Event) (problems error) {
	asked := map[string]int{}
	for _, ev := range log {
		if b, ok := ev.Body.(*event.LabelsRequested); ok {
			for _, name := range b.Add {
				asked[name]++
			}
		}
	}
	for name, given := range t.item.Labelled(world.Bot) {
		if t.kind == takesOff {
			given--
		}
		if given > asked[name] {
			problems = errors.Join(problems, fmt.Errorf("the label %q was given %d times, asked for %d times", name, given, asked[name]))
		}
	}
	return problems
}

// checkBranches wants no branch that no log asked for.
func (s *soak) checkBranches(store *contexts.Store) {
	asked := map[string]bool{"main": true}
	for i, err := range store.Infos(contexts.Query{}) {
		if err != nil || i.Err != nil {
			return // said already
		}
		for ev, err := range store.Events(i.UUID) {
			if err != nil {
				break
			}
			if b, ok := ev.Body.(*event.ChangeRequested); ok {
				asked[b.Branch] = true
			}
		}
	}
	for _, repository := range []string{"origin.git", "beside.git"} {
		out, err := exec.Command("git", "-C", s.world.Path(repository), "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads").Output()
		if err != nil {
			s.problem("%s: %v", repository, err)
		}
		for _, branch := range strings.Fields(string(out)) {
			if !asked[branch] {
				s.problem("%s has the branch %s, which no log asked for", repository, branch)
			}
		}
	}
}
