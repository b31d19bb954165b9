package shapes

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// object is a JSON object whose values are not looked at yet.
type object map[string]json.RawMessage

func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// nesting is how deep objects and lists are in valid JSON.
func nesting(data []byte) int {
	depth, deepest, inString := 0, 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

// asObject takes an object, or a text that is the JSON of one.
func asObject(raw json.RawMessage) (object, bool) {
	var o object
	err := json.Unmarshal(unquoted(raw, '{'), &o)
	return o, err == nil && o != nil
}

// asList takes a list, or a text that is the JSON of one.
func asList(raw json.RawMessage) ([]json.RawMessage, bool) {
	var l []json.RawMessage
	err := json.Unmarshal(unquoted(raw, '['), &l)
	return l, err == nil && l != nil
}

// unquoted is the content of a text that begins with mark, and else raw.
func unquoted(raw json.RawMessage, mark byte) json.RawMessage {
	var inner string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &inner) != nil {
		return raw
	}
	if inner = strings.TrimSpace(inner); inner == "" || inner[0] != mark || nesting([]byte(inner)) > maxReply {
		return raw
	}
	return json.RawMessage(inner)
}

func scalar(raw json.RawMessage) bool { return present(raw) && raw[0] != '{' && raw[0] != '[' }

// items are the entries of a list, or the one value that stands in its place.
func items(raw json.RawMessage) []json.RawMessage {
	if l, ok := asList(raw); ok {
		return l
	}
	if !present(raw) || isNothing(raw) {
		return nil
	}
	return []json.RawMessage{raw}
}

func isNothing(raw json.RawMessage) bool {
	return string(raw) == "false" || nothing(text(raw, maxText))
}

// nothing says whether a text means that there is nothing.
func nothing(said string) bool {
	switch strings.ToLower(strings.TrimSpace(said)) {
	case "", "none", "null", "nil", "n/a", "-", "なし":
		return true
	}
	return false
}

// sayings are the fields of an object that best stand for it as a text.
var sayings = []string{"description", "details", "text", "item", "issue", "question", "name", "title", "task_id", "id"}

// text is a value in words, of at most n characters. Of a list it is the
// entries, of an object the field that says most, else its JSON.
func text(raw json.RawMessage, n int) string {
	if !present(raw) {
		return ""
	}
	switch raw[0] {
	case '"':
		var said string
		_ = json.Unmarshal(raw, &said) // it was decoded before
		return cut(said, n)
	case '[':
		return cut(strings.Join(list(raw), "; "), n)
	case '{':
		o, _ := asObject(raw)
		for _, key := range sayings {
			if said := o[key]; len(said) > 0 && said[0] == '"' {
				return text(said, n)
			}
		}
	}
	var b bytes.Buffer
	_ = json.Compact(&b, raw)
	return cut(b.String(), n)
}

// id is a text on one line.
func id(raw json.RawMessage) string {
	return cut(strings.Join(strings.Fields(text(raw, maxText)), " "), maxID)
}

// list is the entries that say something. It is never nil.
func list(raw json.RawMessage) []string {
	out := []string{}
	for _, item := range items(raw) {
		if said := strings.TrimSpace(text(item, maxText)); said != "" && len(out) < maxItems {
			out = append(out, said)
		}
	}
	return out
}

// cut is at most n characters of s, none of them a control character but for
// line breaks and tabs: servers of models refuse those in prompts.
func cut(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// flag reads a flag; known is false if the value is none.
func flag(raw json.RawMessage) (value, known bool) {
	if !scalar(raw) {
		return false, false
	}
	switch strings.ToLower(strings.TrimSpace(text(raw, maxID))) {
	case "true", "yes", "y", "1", "passed", "pass", "はい":
		return true, true
	case "false", "no", "n", "0", "failed", "fail", "none", "いいえ":
		return false, true
	}
	return false, false
}

// words are confidences that are not given as numbers, in the bands of a replan decision.
var words = map[string]float64{"high": 0.9, "medium": 0.6, "low": 0.3}

// number reads a finite number, also as a text, with a percent sign, or as a word.
func number(raw json.RawMessage) (float64, bool) {
	if !scalar(raw) {
		return 0, false
	}
	said := strings.ToLower(strings.TrimSpace(text(raw, maxID)))
	if v, ok := words[said]; ok {
		return v, true
	}
	digits, percent := strings.CutSuffix(said, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, false
	}
	if percent {
		v /= 100
	}
	return v, true
}

// whole reads a number between 0 and limit, and 0 if there is none.
func whole(raw json.RawMessage, limit float64) int {
	v, _ := number(raw)
	return int(min(max(v, 0), limit))
}
