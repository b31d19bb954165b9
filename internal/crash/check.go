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
)

// wholeLines reads the only log as it lies there: its lines without a torn one.
func (w *scene) wholeLines() [][]byte {
	names, _ := filepath.Glob(w.Path("contexts", "*", "*", "events.jsonl"))
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
var facts = regexp.MustCompile("(?m)^- (Files written: .*|`.*` → .*|No command was run.*|Changed after the last command.*)\n")

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
	e.uncertain, e.kept = want.uncertain, want.kept
	if d := cmp.Diff(want, e, cmp.AllowUnexported(end{})); d != "" {
		return errors.New("not as undisturbed (-want +got):\n" + d)
	}
	return nil
}
