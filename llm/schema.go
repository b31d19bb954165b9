package llm

import (
	"bytes"
	"encoding/json"
	"slices"
)

// FitSchema makes a tool's schema one that strict servers take: an object with
// properties, without alternatives at its root, with one type, and with items where
// there is an array. What fits is returned byte by byte. It never refuses more than
// the schema did: of alternatives all properties are offered, and only those that
// each requires are required. The tool's own server checks the arguments.
func FitSchema(raw json.RawMessage) json.RawMessage {
	var root map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&root) != nil || root == nil {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	changed := fitRoot(root)
	if fitArrays(root) || changed {
		if fit, err := json.Marshal(root); err == nil {
			return fit
		}
	}
	return raw
}

// fitRoot makes the root a plain object.
func fitRoot(root map[string]any) (changed bool) {
	properties, ok := root["properties"].(map[string]any)
	if !ok {
		properties, changed = map[string]any{}, true
	}
	for _, word := range []string{"anyOf", "oneOf", "allOf", "not", "enum", "const", "if", "then", "else"} {
		if branches, ok := root[word].([]any); ok && word != "enum" {
			merge(root, properties, branches, word == "allOf")
		}
		if _, ok := root[word]; ok {
			delete(root, word)
			changed = true
		}
	}
	if root["type"] != "object" {
		root["type"], changed = "object", true
	}
	root["properties"] = properties
	return changed
}

// merge adds the properties of alternatives, or of parts that hold together. all
// of those parts say what is required; of alternatives only what each of them says.
func merge(root, properties map[string]any, branches []any, all bool) {
	var required []any
	for i, b := range branches {
		branch, _ := b.(map[string]any)
		more, _ := branch["properties"].(map[string]any)
		for name, schema := range more {
			if _, taken := properties[name]; !taken {
				properties[name] = schema
			}
		}
		needs, _ := branch["required"].([]any)
		if all || i == 0 {
			required = append(required, needs...)
			continue
		}
		required = slices.DeleteFunc(required, func(name any) bool { return !slices.Contains(names(needs), name) })
	}
	own, _ := root["required"].([]any)
	for _, name := range required {
		if text, ok := name.(string); ok && properties[text] != nil && !slices.Contains(names(own), name) {
			own = append(own, name)
		}
	}
	if len(own) > 0 {
		root["required"] = own
	}
}

// names are those of a list that are texts: nothing else can be compared.
func names(list []any) []any {
	return slices.DeleteFunc(slices.Clone(list), func(v any) bool { _, ok := v.(string); return !ok })
}

// fitArrays gives every array below a schema its items.
func fitArrays(schema map[string]any) (changed bool) {
	if kind, _ := schema["type"].(string); kind == "array" && schema["items"] == nil && schema["prefixItems"] == nil {
		schema["items"], changed = map[string]any{}, true
	}
	for _, word := range []string{"properties", "$defs", "definitions"} {
		inner, _ := schema[word].(map[string]any)
		for _, v := range inner {
			if s, ok := v.(map[string]any); ok {
				changed = fitArrays(s) || changed
			}
		}
	}
	for _, word := range []string{"items", "additionalProperties"} {
		if s, ok := schema[word].(map[string]any); ok {
			changed = fitArrays(s) || changed
		}
	}
	for _, word := range []string{"anyOf", "oneOf", "allOf"} {
		list, _ := schema[word].([]any)
		for _, v := range list {
			if s, ok := v.(map[string]any); ok {
				changed = fitArrays(s) || changed
			}
		}
	}
	return changed
}
