package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/google/go-cmp/cmp"

	"agent/eventlog/event"
	"agent/forge/forgetest"
)

// checkOps wants exactly one comment for each op that the log posted, where an
// edited comment has the op of its latest edit, and no other comment of ours.
func checkOps(id string, log []event.Event, comments []forgetest.Comment) (problems error) {
	found := map[string]int{}
	for _, c := range comments {
		if m := marker.FindStringSubmatch(c.Body); m != nil {
			found[m[1]]++
		} else if c.Author == bot {
			problems = errors.Join(problems, fmt.Errorf("a comment has no marker: %q", c.Body))
		}
	}
	for _, op := range standing(id, log) {
		if found[op] != 1 {
			problems = errors.Join(problems, fmt.Errorf("%d comments of %s", found[op], op))
		}
		delete(found, op)
	}
	if len(found) > 0 {
		problems = errors.Join(problems, fmt.Errorf("comments that the log does not know: %v", found))
	}
	return problems
}

// standing gives the op of each comment that the log posted, by comment.
func standing(id string, log []event.Event) map[string]string {
	ops := map[string]string{}
	var seq uint64
	for _, ev := range log {
		switch b := ev.Body.(type) {
		case *event.CommentRequested:
			seq = ev.Seq
		case *event.CommentPosted:
			ops[b.ID] = fmt.Sprintf("%s:%d", id, seq)
		}
	}
	return ops
}

// wholeLines reads the only log as it lies there: its lines without a torn one.
func (w *world) wholeLines() [][]byte {
	names, _ := filepath.Glob(filepath.Join(w.dir, "contexts", "*", "*", "events.jsonl"))
	if len(names) == 0 {
		return nil
	}
	data, err := os.ReadFile(names[0])
	if err != nil {
		return nil
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	return lines[:len(lines)-1]
}

// prefixed wants everything that a kill left in a log to be in it later.
func prefixed(log, left [][]byte) error {
	if len(log) < len(left) || !slices.EqualFunc(log[:len(left)], left, bytes.Equal) {
		return fmt.Errorf("the log was changed: %d events were left, there are %d", len(left), len(log))
	}
	return nil
}

// facts are lines about calls that are known to have had their effect. Of calls
// that were interrupted it is not known.
var facts = regexp.MustCompile("(?m)^- (Files written: .*|`.*` → exit code .*|No command was run.*|Changed after the last command.*)\n")

func (e end) withoutFacts() end {
	e.Comments, e.Changes = slices.Clone(e.Comments), slices.Clone(e.Changes)
	for _, list := range [][]string{e.Comments, e.Changes} {
		for i, text := range list {
			list[i] = facts.ReplaceAllString(text, "")
		}
	}
	return e
}

// compare holds an end against the undisturbed one.
func (e end) compare(want end) error {
	if e.uncertain > 0 {
		e, want = e.withoutFacts(), want.withoutFacts()
	}
	e.uncertain = want.uncertain
	if d := cmp.Diff(want, e, cmp.AllowUnexported(end{})); d != "" {
		return errors.New("not as undisturbed (-want +got):\n" + d)
	}
	return nil
}
