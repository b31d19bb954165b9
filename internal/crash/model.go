package main

import (
	"encoding/json"
	"strings"

	"agent/llm"
	"agent/llm/llmtest"
)

// reply plays the model. It decides from the conversation alone, and looks
// before it does something again that may have happened.
func (w *scene) reply(r llmtest.Request) llmtest.Reply {
	if len(r.Tools) == 0 {
		return llmtest.Text("The notes were corrected and the journal was kept.")
	}
	seen := lookBack(r)
	switch {
	case seen.lost != "":
		return call("", "read_file", map[string]any{"path": seen.lost})
	case !seen.notes:
		return call("I read the notes first.", "read_file", map[string]any{"path": "notes.txt"})
	case !seen.journal:
		return call(once(seen.ran, "I open the journal."), "run_command", map[string]any{"argv": w.command()})
	case !seen.edited:
		return call(once(seen.tried, "I correct the notes."), "edit_file",
			map[string]any{"path": "notes.txt", "old_text": "wrong", "new_text": "right"})
	}
	return llmtest.Text("The notes are right now.")
}

func once(before bool, words string) string {
	if before {
		return ""
	}
	return words
}

func call(words, tool string, args any) llmtest.Reply {
	r := llmtest.ToolCall("workspace__"+tool, args)
	r.Text = words
	return r
}

// memory is what a conversation tells.
type memory struct {
	notes, journal, edited bool   // done for certain
	ran, tried             bool   // the command and the edit were asked for
	lost                   string // file that shows whether the latest call had its effect
}

func lookBack(r llmtest.Request) (m memory) {
	calls := map[string]llm.ToolCall{}
	for _, message := range r.Messages {
		for _, c := range message.Calls {
			calls[c.ID] = c
		}
		if message.Role == llm.ToolRole {
			m.result(calls[message.CallID], message.Content)
		}
	}
	return m
}

func (m *memory) result(c llm.ToolCall, text string) {
	var args struct{ Path string }
	_ = json.Unmarshal([]byte(c.Arguments), &args) // our own words
	lost := strings.HasPrefix(text, "interrupted")
	m.lost = ""
	switch tool := strings.TrimPrefix(c.Name, "workspace__"); {
	case tool == "read_file":
		m.notes = true
		m.journal = m.journal || args.Path == "journal.txt" && strings.Contains(text, "began")
		m.edited = m.edited || strings.Contains(text, "is right")
	case tool == "run_command":
		m.ran, m.journal = true, m.journal || !lost
		if lost {
			m.lost = "journal.txt"
		}
	case tool == "edit_file":
		m.tried, m.edited = true, m.edited || !lost
		if lost {
			m.lost = "notes.txt"
		}
	}
}
