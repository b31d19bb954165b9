package projections

import (
	"encoding/json"
	"strings"

	"agent/eventlog/event"
	"agent/internal/loosejson"
)

// saying is what a reply says to people.
type saying struct {
	text    string // its `comment`, else the text beside native calls, else the text if it is no JSON
	form    bool   // the reply is a JSON object
	command bool   // it asks for a tool
}

func sayingOf(b *event.LLMReplied) saying {
	text := strings.TrimSpace(loosejson.StripThinking(b.Text.View()))
	said := saying{command: len(b.Calls) > 0}
	for data := range loosejson.Objects(text) {
		var keys map[string]json.RawMessage
		if json.Unmarshal(data, &keys) != nil || len(keys) == 0 {
			continue // braces of a program
		}
		said.form = true
		said.read(keys)
		break
	}
	if said.text == "" && (!said.form || len(b.Calls) > 0 && !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "```")) {
		said.text = text
	}
	return said
}

// read takes the comment of an object, which may stand in its command, too.
func (s *saying) read(keys map[string]json.RawMessage) {
	var command struct {
		Tool    string `json:"tool"`
		Comment any    `json:"comment"`
	}
	if json.Unmarshal(keys["command"], &command) == nil && command.Tool != "" {
		s.command = true
	}
	var outer any
	_ = json.Unmarshal(keys["comment"], &outer) // none is none
	for _, c := range []any{command.Comment, outer} {
		if text, ok := c.(string); ok && strings.TrimSpace(text) != "" {
			s.text = strings.TrimSpace(text)
			return
		}
	}
}
