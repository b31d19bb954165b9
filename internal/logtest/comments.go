package logtest

import (
	"errors"
	"fmt"
	"regexp"

	"agent/eventlog/event"
)

// Marker is the hidden one at the end of the agent's comments. Its group is the op.
var Marker = regexp.MustCompile(`\n\n<!-- agent op=([0-9a-f:-]+) mac=[0-9a-f]+ -->$`)

// Comment is one that stands on a task.
type Comment struct{ Author, Body string }

// CheckComments wants exactly one comment for each op that the log of a context posted,
// where an edited comment has the op of its latest edit, and no other comment of bot.
func CheckComments(id string, log []event.Event, comments []Comment, bot string) (problems error) {
	found := map[string]int{}
	for _, c := range comments {
		if m := Marker.FindStringSubmatch(c.Body); m != nil {
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
