package main

import (
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/forge/forgetest"
)

const uuid = "11111111-2222-4333-8444-555555555555"

func comment(author, op string) forgetest.Comment {
	return forgetest.Comment{Author: author, Body: "text\n\n<!-- agent op=" + uuid + ":" + op + " mac=0123456789abcdef0123456789abcdef -->"}
}

// The checks must see what they are there for.
func TestCheckOps(t *testing.T) {
	log := []event.Event{
		{Seq: 7, Body: &event.CommentRequested{}}, {Seq: 8, Body: &event.CommentPosted{ID: "1"}},
		{Seq: 9, Body: &event.CommentRequested{Edit: "1"}}, {Seq: 10, Body: &event.CommentPosted{ID: "1"}},
		{Seq: 11, Body: &event.CommentRequested{}}, {Seq: 12, Body: &event.CommentPosted{ID: "2"}},
	}
	alice := forgetest.Comment{Author: "alice", Body: "hello"}
	for _, c := range []struct {
		name     string
		comments []forgetest.Comment
		problem  string
	}{
		{"as it should be", []forgetest.Comment{alice, comment(bot, "9"), comment(bot, "11")}, ""},
		{"twice", []forgetest.Comment{comment(bot, "9"), comment(bot, "11"), comment(bot, "11")}, "2 comments of " + uuid + ":11"},
		{"missing", []forgetest.Comment{comment(bot, "9")}, "0 comments of " + uuid + ":11"},
		{"the edit was lost", []forgetest.Comment{comment(bot, "7"), comment(bot, "11")}, "0 comments of " + uuid + ":9"},
		{"unknown", []forgetest.Comment{comment(bot, "9"), comment(bot, "11"), comment(bot, "13")}, "does not know"},
		{"without a marker", []forgetest.Comment{comment(bot, "9"), comment(bot, "11"), {Author: bot, Body: "x"}}, "no marker"},
	} {
		switch err := checkOps(uuid, log, c.comments); {
		case c.problem == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.problem != "" && (err == nil || !strings.Contains(err.Error(), c.problem)):
			t.Errorf("%s: %v, want %s", c.name, err, c.problem)
		}
	}
}

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
