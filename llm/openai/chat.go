package openai

import (
	"bytes"
	"encoding/json"
	"errors"

	"agent/llm"
	"agent/llm/httpx"
)

var done = []byte("[DONE]")

// readChat makes a reply of an answer of chat completions.
func readChat(in *httpx.Answer) (llm.Reply, error) {
	stream, err := in.IsStream()
	if err != nil {
		return llm.Reply{}, err
	}
	if stream {
		return readChatStream(in)
	}
	data, err := in.All()
	if err != nil {
		return llm.Reply{}, err
	}
	return readChatWhole(in, data)
}

// readChatStream assembles the chunks. A stream is whole if a finish reason came,
// or if the end mark follows text: some servers send no reason. Anything else is a cut.
func readChatStream(in *httpx.Answer) (llm.Reply, error) {
	s := chatSink{in: in}
	broken, failure := in.Events(&s)
	if s.ended && s.finish == "" && len(s.calls) == 0 && !httpx.Blank(s.Partial()) {
		s.finish = "stop"
	}
	switch {
	case failure != nil:
		return llm.Reply{}, failure
	case s.finish != "" && in.Cancelled() == nil:
		return chatReply(in, &s.assembly)
	case broken != nil:
		return llm.Reply{}, broken
	}
	return llm.Reply{}, in.Cut(s.Partial())
}

type chatSink struct {
	assembly
	in    *httpx.Answer
	ended bool // the end mark came
}

func (s *chatSink) Partial() string { return s.text.String() }

func (s *chatSink) Event(data []byte, isError bool) (bool, error) {
	if bytes.Equal(data, done) {
		s.ended = true
		return true, nil
	}
	var w wireAnswer
	if err := json.Unmarshal(data, &w); err != nil {
		return false, s.in.Unreadable(data, s.Partial())
	}
	if isError || w.failed() {
		return false, s.in.Reported(data, s.Partial())
	}
	s.raw(data)
	s.add(w)
	return false, nil
}

// readChatWhole takes an answer that came in one piece.
func readChatWhole(in *httpx.Answer, data []byte) (llm.Reply, error) {
	var w wireAnswer
	if err := json.Unmarshal(data, &w); err != nil {
		return llm.Reply{}, in.Unreadable(data, "")
	}
	if w.failed() || w.Choices == nil && w.looksLikeError() {
		return llm.Reply{}, in.Reported(data, "")
	}
	var a assembly
	a.raw(data)
	a.add(w)
	if len(w.Choices) == 0 {
		return llm.Reply{}, in.Empty("the server answered without a choice", a.usage)
	}
	if a.finish == "" {
		return llm.Reply{}, in.Cut(a.text.String())
	}
	return chatReply(in, &a)
}

// chatReply ends an answer that has a finish reason.
func chatReply(in *httpx.Answer, a *assembly) (llm.Reply, error) {
	r := a.reply()
	if r.FinishReason == "error" {
		return llm.Reply{}, in.Failed(llm.Transient, errors.New("the server ended the answer with an error"), r.Text)
	}
	return r, in.NotEmpty(r)
}
