package llmtest

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"agent/internal/lazyregexp"
	"agent/llm"
)

var toolName = lazyregexp.New(`^[a-zA-Z0-9_-]{1,64}$`)

// check is the part of the API's validation that clients get wrong: contents
// that are missing, calls without results and results without calls, names and
// characters that are not accepted.
func check(w wireRequest, r Request) error {
	if w.Model == "" {
		return errors.New("you must provide a model parameter")
	}
	if len(w.Messages) == 0 {
		return errors.New("[] is too short - 'messages'")
	}
	if !utf8.Valid(r.Raw) {
		return errors.New("the body is not valid UTF-8")
	}
	if w.StreamOptions != nil && !w.Stream {
		return errors.New("the 'stream_options' parameter is only allowed when 'stream' is enabled")
	}
	for _, t := range w.Tools {
		if t.Type != "function" || !toolName.MatchString(t.Function.Name) {
			return fmt.Errorf("invalid tool %q of type %q", t.Function.Name, t.Type)
		}
		if !strings.HasPrefix(string(t.Function.Parameters), "{") {
			return fmt.Errorf("parameters of tool %q are not an object", t.Function.Name)
		}
	}
	return checkMessages(w.Messages, r.Messages)
}

func checkMessages(wire []wireMessage, messages []llm.Message) error {
	open := map[string]int{} // calls of the last assistant message that wait for a result
	for i, m := range messages {
		if err := checkContent(i, wire[i], m); err != nil {
			return err
		}
		if m.Role == llm.ToolRole {
			if open[m.CallID] == 0 {
				return fmt.Errorf("messages[%d]: no preceding tool call has the id %q", i, m.CallID)
			}
			if open[m.CallID]--; open[m.CallID] == 0 {
				delete(open, m.CallID)
			}
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("messages[%d]: %d tool calls before it have no result", i, len(open))
		}
		for _, c := range wire[i].ToolCalls {
			if c.ID == "" || c.Type != "function" || !toolName.MatchString(c.Function.Name) {
				return fmt.Errorf("messages[%d]: invalid tool call %q %q %q", i, c.ID, c.Type, c.Function.Name)
			}
			open[c.ID]++
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("%d tool calls have no result", len(open))
	}
	return nil
}

func checkContent(i int, wire wireMessage, m llm.Message) error {
	switch m.Role {
	case llm.System, llm.User, llm.Assistant, llm.ToolRole:
	default:
		return fmt.Errorf("messages[%d]: unknown role %q", i, m.Role)
	}
	missing := len(wire.Content) == 0 || string(wire.Content) == "null"
	if missing && len(m.Calls) == 0 {
		return fmt.Errorf("messages[%d]: content of a %s message is missing", i, m.Role)
	}
	if m.Role == llm.ToolRole && m.Content == "" {
		return fmt.Errorf("messages[%d]: content of a tool message is empty", i)
	}
	if strings.ContainsRune(m.Content, 0) {
		return fmt.Errorf("messages[%d]: content holds NUL", i)
	}
	return nil
}
