package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"agent/internal/sanitize"
)

const (
	maxDescription = 8 << 10   // bytes kept of a tool's description
	maxSchema      = 256 << 10 // bytes of a tool's input schema
	maxDepth       = 64        // nesting of a tool's input schema
	maxToolName    = 128       // bytes
	maxTools       = 1000      // of one server
	maxPages       = 100       // of tools/list
	maxList        = 32 << 20  // bytes of all of them
)

// rawTool is a tool in the answer to tools/list.
type rawTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"inputSchema"`
	Annotations struct {
		ReadOnly    *bool `json:"readOnlyHint"`
		Destructive *bool `json:"destructiveHint"`
		Idempotent  *bool `json:"idempotentHint"`
		OpenWorld   *bool `json:"openWorldHint"`
	} `json:"annotations"`
}

// parsePage reads one answer to tools/list. drop is told of every tool left out and why.
func parsePage(raw json.RawMessage, drop func(string)) (tools []Tool, cursor string, err error) {
	var page struct {
		Tools  []json.RawMessage `json:"tools"`
		Cursor string            `json:"nextCursor"`
	}
	if err := json.Unmarshal(raw, &page); err != nil || page.Tools == nil {
		return nil, "", errors.New("the answer to tools/list is not a list of tools")
	}
	for i, one := range page.Tools {
		tool, err := parseTool(one)
		if err != nil {
			drop(fmt.Sprintf("tool %d %q left out: %v", i+1, tool.Name, err))
			continue
		}
		tools = append(tools, tool)
	}
	return tools, page.Cursor, nil
}

func parseTool(raw json.RawMessage) (Tool, error) {
	var t rawTool
	if err := json.Unmarshal(raw, &t); err != nil {
		return Tool{}, errors.New("its description is malformed")
	}
	if !validName(t.Name) {
		return Tool{Name: oneLine(t.Name)}, errors.New("its name is not 1 to 128 printable ASCII characters")
	}
	schema := t.Schema
	if absent(schema) || string(schema) == "true" {
		schema = json.RawMessage(`{"type":"object","properties":{}}`) // any object
	}
	schema = withoutZeroWidth(schema)
	tool := Tool{
		Name:        t.Name,
		Description: cut(visible(t.Description), maxDescription),
		Schema:      schema,
		ReadOnly:    hint(t.Annotations.ReadOnly, false),
		Destructive: hint(t.Annotations.Destructive, true),
		Idempotent:  hint(t.Annotations.Idempotent, false),
		OpenWorld:   hint(t.Annotations.OpenWorld, true),
	}
	return tool, checkSchema(schema)
}

// visible is a description as a person would see it: what is hidden is an order to the model alone.
func visible(description string) string {
	text, _ := sanitize.Input(clean(description))
	return text
}

func hint(value *bool, worst bool) bool {
	if value == nil {
		return worst
	}
	return *value
}

// validName refuses names that could pass for others by invisible letters.
func validName(name string) bool {
	if name == "" || len(name) > maxToolName {
		return false
	}
	return !slices.ContainsFunc([]byte(name), func(c byte) bool { return c <= ' ' || c > '~' })
}

func checkSchema(schema json.RawMessage) error {
	switch {
	case schema[0] != '{':
		return errors.New("its schema is not an object")
	case len(schema) > maxSchema:
		return fmt.Errorf("its schema has %d bytes, more than %d", len(schema), maxSchema)
	case depth(schema) > maxDepth:
		return fmt.Errorf("its schema is nested deeper than %d", maxDepth)
	}
	var value any
	if json.Unmarshal(schema, &value) == nil && hides(value) {
		return errors.New("its schema has hidden characters") // it is handed on as received, less marks without a width
	}
	return nil
}

// hides tells whether a value's texts have characters that write unseen words.
func hides(value any) bool {
	switch v := value.(type) {
	case string:
		_, removed := sanitize.Input(v)
		return slices.ContainsFunc(removed, func(class string) bool {
			name, _, _ := strings.Cut(class, ":")
			return slices.Contains([]string{"tag", "bidi", "zero_width", "filler", "variation_selector", "control"}, name)
		})
	case []any:
		return slices.ContainsFunc(v, hides)
	case map[string]any:
		for key, inner := range v {
			if hides(key) || hides(inner) {
				return true
			}
		}
	}
	return false
}

// depth is the nesting of valid JSON.
func depth(raw json.RawMessage) int {
	deepest, now := 0, 0
	quoted, escaped := false, false
	for _, c := range raw {
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}

// unique keeps the first tool of each name.
func unique(tools []Tool, drop func(string)) []Tool {
	seen := make(map[string]bool, len(tools))
	return slices.DeleteFunc(tools, func(t Tool) bool {
		twice := seen[t.Name]
		seen[t.Name] = true
		if twice {
			drop(fmt.Sprintf("tool %q left out: its name is taken", t.Name))
		}
		return twice
	})
}
