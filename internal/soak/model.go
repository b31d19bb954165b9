package main

import (
	"regexp"
	"strings"
	"sync"
	"time"

	"agent/llm"
	"agent/llm/llmtest"
)

// model is what goes wrong with the model now.
type model struct {
	mu    sync.Mutex
	fault func() llmtest.Reply
	asked int
}

func (m *model) fail(how func() llmtest.Reply) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fault = how
}

// reply plays the model. It decides from the conversation alone, so it copes with
// whatever a kill left behind.
func (s *soak) reply(_ int, r llmtest.Request) llmtest.Reply {
	s.model.mu.Lock()
	fault := s.model.fault
	if s.model.asked++; s.model.asked%200 == 0 {
		s.world.Model.Forget() // else this process is what grows
	}
	s.model.mu.Unlock()
	if fault != nil {
		return fault()
	}
	reply := next(r)
	reply.Delay = time.Duration(20+s.random(200)) * time.Millisecond
	return reply
}

var wanted = regexp.MustCompile(`Please write (task-\d+\.txt)\.`)

// next is what the conversation asks for: look, write, check, say.
func next(r llmtest.Request) llmtest.Reply {
	name, lines := "", 1
	calls := map[string]llm.ToolCall{}
	var last llm.Message // of a tool, in this round
	for _, m := range r.Messages {
		if found := wanted.FindAllStringSubmatch(m.Content, -1); m.Role == llm.User && found != nil {
			name = found[len(found)-1][1]
		}
		if m.Role == llm.User && strings.Contains(m.Content, another) {
			lines, last = 2, llm.Message{}
		}
		for _, c := range m.Calls {
			calls[c.ID] = c
		}
		if m.Role == llm.ToolRole {
			last = m
		}
	}
	if len(r.Tools) == 0 {
		return llmtest.Text("The file was written.")
	}
	text := strings.Repeat("a line\n", lines)
	switch tool := strings.TrimPrefix(calls[last.CallID].Name, "workspace__"); {
	case tool == "":
		return call("I look around.", "list_files", nil)
	case tool == "run_command" && strings.Count(last.Content, "a line") == lines:
		return llmtest.Text("I wrote " + name + ".")
	case tool == "write_file" && !strings.HasPrefix(last.Content, "interrupted"):
		return call("I check it.", "run_command", map[string]any{"argv": []string{"cat", name}})
	}
	return call("I write the file.", "write_file", map[string]any{"path": name, "content": text})
}

func call(words, tool string, args any) llmtest.Reply {
	r := llmtest.ToolCall("workspace__"+tool, args)
	r.Text = words
	return r
}
