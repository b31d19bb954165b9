package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"agent/llm"
)

// Reply is what the server does with one request. The zero value is an answer
// with empty text.
type Reply struct {
	Text      string
	Reasoning string         // sent as reasoning_content
	Details   string         // a JSON object, sent in reasoning_details
	Signature string         // sent with the first call, or with the reasoning
	Calls     []llm.ToolCall // an empty ID becomes call_<turn>_<index>
	Finish    string         // default: tool_calls if there are calls, else stop
	Usage     *llm.Usage     // nil: an estimate from the sizes; Known is not looked at
	NoUsage   bool           // say nothing about usage

	counted bool // the usage is the server's own count

	Status int               // default 200
	Header map[string]string // sent as they are
	Body   string            // sent instead of a made-up answer, whether a stream was asked for or not

	Delay time.Duration   // wait before the first byte
	Until <-chan struct{} // wait until it is closed; other requests are answered meanwhile
	Cut   int             // stop after so many chunks of a stream, or bytes of any other body; 0: never
	Clean bool            // a cut ends the body as if it were whole, instead of dropping the connection
	Drop  bool            // drop the connection without an answer
	Hang  bool            // never answer, or with Cut: say nothing after the cut; ends when the client leaves
}

// Text answers in words.
func Text(text string) Reply { return Reply{Text: text} }

// ToolCall asks for one call of a function. Args is a JSON text as string or
// json.RawMessage, or any value to encode.
func ToolCall(name string, args any) Reply { return ToolCalls(Call(name, args)) }

// ToolCalls asks for several calls at once.
func ToolCalls(calls ...llm.ToolCall) Reply { return Reply{Calls: calls} }

// Call is one call for [ToolCalls]. Args as in [ToolCall].
func Call(name string, args any) llm.ToolCall {
	return llm.ToolCall{Name: name, Arguments: encode(args)}
}

// JSONCommand is a tool call in the JSON protocol; tool is "server/tool".
func JSONCommand(tool string, args any, comment string) Reply {
	return Text(encode(map[string]any{"command": map[string]any{
		"comment": comment, "tool": tool, "args": json.RawMessage(encode(args)),
	}}))
}

// Done ends a task in the JSON protocol.
func Done(comment string) Reply {
	return Text(encode(map[string]any{"done": true, "comment": comment}))
}

// JSON sends body as it is, as application/json.
func JSON(status int, body string) Reply {
	return Reply{Status: status, Body: body, Header: map[string]string{"Content-Type": "application/json"}}
}

// SSE sends a stream made of the given lines, each followed by an empty one.
func SSE(lines ...string) Reply {
	body := ""
	for _, l := range lines {
		body += l + "\n\n"
	}
	return Reply{Body: body, Header: map[string]string{"Content-Type": "text/event-stream"}}
}

// Error is a refusal in the shape of the API. Code may be empty.
func Error(status int, code, message string) Reply {
	e := map[string]any{"message": message, "type": "error", "param": nil, "code": nil}
	if code != "" {
		e["code"] = code
	}
	return JSON(status, encode(map[string]any{"error": e}))
}

// RateLimit is 429; retryAfter of 0 sends no Retry-After.
func RateLimit(retryAfter time.Duration) Reply {
	r := Error(http.StatusTooManyRequests, "rate_limit_exceeded", "Rate limit reached")
	if retryAfter > 0 {
		r.Header["Retry-After"] = strconv.Itoa(int(retryAfter.Seconds()))
	}
	return r
}

// ServerError is a 5xx answer.
func ServerError(status int) Reply {
	return Error(status, "", fmt.Sprintf("the server had an error (%d)", status))
}

// ContextOverflow is the refusal of a prompt that is too long.
func ContextOverflow() Reply {
	return Error(http.StatusBadRequest, "context_length_exceeded",
		"This model's maximum context length is 1000 tokens. However, your messages resulted in 2000 tokens.")
}

// ToolsRefused is what servers answer whose model takes no tools.
func ToolsRefused() Reply {
	return Error(http.StatusBadRequest, "", "this model does not support tools")
}

// HTML is the page of a proxy with status 200.
func HTML() Reply {
	return Reply{
		Body:   "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Sign in to continue</body></html>\n",
		Header: map[string]string{"Content-Type": "text/html; charset=utf-8"},
	}
}

// Cut is r with the connection dropped after n chunks (or bytes, if r is not a stream).
func Cut(r Reply, n int) Reply {
	r.Cut = n
	return r
}

// Drop closes the connection without an answer.
func Drop() Reply { return Reply{Drop: true} }

// Hang never answers.
func Hang() Reply { return Reply{Hang: true} }

// Redirect sends the client elsewhere with 307, which keeps method and body.
func Redirect(to string) Reply {
	return Reply{Status: http.StatusTemporaryRedirect, Body: "moved", Header: map[string]string{"Location": to}}
}

// encode gives the JSON text of v. A string or json.RawMessage is taken
// as JSON text already. Values that cannot be encoded are a fault of the script.
func encode(v any) string {
	switch t := v.(type) {
	case nil:
		return "{}"
	case string:
		return t
	case json.RawMessage:
		return string(t)
	}
	return marshal(v)
}
