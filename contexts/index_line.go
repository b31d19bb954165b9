package contexts

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
)

// row is a line of the index, checked and read as far as its order needs.
type row struct {
	uuid, task []byte
	state      string
	line, body []byte // of contexts.jsonl, with and without its checksum; good until the next row
	newer      *Info  // of an entry of the tail
}

var states = []string{StateRunning, StatePaused, StateAwaiting, StateCompleted, StateStopped, StateFailed, StateDamaged}

// parseRow reads the first three fields of a checked line.
func parseRow(body []byte) (r row, ok bool) {
	const taskAt = len(lineStart) + uuidSize
	if len(body) < taskAt || string(body[:len(lineStart)]) != lineStart {
		return r, false
	}
	r.uuid, r.body = body[len(lineStart):taskAt], body
	rest, ok := bytes.CutPrefix(body[taskAt:], []byte(`","task":`))
	if !ok {
		return r, false
	}
	task, rest, ok := cutString(rest)
	if !ok || len(rest) == 0 {
		return r, false
	}
	name, state, _, ok := cutField(rest[1:])
	if !ok || string(name) != "state" {
		return r, false
	}
	r.task, r.state = unquote(task), known(state)
	return r, r.state != ""
}

// known gives the state that is written in b, without a new string.
func known(b []byte) string {
	for _, s := range states {
		if len(b) == len(s)+2 && string(b[1:len(b)-1]) == s {
			return s
		}
	}
	return ""
}

func (r *row) over() bool {
	return r.state == StateCompleted || r.state == StateStopped || r.state == StateFailed
}

func compareRows(a, b *row) int {
	if n := bytes.Compare(a.task, b.task); n != 0 {
		return n
	}
	return bytes.Compare(a.uuid, b.uuid)
}

// info reads the whole line.
func (r *row) info() (Info, error) {
	if r.newer != nil {
		return *r.newer, nil
	}
	i, ok := parseInfo(r.body)
	if !ok {
		return i, errIndex
	}
	return i, nil
}

// parseInfo reads a checked line by hand: encoding/json takes ten times as long,
// and a list reads every line.
func parseInfo(body []byte) (i Info, ok bool) {
	rest := body[1:]
	for len(rest) > 0 {
		name, value, after, ok := cutField(rest)
		if !ok || !i.set(name, value) {
			return i, false
		}
		rest = after
		if len(rest) > 0 {
			rest = rest[1:]
		}
	}
	return i, i.UUID != ""
}

// set takes over a field of a line; unknown ones are skipped.
func (i *Info) set(name, value []byte) bool {
	var err error
	switch string(name) {
	case "uuid":
		i.UUID = string(unquote(value))
	case "task":
		i.TaskKey = string(unquote(value))
	case "state":
		i.State = known(value)
	case "title":
		i.Title = string(unquote(value))
	case "created":
		i.Created, err = parseTime(value)
	case "updated":
		i.Updated, err = parseTime(value)
	case "ended":
		i.Ended, err = parseTime(value)
	case "llm_calls":
		i.LLMCalls, err = strconv.Atoi(string(value))
	case "tool_calls":
		i.ToolCalls, err = strconv.Atoi(string(value))
	case "tokens":
		i.Tokens, err = strconv.Atoi(string(value))
	case "cost_usd":
		i.CostUSD, err = strconv.ParseFloat(string(value), 64)
	case "seq":
		i.Head.Seq, err = strconv.ParseUint(string(value), 10, 64)
	case "hash":
		i.Head.Hash, err = strconv.ParseUint(string(unquote(value)), 10, 64)
	case "size":
		i.Size, err = strconv.ParseInt(string(value), 10, 64)
	case "modified":
		i.modified, err = strconv.ParseInt(string(value), 10, 64)
	case "archived":
		i.Archived = string(value) == "true"
	case "gone":
		i.gone = string(value) == "true"
	}
	return err == nil
}

func parseTime(value []byte) (time.Time, error) {
	return time.Parse(time.RFC3339Nano, string(bytes.Trim(value, `"`)))
}

// cutField splits a member of a flat object, `"name":value`, from what follows it.
func cutField(b []byte) (name, value, rest []byte, ok bool) {
	quoted, rest, ok := cutString(b)
	if !ok || len(rest) < 2 || rest[0] != ':' {
		return nil, nil, nil, false
	}
	name, rest = quoted[1:len(quoted)-1], rest[1:]
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
	if len(b) == 0 || b[0] != '"' {
		return nil, nil, false
	}
	for at := 1; ; {
		n := bytes.IndexByte(b[at:], '"')
		if n < 0 {
			return nil, nil, false
		}
		end := at + n
		escapes := 0
		for b[end-1-escapes] == '\\' {
			escapes++
		}
		if at = end + 1; escapes%2 == 0 {
			return b[:at], b[at:], true
		}
	}
}

// unquote gives the text of a JSON string, without a copy if it has no escapes.
func unquote(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var s string
	_ = json.Unmarshal(quoted, &s) // written by encoding/json
	return []byte(s)
}
