package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"agent/llm"
)

var errCut = errors.New("the answer was cut off before its end")

var done = []byte("[DONE]")

// readStream assembles the chunks. A stream counts as whole if a finish reason
// came: a missing end mark or usage costs nothing, a missing reason is a cut.
func (c *call) readStream(in *reader, res *http.Response) (llm.Reply, error) {
	var a assembly
	var failure error
	named := false // this event is named "error"
	for {
		line, err := in.line()
		data := payload(line)
		if bytes.Equal(data, done) {
			in.drain()
			break
		}
		if len(data) > 0 && (err == nil || err == io.EOF && json.Valid(data)) {
			if failure = c.chunk(&a, data, named, res); failure != nil {
				return llm.Reply{}, failure
			}
		}
		if err != nil {
			failure = c.broken(err, a.text.String())
			break
		}
		named = named && len(line) > 0 || bytes.HasPrefix(line, []byte("event: error"))
	}
	if a.finish == "" {
		if failure == nil {
			failure = c.failed(llm.Transient, errCut, a.text.String())
		}
		return llm.Reply{}, failure
	}
	if c.caller.Err() != nil {
		return llm.Reply{}, c.caller.Err()
	}
	return c.reply(&a, res)
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

func (c *call) chunk(a *assembly, data []byte, isError bool, res *http.Response) error {
	var w wireAnswer
	if err := json.Unmarshal(data, &w); err != nil {
		return c.unreadable(data, res, a.text.String())
	}
	if isError || w.failed() {
		return c.reported(data, res, a.text.String())
	}
	a.raw(data)
	a.add(w)
	return nil
}

// readWhole takes an answer that came in one piece.
func (c *call) readWhole(data []byte, res *http.Response) (llm.Reply, error) {
	var w wireAnswer
	if err := json.Unmarshal(data, &w); err != nil {
		return llm.Reply{}, c.unreadable(data, res, "")
	}
	if w.failed() || w.Choices == nil && w.looksLikeError() {
		return llm.Reply{}, c.reported(data, res, "")
	}
	if len(w.Choices) == 0 {
		return llm.Reply{}, c.empty(res, "the server answered without a choice")
	}
	var a assembly
	a.raw(data)
	a.add(w)
	if a.finish == "" {
		return llm.Reply{}, c.failed(llm.Transient, errCut, a.text.String())
	}
	return c.reply(&a, res)
}

// reply ends an answer that has a finish reason.
func (c *call) reply(a *assembly, res *http.Response) (llm.Reply, error) {
	r := a.reply()
	if r.FinishReason == "error" {
		return llm.Reply{}, c.failed(llm.Transient, errors.New("the server ended the answer with an error"), r.Text)
	}
	// Length and filter explain an empty answer; asking again would not help.
	explained := r.FinishReason == "length" || r.FinishReason == "content_filter"
	if blank(r.Text) && len(r.Calls) == 0 && !explained {
		return llm.Reply{}, c.empty(res, "the answer holds neither text nor calls")
	}
	return r, nil
}

func (c *call) empty(res *http.Response, what string) error {
	return &llm.Error{Kind: llm.Empty, Status: res.StatusCode, Message: what}
}
