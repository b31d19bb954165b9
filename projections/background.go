package projections

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"agent/eventlog/event"
	"agent/internal/lazyregexp"
)

// background is a command that goes on while the conversation does. How it ended a later call says.
type background struct {
	subject, command string
	writes           int // of files before it began
}

// jobStatus is the head of an answer of the built-in server about such a command.
var jobStatus = lazyregexp.New(`^\[command ([0-9]{1,9}) (?:runs since |ended after [0-9.]+ s with exit code ([a-z0-9]{1,8}): )`)

// job notes how a command in the background ended, once, with the call that says so.
func (w *Work) job(f *Fact, b *event.ToolReplied) {
	m := jobStatus.FindStringSubmatch(firstLine(b.Content.Inline))
	if m == nil || w.calling == nil {
		return
	}
	id, end := m[1], m[2]
	var args struct {
		Background bool `json:"background"`
	}
	if json.Unmarshal([]byte(w.calling.Args.View()), &args) == nil && args.Background {
		w.background = maps.Clone(w.background) // a state that was copied has the old one
		if w.background == nil {
			w.background = map[string]background{}
		}
		w.background[id] = background{f.Subject, f.Command, w.writesDone}
	}
	began, known := w.background[id]
	if end == "" || !known {
		return
	}
	f.Subject, f.Command, f.ExitCode = began.subject, began.command, end
	f.OK = end == "0"
	f.Stale = began.writes != w.writesDone
	w.background = maps.Clone(w.background)
	delete(w.background, id)
}

// Unended are the commands in the background of which no call said how they ended. They end with the context.
func (w *Work) Unended() (commands []string) {
	byNumber := func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }
	for _, id := range slices.SortedFunc(maps.Keys(w.background), byNumber) {
		commands = append(commands, w.background[id].command)
	}
	return commands
}
