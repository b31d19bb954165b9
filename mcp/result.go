package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
)

// part is one element of a result's content.
type part struct {
	Type     string    `json:"type"`
	Text     string    `json:"text"`
	Data     string    `json:"data"`
	MIMEType string    `json:"mimeType"`
	URI      string    `json:"uri"`
	Name     string    `json:"name"`
	Title    string    `json:"title"`
	About    string    `json:"description"`
	Resource *resource `json:"resource"`
}

type resource struct {
	URI      string  `json:"uri"`
	MIMEType string  `json:"mimeType"`
	Text     *string `json:"text"`
	Blob     string  `json:"blob"`
}

// parseResult makes a Result of the raw answer to tools/call. An answer that
// is none is a result that says so: the call did happen.
func parseResult(raw json.RawMessage, limit int) Result {
	var answer struct {
		Content    []json.RawMessage `json:"content"`
		Structured json.RawMessage   `json:"structuredContent"`
		IsError    bool              `json:"isError"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil || (answer.Content == nil && absent(answer.Structured)) {
		return Result{Text: "The server's answer is not a tool result.", IsError: true}
	}
	text := joinParts(answer.Content)
	if text == "" && !absent(answer.Structured) {
		text = string(answer.Structured)
	}
	return Result{Text: cut(clean(text), limit), IsError: answer.IsError}
}

func absent(raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null"
}

func joinParts(content []json.RawMessage) string {
	texts := make([]string, 0, len(content))
	for _, raw := range content {
		var p part
		if json.Unmarshal(raw, &p) != nil {
			texts = append(texts, "[unreadable content]")
			continue
		}
		texts = append(texts, p.String())
	}
	return strings.Join(texts, "\n")
}

// String is what the model sees of the part. Links are never followed.
func (p part) String() string {
	switch p.Type {
	case "text":
		return p.Text
	case "resource_link":
		return p.link()
	case "resource":
		return p.Resource.String()
	default:
		return note(p.Type, p.MIMEType, p.Data)
	}
}

// link is "name (title): description <address>", as far as the link has them.
func (p part) link() string {
	text := oneLine(p.Name)
	if title := oneLine(p.Title); title != "" && title != text {
		text = strings.TrimSpace(text + " (" + title + ")")
	}
	if p.About != "" {
		text += ": " + oneLine(p.About)
	}
	if p.URI != "" && text != "" {
		return strings.TrimPrefix(text, ": ") + " <" + oneLine(p.URI) + ">"
	}
	return strings.TrimPrefix(text, ": ") + oneLine(p.URI)
}

func (r *resource) String() string {
	switch {
	case r == nil:
		return "[empty resource]"
	case r.Text != nil:
		return *r.Text
	default:
		return note("resource "+r.URI, r.MIMEType, r.Blob)
	}
}

// note describes base64 data: "[image image/png 12 KiB]".
func note(kind, mimeType, base64 string) string {
	size := len(base64) / 4 * 3
	unit := "B"
	if size >= 1024 {
		size, unit = size/1024, "KiB"
	}
	return fmt.Sprintf("[%s %d %s]", oneLine(kind+" "+mimeType), size, unit)
}
