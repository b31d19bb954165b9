// Package reply reads what the model says in a turn: tool calls, or that it is done.
// Package reply/shapes reads replies to the phases of a plan. Both are pure.
//
// Reading is forgiving about what surrounds a JSON object, and never invents
// arguments. A reply that cannot be used has a Problem: one sentence for the model.
package reply

import (
	"encoding/json"
	"strings"

	"agent/eventlog/event"
	"agent/internal/loosejson"
	"agent/projections"
)

// Parsed is what a reply asks for.
type Parsed struct {
	Calls   []Call
	Done    bool
	Comment string // for people: progress beside calls, closing words with Done
	Problem string // why the reply cannot be used, for the model; empty if it can
}

// Call is one tool call of a reply.
type Call struct {
	Index  int
	ID     string // empty if the call was written as text
	Server string // empty if no offered tool has the name
	Tool   string
	Args   string // JSON object, or what the model sent if it is none
}

// Parse reads the latest reply of a state.
func Parse(s *projections.State) Parsed { return Read(s, s.Work.Reply) }

// Read reads a reply in the protocol, and with the tools, of a state.
func Read(s *projections.State, r *event.LLMReplied) Parsed {
	text := loosejson.StripThinking(r.Text.View())
	names := NamesOf(s)
	switch {
	case len(r.Calls) > 0:
		p := Parsed{Comment: strings.TrimSpace(text)}
		for i, c := range projections.Calls(r) {
			server, tool := names.Resolve(c.Name)
			p.Calls = append(p.Calls, Call{i, c.ID, server, tool, NormalArgs(c.Arguments)})
		}
		return p
	case r.Finish == "length":
		return Parsed{Problem: "Your reply was cut because it was too long. Reply again, shorter."}
	case s.Protocol() == "json":
		return parseJSON(text, names)
	}
	return parseText(s, r, text, names)
}

func parseJSON(text string, names Names) Parsed {
	obj := findObject(text)
	if obj == nil {
		return Parsed{Problem: `Your reply holds no JSON object with "command" or "done". Reply with exactly one JSON object.`}
	}
	return obj.parsed(names)
}

// replyObject is the shape of the JSON protocol. The comment may stand at both places.
type replyObject struct {
	Command json.RawMessage `json:"command"`
	Done    *bool           `json:"done"`
	Comment any             `json:"comment"`
}

type commandObject struct {
	Comment any             `json:"comment"`
	Tool    string          `json:"tool"`
	Args    json.RawMessage `json:"args"`
}

func (o *replyObject) command() *commandObject {
	var c commandObject
	if len(o.Command) == 0 || json.Unmarshal(o.Command, &c) != nil || c.Tool == "" {
		return nil
	}
	return &c
}

func (o *replyObject) parsed(names Names) Parsed {
	comment, _ := o.Comment.(string)
	if c := o.command(); c != nil {
		if inner, _ := c.Comment.(string); inner != "" {
			comment = inner
		}
		server, tool := names.Resolve(c.Tool)
		args := "{}"
		if len(c.Args) > 0 {
			args = string(c.Args)
		}
		return Parsed{Comment: comment, Calls: []Call{{0, "", server, tool, NormalArgs(args)}}}
	}
	if o.Done != nil && *o.Done {
		return Parsed{Done: true, Comment: comment}
	}
	return Parsed{Comment: comment, Problem: `Your reply has neither a "command" with a "tool" nor "done": true. Reply with one of the two forms.`}
}

// NormalArgs unpacks arguments that were sent as a JSON string, and takes nothing for an empty object.
func NormalArgs(args string) string {
	args = strings.TrimSpace(args)
	var inner string
	if json.Unmarshal([]byte(args), &inner) == nil && strings.HasPrefix(args, `"`) {
		args = strings.TrimSpace(inner)
	}
	if args == "" || args == "null" {
		return "{}"
	}
	return args
}

// findObject returns the first object in text that has a key of the protocol, or nil.
func findObject(text string) *replyObject {
	for data := range loosejson.Objects(text) {
		var obj replyObject
		if json.Unmarshal(data, &obj) == nil && (len(obj.Command) > 0 || obj.Done != nil) {
			return &obj
		}
	}
	return nil
}

// PlainWords takes the comment of a model that replied in the form of a turn.
func PlainWords(text string) string {
	text = strings.TrimSpace(loosejson.StripThinking(text))
	if obj := findObject(text); obj != nil {
		comment, _ := obj.Comment.(string)
		return strings.TrimSpace(comment)
	}
	return text
}
