package logtest

import (
	"strings"
	"testing"

	"agent/eventlog/event"
)

const (
	uuid = "11111111-2222-4333-8444-555555555555"
	bot  = "helper"
)

func comment(author, op string) Comment {
	return Comment{Author: author, Body: "text\n\n<!-- agent op=" + uuid + ":" + op + " mac=0123456789abcdef0123456789abcdef -->"}
}

// The checks must see what they are there for.
func TestCheckComments(t *testing.T) {
	log := []event.Event{
		{Seq: 7, Body: &event.CommentRequested{}}, {Seq: 8, Body: &event.CommentPosted{ID: "1"}},
		{Seq: 9, Body: &event.CommentRequested{Edit: "1"}}, {Seq: 10, Body: &event.CommentPosted{ID: "1"}},
		{Seq: 11, Body: &event.CommentRequested{}}, {Seq: 12, Body: &event.CommentPosted{ID: "2"}},
	}
	alice := Comment{Author: "alice", Body: "hello"}
	for _, c := range []struct {
		name     string
		comments []Comment
		problem  string
	}{
		{"as it should be", []Comment{alice, comment(bot, "9"), comment(bot, "11")}, ""},
		{"twice", []Comment{comment(bot, "9"), comment(bot, "11"), comment(bot, "11")}, "2 comments of " + uuid + ":11"},
		{"missing", []Comment{comment(bot, "9")}, "0 comments of " + uuid + ":11"},
		{"the edit was lost", []Comment{comment(bot, "7"), comment(bot, "11")}, "0 comments of " + uuid + ":9"},
		{"unknown", []Comment{comment(bot, "9"), comment(bot, "11"), comment(bot, "13")}, "does not know"},
		{"without a marker", []Comment{comment(bot, "9"), comment(bot, "11"), {Author: bot, Body: "x"}}, "no marker"},
	} {
		switch err := CheckComments(uuid, log, c.comments, bot); {
		case c.problem == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.problem != "" && (err == nil || !strings.Contains(err.Error(), c.problem)):
			t.Errorf("%s: %v, want %s", c.name, err, c.problem)
		}
	}
}
