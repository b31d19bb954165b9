package httpx

import (
	"net/http"
	"slices"
	"strings"

	"agent/llm"
)

// class is one line of the table of refusals. A refusal belongs to the first
// class all of whose conditions hold; an empty condition always holds.
type class struct {
	name   string
	kind   llm.Kind
	status []int    // HTTP status, or the one that the error names
	words  []string // one of these, in lower case, in code, type or message
	also   []string // and one of these
	when   func(refusal) bool
}

// refusal is what a server said in place of an answer.
type refusal struct {
	status     int
	said       string // code, type and message in lower case
	retryAfter bool   // the server named a time
	tools      bool   // tools were offered
}

// classes is the table of docs/architecture.md, “Model servers”. Words count
// more than the status, because servers report the same thing under many.
// The order matters: a request that can never fit also comes as a rate limit,
// and an empty account as a quota of this minute.
var classes = []class{
	{name: "malformed call", kind: llm.MalformedCall, words: []string{"tool_use_failed", "failed_generation", "error parsing tool call",
		"failed to parse tool call", "malformed_function_call", "tool call validation failed", "failed to parse input at pos", "invalid tool call arguments"}},
	{name: "window", kind: llm.ContextOverflow, words: []string{"context_length", "context length", "context size", "context_size", "context window",
		"prompt is too long", "input is too long", "input token count", "too many input tokens", "exceeds the maximum number of tokens",
		"maximum number of tokens", "maximum prompt length", "reduce the length of", "reduce your message size", "request too large",
		"string_above_max_length", "prompt too long", "max_seq_len", "model's maximum context", "exceed context limit", "max_model_len"}},
	{name: "window, by size", kind: llm.ContextOverflow, status: []int{http.StatusRequestEntityTooLarge}},
	{name: "quota of this minute", kind: llm.RateLimited, status: []int{http.StatusTooManyRequests}, when: func(r refusal) bool { return r.retryAfter }},
	{name: "money", kind: llm.Quota, status: []int{http.StatusPaymentRequired}},
	{name: "money, in words", kind: llm.Quota, words: []string{"insufficient_quota", "exceeded your current quota", "billing", "credit balance", "insufficient credit",
		"insufficient balance", "insufficient_balance", "payment required", "out of credits", "not enough credits", "add credits", "spending limit", "account is not active"}},
	{name: "rate", kind: llm.RateLimited, status: []int{http.StatusTooManyRequests}},
	{name: "key", kind: llm.Auth, status: []int{http.StatusUnauthorized, http.StatusProxyAuthRequired}},
	{name: "key, in words", kind: llm.Auth, words: []string{"invalid_api_key", "invalid api key", "incorrect api key", "api key not valid", "api_key_invalid",
		"api key expired", "missing api key", "no api key", "authentication_error", "invalid x-api-key", "invalid access token", "permission_denied"}},
	{name: "content filter", kind: llm.Filtered, words: []string{"content_filter", "content filter", "content_policy", "content policy", "responsibleai", "flagged", "moderation",
		"data_inspection_failed", "safety system", "prohibited_content"}},
	{name: "forbidden", kind: llm.Auth, status: []int{http.StatusForbidden}},
	{name: "shape of the request", kind: llm.Invalid, words: []string{"jinja exception", "jinja template", "roles must alternate", "unexpected role", "is unsupported, did you mean",
		"property 'name' is unsupported", "can have a name", "toolconfig", "thought_signature", "reasoning_content", "thinking.", "`thinking`", "tool call id", "tool_choice", "stream_options", "response_format"}},
	{name: "tools", kind: llm.ToolsRefused, words: []string{"tool", "function"}, also: []string{"support", "unrecognized", "not enabled", "--jinja", "--enable-auto-tool-choice"},
		when: func(r refusal) bool { return r.tools }},
	{name: "model is loading or crashed", kind: llm.Transient, words: []string{"loading model", "model is loading", "currently loading", "still loading", "model loading was", "model unloaded",
		"model is unloaded", "has crashed", "runner process has terminated", "cuda error", "overloaded", "temporarily unavailable", "server is busy", "try again later", "engine is dead"}},
	{name: "model", kind: llm.NotFound, words: []string{"model_not_found", "unexpected endpoint", "no models loaded"}},
	{name: "model, in words", kind: llm.NotFound, words: []string{"model"}, also: []string{"not found", "does not exist", "no such model", "is not available"}},
	{name: "path", kind: llm.NotFound, status: []int{http.StatusNotFound}},
	{name: "rate, in words", kind: llm.RateLimited, words: []string{"rate_limit", "too_many_requests"}},
	{name: "busy", kind: llm.RateLimited, status: []int{http.StatusServiceUnavailable}, when: func(r refusal) bool { return r.retryAfter }},
	{name: "conflict, lock, time", kind: llm.Transient, status: []int{http.StatusRequestTimeout, http.StatusConflict, http.StatusLocked, http.StatusTooEarly}},
	{name: "out of order", kind: llm.Transient, when: func(r refusal) bool { return r.status >= 500 }},
	{name: "request, in a good answer", kind: llm.Invalid, status: []int{http.StatusOK}, words: []string{"invalid_request"}},
	{name: "error in a good answer", kind: llm.Transient, status: []int{http.StatusOK}},
	{name: "unknown", kind: llm.Invalid},
}

// classify says what a refusal means for the caller.
func classify(status int, f fault, retryAfter, tools bool) llm.Kind {
	if status == http.StatusOK && f.status != 0 {
		status = f.status // an error inside of a stream brings its own
	}
	r := refusal{status: status, said: strings.ToLower(f.code + " " + f.message), retryAfter: retryAfter, tools: tools}
	return classOf(r).kind
}

func classOf(r refusal) class {
	return classes[slices.IndexFunc(classes, func(c class) bool { return c.holds(r) })]
}

func (c class) holds(r refusal) bool {
	return (len(c.status) == 0 || slices.Contains(c.status, r.status)) &&
		(len(c.words) == 0 || Mentions(r.said, c.words...)) &&
		(len(c.also) == 0 || Mentions(r.said, c.also...)) &&
		(c.when == nil || c.when(r))
}
