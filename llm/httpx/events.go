package httpx

import (
	"bytes"
	"encoding/json"
	"io"
)

// Sink takes the data of one event. Ended is true at the mark of the end.
type Sink interface {
	Event(data []byte, isError bool) (ended bool, err error)
	Partial() string // the text so far
}

// Events feeds an event stream into s. Failure is the sink's; broken tells how
// the stream ended if not at its mark, which costs nothing if all had come.
func (a *Answer) Events(s Sink) (broken, failure error) {
	named := false // this event is named "error"
	for {
		line, err := a.Line()
		data := payload(line)
		if len(data) > 0 && (err == nil || err == io.EOF && json.Valid(data)) {
			ended, failure := s.Event(data, named)
			if failure != nil {
				return nil, failure
			}
			if ended {
				a.Drain()
				return nil, nil
			}
		}
		if err != nil {
			return a.Broken(err, s.Partial()), nil
		}
		named = named && len(line) > 0 || bytes.HasPrefix(line, []byte("event: error"))
	}
}

// payload is the data of a line, if it has any. A bare object is an error that
// a proxy put into the stream.
func payload(line []byte) []byte {
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	if !ok && !bytes.HasPrefix(line, []byte("{")) {
		return nil
	}
	return bytes.TrimSpace(data)
}
