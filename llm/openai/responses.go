package openai

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"agent/llm"
	"agent/llm/httpx"
)

// A stream of the Responses API brings arguments and texts as deltas, as a whole,
// in their item, and in the response at the end.
const repeats = 4

// readResponses makes a reply of an answer of the Responses API.
func readResponses(in *httpx.Answer) (llm.Reply, error) {
	stream, err := in.IsStream()
	if err != nil {
		return llm.Reply{}, err
	}
	if stream {
		return readResponsesStream(in)
	}
	data, err := in.All()
	if err != nil {
		return llm.Reply{}, err
	}
	var w wireResponse
	if err := json.Unmarshal(data, &w); err != nil {
		return llm.Reply{}, in.Unreadable(data, "")
	}
	return responsesReply(in, w, data, data, "")
}

// readResponsesStream waits for the event with the whole response. Deltas serve
// only to tell how far a stream came that was cut.
func readResponsesStream(in *httpx.Answer) (llm.Reply, error) {
	in.Allow(repeats * httpx.MaxAnswer)
	s := responsesSink{in: in, items: map[int]json.RawMessage{}}
	broken, failure := in.Events(&s)
	switch {
	case failure != nil:
		return llm.Reply{}, failure
	case in.Cancelled() != nil:
		return llm.Reply{}, in.Cancelled()
	case s.final != nil:
		return s.reply()
	case broken != nil:
		return llm.Reply{}, broken
	}
	return llm.Reply{}, in.Cut(s.Partial())
}

type responsesSink struct {
	in    *httpx.Answer
	text  strings.Builder
	items map[int]json.RawMessage // finished output items by index
	final json.RawMessage         // the response at the end
}

func (s *responsesSink) Partial() string { return s.text.String() }

func (s *responsesSink) Event(data []byte, isError bool) (bool, error) {
	var e wireEvent
	if string(data) == string(done) {
		return true, nil
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return false, s.in.Unreadable(data, s.Partial())
	}
	switch e.Type {
	case "response.output_text.delta", "response.refusal.delta":
		s.text.WriteString(e.Delta)
	case "response.output_item.done":
		s.items[e.OutputIndex] = e.Item
	case "response.completed", "response.incomplete", "response.failed":
		s.final = e.Response
		return true, nil
	default:
		if isError || e.Type == "error" || httpx.Present(e.Error) {
			return false, s.in.Reported(data, s.Partial())
		}
	}
	return false, nil
}

// reply takes the items from their own events if the response at the end leaves them out.
func (s *responsesSink) reply() (llm.Reply, error) {
	var w wireResponse
	if err := json.Unmarshal(s.final, &w); err != nil {
		return llm.Reply{}, s.in.Unreadable(s.final, s.Partial())
	}
	raw := []byte(s.final)
	if len(w.Output) == 0 {
		for _, i := range slices.Sorted(maps.Keys(s.items)) {
			var item wireItem
			if err := json.Unmarshal(s.items[i], &item); err != nil {
				return llm.Reply{}, s.in.Unreadable(s.items[i], s.Partial())
			}
			w.Output = append(w.Output, item)
			raw = append(append(raw, '\n'), s.items[i]...)
		}
	}
	return responsesReply(s.in, w, s.final, raw, s.Partial())
}

// responsesReply ends an answer. Data is the response, for the errors in it.
func responsesReply(in *httpx.Answer, w wireResponse, data, raw []byte, partial string) (llm.Reply, error) {
	if httpx.Present(w.Error) || w.Status == "failed" {
		return llm.Reply{}, in.Reported(data, partial)
	}
	if w.Status == "" && w.Output == nil {
		return llm.Reply{}, in.Reported(data, partial) // whatever it is, it is no response
	}
	r := w.reply()
	if r.FinishReason == "" {
		return llm.Reply{}, in.Cut(r.Text)
	}
	r.Raw = raw
	return r, in.NotEmpty(r)
}
