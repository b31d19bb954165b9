package textcall

import (
	"encoding/json"
	"strings"

	"agent/llm"
)

// namedObject is the JSON object of the arguments, and an end that may be missing
// at the end of the text.
func namedObject(name, text, end string) ([]call, string, state) {
	arguments, after, st := rawObject(text)
	if st != whole {
		return nil, "", st
	}
	after = strings.TrimSpace(after)
	if rest, ok := strings.CutPrefix(after, end); ok {
		after = rest
	} else if end != "" && after != "" {
		return nil, "", other
	}
	return []call{{plainName(name), arguments}}, after, whole
}

// mistralBody is a list of objects, or a name, "[ARGS]" and the arguments; older
// templates leave the mark out.
func mistralBody(text string, tools []llm.Tool) ([]call, string, state) {
	if strings.HasPrefix(text, "[") || text == "" {
		return jsonBody(text, tools)
	}
	brace := strings.IndexByte(text, '{')
	if brace < 0 {
		return nil, "", cut
	}
	name, _, _ := strings.Cut(text[:brace], "[") // [CALL_ID]… and [ARGS] may stand between
	if !isName(name) {
		return nil, "", other
	}
	return namedObject(name, text[brace:], "")
}

// deepseekBody is a row of calls in marks of their own; the older ones have a
// type before the name and the arguments in a code block.
func deepseekBody(text string, _ []llm.Tool) (all []call, after string, st state) {
	const begin, sep, end = "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"
	for rest := text; ; {
		inner, ok := strings.CutPrefix(strings.TrimSpace(rest), begin)
		if !ok {
			if len(all) == 0 {
				return nil, "", cut
			}
			return all, rest, whole
		}
		head, body, ok := strings.Cut(inner, sep)
		if !ok {
			return nil, "", cut
		}
		if name, block, old := strings.Cut(body, "\n```json\n"); old && head == "function" {
			head, body = name, block
		}
		body, rest, ok = strings.Cut(body, end)
		if !ok {
			return nil, "", cut
		}
		calls, _, st := namedObject(head, strings.TrimSuffix(strings.TrimSpace(body), "```"), "")
		if st != whole {
			return nil, "", st
		}
		all = append(all, calls...)
	}
}

// kimiBody is a row of calls in marks of their own.
func kimiBody(text string, _ []llm.Tool) (all []call, after string, st state) {
	const begin, sep, end = "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"
	for rest := text; ; {
		inner, ok := strings.CutPrefix(strings.TrimSpace(rest), begin)
		if !ok {
			if len(all) == 0 {
				return nil, "", cut
			}
			return all, rest, whole
		}
		name, body, ok := strings.Cut(inner, sep)
		body, after, ended := strings.Cut(body, end)
		if !ok || !ended {
			return nil, "", cut
		}
		calls, _, st := namedObject(name, strings.TrimSpace(body), "")
		if st != whole {
			return nil, "", st
		}
		all, rest = append(all, calls...), after
	}
}

// harmonyBody follows "<|channel|>": the channel, the addressee, and the message
// with the arguments.
func harmonyBody(text string, _ []llm.Tool) ([]call, string, state) {
	head, body, ok := strings.Cut(text, "<|message|>")
	_, to, named := strings.Cut(head, "to=")
	switch {
	case !ok && named:
		return nil, "", cut
	case !named:
		return nil, "", other // a message for people or for itself
	}
	name, _, _ := strings.Cut(strings.TrimSpace(to), "<|")
	name, _, _ = strings.Cut(strings.TrimSpace(name), " ")
	return namedObject(name, strings.TrimSpace(body), "<|call|>")
}

// rawObject is the JSON object at the beginning of text.
func rawObject(text string) (arguments, after string, st state) {
	var raw json.RawMessage
	d := json.NewDecoder(strings.NewReader(text))
	if err := d.Decode(&raw); err != nil {
		return "", "", unreadable(err)
	}
	return object(raw), text[d.InputOffset():], whole
}
