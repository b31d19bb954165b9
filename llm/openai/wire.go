package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"agent/llm/httpx"
)

// wireAnswer is a chunk of a stream or a whole answer, as far as it is read.
type wireAnswer struct {
	Model   string          `json:"model"`
	Choices []wireChoice    `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
	Message json.RawMessage `json:"message"`
	Detail  json.RawMessage `json:"detail"`
}

type wireChoice struct {
	Index        int       `json:"index"`
	Delta        *wireTurn `json:"delta"`
	Message      *wireTurn `json:"message"`
	FinishReason string    `json:"finish_reason"` // null counts as none
}

type wireTurn struct {
	Content          wireText   `json:"content"`
	Refusal          wireText   `json:"refusal"`
	ReasoningContent wireText   `json:"reasoning_content"`
	Reasoning        wireText   `json:"reasoning"`
	ToolCalls        []wireCall `json:"tool_calls"`

	Details []map[string]json.RawMessage `json:"reasoning_details"` // OpenRouter
}

type wireCall struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string        `json:"name"`
		Arguments wireArguments `json:"arguments"`
	} `json:"function"`
	Extra json.RawMessage `json:"extra_content"` // Gemini
}

func (w wireAnswer) failed() bool { return httpx.Present(w.Error) }

// looksLikeError: some servers put the text of an error at the top level.
func (w wireAnswer) looksLikeError() bool { return httpx.Present(w.Message) || httpx.Present(w.Detail) }

// wireText is a string, null, or a list of parts with texts.
type wireText string

func (t *wireText) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		var parts []struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal(b, &parts); err != nil {
			return err
		}
		var all strings.Builder
		for _, p := range parts {
			all.WriteString(p.Text)
		}
		*t = wireText(all.String())
		return nil
	}
	return json.Unmarshal(b, (*string)(t))
}

// wireArguments is a string, as the API says, or the object itself.
type wireArguments string

func (a *wireArguments) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	if b[0] == '"' {
		return json.Unmarshal(b, (*string)(a))
	}
	var out bytes.Buffer
	if err := json.Compact(&out, b); err != nil {
		return err
	}
	*a = wireArguments(out.String())
	return nil
}
