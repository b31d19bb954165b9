package handlers

import (
	"bytes"
	"encoding/json"
	"strings"

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

// Parse reads the latest reply of a state. It is forgiving about what stands
// around a JSON object and never invents arguments.
func Parse(s *projections.State) Parsed {
	r := s.Work.Reply
	text := stripThinking(r.Text.View())
	names := toolNames(s)
	switch {
	case len(r.Calls) > 0:
		p := Parsed{Comment: strings.TrimSpace(text)}
		for i, c := range projections.Calls(r) {
			server, tool := names.resolve(c.Name)
			p.Calls = append(p.Calls, Call{i, c.ID, server, tool, normalArgs(c.Arguments)})
		}
		return p
	case r.Finish == "length":
		return Parsed{Problem: "Your reply was cut because it was too long. Reply again, shorter."}
	case s.Protocol() == "json":
		return parseJSON(text, names)
	}
	return parseText(text, names)
}

// parseText reads a native reply without calls: a JSON reply if it is one, else closing words.
func parseText(text string, names nameTable) Parsed {
	text = strings.TrimSpace(text)
	if text == "" {
		return Parsed{Problem: "Your reply was empty. Call a tool, or say what you did."}
	}
	if obj := findObject(text); obj != nil && (obj.Done != nil || obj.command() != nil) {
		return obj.parsed(names)
	}
	return Parsed{Done: true, Comment: text}
}

func parseJSON(text string, names nameTable) Parsed {
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

func (o *replyObject) parsed(names nameTable) Parsed {
	comment, _ := o.Comment.(string)
	if c := o.command(); c != nil {
		if inner, _ := c.Comment.(string); inner != "" {
			comment = inner
		}
		server, tool := names.resolve(c.Tool)
		args := "{}"
		if len(c.Args) > 0 {
			args = string(c.Args)
		}
		return Parsed{Comment: comment, Calls: []Call{{0, "", server, tool, normalArgs(args)}}}
	}
	if o.Done != nil && *o.Done {
		return Parsed{Done: true, Comment: comment}
	}
	return Parsed{Comment: comment, Problem: `Your reply has neither a "command" with a "tool" nor "done": true. Reply with one of the two forms.`}
}

// normalArgs unpacks arguments that were sent as a JSON string, and takes nothing for an empty object.
func normalArgs(args string) string {
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

// stripThinking removes <think> blocks, also one whose opening or closing tag is missing.
func stripThinking(text string) string {
	for {
		end := strings.Index(text, "</think>")
		start := strings.Index(text, "<think>")
		switch {
		case start >= 0 && end > start:
			text = text[:start] + text[end+len("</think>"):]
		case end >= 0:
			text = text[end+len("</think>"):]
		case start >= 0 && strings.TrimSpace(text[:start]) == "":
			return "" // it never stopped thinking
		default:
			return text
		}
	}
}

// maxStarts bounds the search for an object in a long text full of braces.
const maxStarts = 200

// findObject returns the first object in text that has a key of the protocol:
// the whole text if it is one, else the first balanced one. Looking for balanced
// braces also finds objects in code fences, without splitting at fences that
// stand inside the object's strings.
func findObject(text string) *replyObject {
	if obj := decodeObject([]byte(strings.TrimSpace(text))); obj != nil {
		return obj
	}
	rest := text
	for range maxStarts {
		i := strings.IndexByte(rest, '{')
		if i < 0 {
			return nil
		}
		rest = rest[i:]
		if n := balanced(rest); n > 0 {
			if obj := decodeObject([]byte(rest[:n])); obj != nil {
				return obj
			}
		}
		rest = rest[1:]
	}
	return nil
}

func decodeObject(data []byte) *replyObject {
	if len(data) == 0 || data[0] != '{' {
		return nil
	}
	var obj replyObject
	dec := json.NewDecoder(bytes.NewReader(data))
	if dec.Decode(&obj) != nil || dec.More() || (len(obj.Command) == 0 && obj.Done == nil) {
		return nil
	}
	return &obj
}

// balanced gives the length of the object at the start of s, or 0.
func balanced(s string) int {
	depth, inString := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{':
			depth++
		case c == '}':
			depth--
			if depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}
