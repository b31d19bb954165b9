package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"agent/llm"
)

// checkLMStudio refuses what LM Studio does not know, in its words.
func checkLMStudio(body []byte, r Request) error {
	var w struct {
		ToolChoice json.RawMessage `json:"tool_choice"`
	}
	if err := json.Unmarshal(body, &w); err != nil {
		return err
	}
	if strings.HasPrefix(string(w.ToolChoice), "{") {
		return errors.New("Invalid tool_choice type: 'object'. Supported string values: none, auto, required")
	}
	if r.JSON {
		return errors.New("'response_format.type' must be 'json_schema' or 'text'")
	}
	return nil
}

// TextCalls are calls as models write them into the text whose calls LM Studio
// does not recognise. Before is prose in front of them, it may be empty.
func TextCalls(before string, calls ...llm.ToolCall) Reply {
	for _, c := range calls {
		before += fmt.Sprintf("\n[TOOL_REQUEST]\n{\"name\": %q, \"arguments\": %s}\n[END_TOOL_REQUEST]", c.Name, c.Arguments)
	}
	return Text(strings.TrimPrefix(before, "\n"))
}

func lmStudioModels(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, marshal(map[string]any{"object": "list", "data": []any{map[string]any{
		"id": Model, "object": "model", "type": "llm", "state": "loaded", "capabilities": []string{"tool_use"},
		"max_context_length": 4 * Window, "loaded_context_length": Window,
	}}}))
}
