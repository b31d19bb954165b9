package event

import (
	"bytes"
	"encoding/json"

	"agent/eventlog"
)

// Nearly all of a log is a few long texts. encoding/json looks at each byte of them
// three times, so they are taken out of the data first, and it decodes the rest.

// longText is a text that may be long, by its key at the top of the data.
type longText struct {
	key    string
	of     func(Body) *Text
	unused bool // no fold looks at it
}

func textOf[B Body](key string, of func(B) *Text) longText {
	return longText{key: key, of: func(b Body) *Text { return of(b.(B)) }}
}

func unused(t longText) longText { t.unused = true; return t }

var longTexts = map[string][]longText{
	"llm.replied": {
		textOf("text", func(b *LLMReplied) *Text { return &b.Text }),
		unused(textOf("reasoning", func(b *LLMReplied) *Text { return &b.Reasoning })),
		unused(textOf("raw", func(b *LLMReplied) *Text { return &b.Raw })),
	},
	"llm.failed":     {textOf("partial", func(b *LLMFailed) *Text { return &b.Partial })},
	"tool.requested": {textOf("args", func(b *ToolRequested) *Text { return &b.Args })},
	"tool.replied":   {textOf("content", func(b *ToolReplied) *Text { return &b.Content })},
	"message.added":  {textOf("content", func(b *MessageAdded) *Text { return &b.Content })},
	"summary.added":  {textOf("text", func(b *SummaryAdded) *Text { return &b.Text })},
	"project.read": {
		textOf("files", func(b *ProjectRead) *Text { return &b.Files }),
		textOf("map", func(b *ProjectRead) *Text { return &b.Map }),
	},
}

// longFrom is how many bytes a text has that is worth the trouble.
const longFrom = 256

// unmarshal decodes data as json.Unmarshal does. checked says that [eventlog.CheckData]
// has passed it. Without whole, long texts that no fold looks at are left out.
func unmarshal(kind string, data []byte, body Body, checked, whole bool) error {
	texts := longTexts[kind]
	if len(texts) == 0 || len(data) < longFrom || !checked && eventlog.CheckData(data) != nil {
		return json.Unmarshal(data, body)
	}
	found := make([][]byte, len(texts))
	rest, ok := cutLong(data, texts, found)
	if !ok {
		return json.Unmarshal(data, body)
	}
	if err := json.Unmarshal(rest, body); err != nil {
		return err
	}
	for i, text := range texts {
		if found[i] == nil || text.unused && !whole && !countsReasoning(body) {
			continue
		}
		inline, err := unquote(found[i])
		if err != nil {
			return err
		}
		*text.of(body) = T(inline)
	}
	return nil
}

// countsReasoning is true for a reply whose reasoning is weighed: it goes back to the model.
func countsReasoning(b Body) bool {
	reply, ok := b.(*LLMReplied)
	return ok && reply.From != ""
}

// cutLong puts empty strings in the place of long texts. It is not ok if a key comes twice.
func cutLong(data []byte, texts []longText, found [][]byte) (rest []byte, ok bool) {
	done := 0
	for at := 1; ; {
		key, value, end := member(data, at)
		if value == end {
			break
		}
		at = end
		if data[value] != '"' || end-value < longFrom {
			continue
		}
		for i, text := range texts {
			if string(key) != text.key {
				continue
			}
			if found[i] != nil {
				return nil, false
			}
			found[i] = data[value:end]
			rest = append(append(rest, data[done:value]...), `""`...)
			done = end
		}
	}
	return append(rest, data[done:]...), true
}

// member finds the next member of an object from a place behind its brace or a value.
// value equals end if there is none.
func member(data []byte, at int) (key []byte, value, end int) {
	at = skip(data, at, " \t,")
	if data[at] != '"' {
		return nil, at, at
	}
	end = valueEnd(data, at)
	key = data[at+1 : end-1]
	value = skip(data, end, " \t:")
	return key, value, valueEnd(data, value)
}

func skip(data []byte, at int, over string) int {
	for bytes.IndexByte([]byte(over), data[at]) >= 0 {
		at++
	}
	return at
}

// valueEnd finds the end of a value of valid JSON.
func valueEnd(data []byte, at int) int {
	for depth := 0; ; {
		switch data[at] {
		case '"':
			at = stringEnd(data, at)
		case '{', '[':
			depth++
			at++
		case '}', ']':
			depth--
			at++
		default:
			at++
		}
		if depth == 0 {
			return scalarEnd(data, at)
		}
	}
}

// scalarEnd goes on to the end of a number or a word.
func scalarEnd(data []byte, at int) int {
	if last := data[at-1]; last == '"' || last == '}' || last == ']' {
		return at
	}
	for bytes.IndexByte([]byte(" \t,}]"), data[at]) < 0 {
		at++
	}
	return at
}

// stringEnd finds the end of a string that begins at a place.
func stringEnd(data []byte, at int) int {
	for at++; ; at++ {
		at += bytes.IndexByte(data[at:], '"')
		escapes := 0
		for data[at-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return at + 1
		}
	}
}
