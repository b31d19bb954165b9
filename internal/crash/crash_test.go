package main

import (
	"testing"
)

func TestPrefixed(t *testing.T) {
	line := func(all ...string) (lines [][]byte) {
		for _, l := range all {
			lines = append(lines, []byte(l+"\n"))
		}
		return lines
	}
	for _, c := range []struct {
		log, left [][]byte
		good      bool
	}{
		{line("a", "b", "c"), line("a", "b"), true},
		{line("a", "b"), line("a", "b"), true},
		{line("a"), nil, true},
		{line("a"), line("a", "b"), false},
		{line("a", "x", "c"), line("a", "b"), false},
		{nil, line("a"), false},
	} {
		if err := prefixed(c.log, c.left); (err == nil) != c.good {
			t.Errorf("%q after %q: %v", c.log, c.left, err)
		}
	}
}

func TestCompare(t *testing.T) {
	want := end{Comments: []string{"a", "- `sh` → exit code N\nb"}, Labels: []string{"done"}, Branch: map[string]string{"f": "x"}}
	for name, change := range map[string]func(*end){
		"comment": func(e *end) { e.Comments = append(e.Comments, "a") },
		"label":   func(e *end) { e.Labels = nil },
		"file":    func(e *end) { e.Branch = map[string]string{"f": "y"} },
		"fact":    func(e *end) { e.Comments = []string{"a", "b"} },
		"status":  func(e *end) { e.Status = "context.failed" },
	} {
		got := want
		change(&got)
		if got.compare(want) == nil {
			t.Errorf("another %s was not seen", name)
		}
	}
	got := want
	got.Comments, got.uncertain = []string{"a", "b"}, 1
	if err := got.compare(want); err != nil {
		t.Errorf("a fact that is not known: %v", err)
	}
}
