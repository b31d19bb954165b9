package contexts

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// indexFields are the fields of a line in the order in which they are written.
// Those that are zero are left out, but for the first three, which the index is
// searched by.
var indexFields = []struct {
	name string
	of   func(*Info) any // points to it
}{
	{"uuid", func(i *Info) any { return &i.UUID }},
	{"task", func(i *Info) any { return &i.TaskKey }},
	{"state", func(i *Info) any { return &i.State }},
	{"gone", func(i *Info) any { return &i.gone }}, // only in the tail: the context was removed
	{"created", func(i *Info) any { return &i.Created }},
	{"updated", func(i *Info) any { return &i.Updated }},
	{"ended", func(i *Info) any { return &i.Ended }},
	{"llm_calls", func(i *Info) any { return &i.LLMCalls }},
	{"llm_begun", func(i *Info) any { return &i.LLMBegun }},
	{"summaries", func(i *Info) any { return &i.Summaries }},
	{"lost", func(i *Info) any { return &i.Lost }},
	{"tool_calls", func(i *Info) any { return &i.ToolCalls }},
	{"tokens", func(i *Info) any { return &i.Tokens }},
	{"estimated", func(i *Info) any { return &i.Estimated }},
	{"cost_usd", func(i *Info) any { return &i.CostUSD }},
	{"seq", func(i *Info) any { return &i.Head.Seq }},
	{"hash", func(i *Info) any { return &i.Head.Hash }},
	{"size", func(i *Info) any { return &i.Size }},
	{"modified", func(i *Info) any { return &i.modified }}, // of the file of the log, ns
	{"archived", func(i *Info) any { return &i.Archived }},
	{"partial", func(i *Info) any { return &i.Partial }},
	{"refused", func(i *Info) any { return &i.Refused }},
	{"work", func(i *Info) any { return &i.Work }},
	{"change", func(i *Info) any { return &i.Change }},
	{"moved", func(i *Info) any { return &i.Moved }},
	{"fork", func(i *Info) any { return &i.Fork }},
	{"fork_seq", func(i *Info) any { return &i.ForkSeq }},
	{"live", func(i *Info) any { return &i.Live }},
	{"title", func(i *Info) any { return &i.Title }},
}

const searched = 3 // fields

// body is the line of a context without checksum.
func (i Info) body() []byte {
	i.Title = strings.ToValidUTF8(i.Title[:min(len(i.Title), maxTitle)], "")
	var b []byte
	for n, f := range indexFields {
		p := f.of(&i)
		if n >= searched && reflect.ValueOf(p).Elem().IsZero() {
			continue
		}
		value, _ := json.Marshal(p) // strings, numbers, booleans, and times of logs
		b = append(strconv.AppendQuote(append(b, ','), f.name), ':')
		b = append(b, value...)
	}
	b[0] = '{'
	return b
}

// maxTitle is how many bytes of a title the index keeps.
const maxTitle = 4 << 10

// parseInfo reads a checked line. It does so by hand: encoding/json takes ten times as
// long, and lists read every line.
func parseInfo(body []byte) (i Info, ok bool) {
	at := 0 // in indexFields
	for len(body) > 1 {
		name, value, rest, ok := cutField(body[1:])
		if !ok {
			return i, false
		}
		body = rest
		for range indexFields {
			f := &indexFields[at]
			if at = (at + 1) % len(indexFields); f.name != string(name) {
				continue
			}
			if setField(f.of(&i), value) != nil {
				return i, false
			}
			break
		}
	}
	return i, i.UUID != ""
}

func setField(to any, value []byte) (err error) {
	switch p := to.(type) {
	case *string:
		var ok bool
		if *p, ok = unquote(value); !ok {
			return errIndex
		}
		return nil
	case *int:
		*p, err = strconv.Atoi(string(value))
		return err
	case *int64:
		*p, err = strconv.ParseInt(string(value), 10, 64)
		return err
	case *uint64:
		*p, err = strconv.ParseUint(string(value), 10, 64)
		return err
	case *time.Time:
		*p, err = time.Parse(time.RFC3339Nano, string(value[1:len(value)-1]))
		return err
	}
	return json.Unmarshal(value, to)
}

// unquote reads a JSON string. One that is known already is not made again.
func unquote(value []byte, known ...string) (text string, ok bool) {
	if len(value) < 2 || value[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(value, '\\') >= 0 {
		return unescape(value)
	}
	value = value[1 : len(value)-1]
	for _, k := range known {
		if string(value) == k {
			return k, true
		}
	}
	return string(value), true
}

func unescape(value []byte) (text string, ok bool) {
	ok = json.Unmarshal(value, &text) == nil
	return text, ok
}

// cutField splits a member of a flat object, `"name":value`, from what follows it.
func cutField(b []byte) (name, value, rest []byte, ok bool) {
	name, rest, ok = cutString(b)
	if !ok || len(rest) < 2 || rest[0] != ':' {
		return nil, nil, nil, false
	}
	name, rest = name[1:len(name)-1], rest[1:]
	if rest[0] == '"' {
		value, rest, ok = cutString(rest)
		return name, value, rest, ok
	}
	end := bytes.IndexByte(rest, ',')
	if end < 0 {
		end = len(rest)
	}
	return name, rest[:end], rest[end:], true
}

// cutString splits a JSON string, quotes included, from what follows it.
func cutString(b []byte) (quoted, rest []byte, ok bool) {
	for at := 1; len(b) > 1 && b[0] == '"'; {
		n := bytes.IndexByte(b[at:], '"')
		if n < 0 {
			break
		}
		at += n + 1
		before := bytes.TrimRight(b[:at-1], `\`)
		if (at-1-len(before))%2 == 0 {
			return b[:at], b[at:], true
		}
	}
	return nil, nil, false
}
