package httpx

import (
	"strings"
	"testing"

	"agent/llm"
)

// TestClasses has at least one refusal for each class, in the words of real
// servers where a report or their documentation has them.
func TestClasses(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range []struct {
		class      string
		kind       llm.Kind
		status     int
		said       string
		retryAfter bool
	}{
		{"malformed call", llm.MalformedCall, 400, "tool_use_failed invalid_request_error Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.", false},
		{"malformed call", llm.MalformedCall, 500, "error parsing tool call: raw='{\"path\": \"a' err=unexpected end of JSON input", false},
		{"malformed call", llm.MalformedCall, 500, "Failed to parse input at pos 120: <tool_call>", false},
		{"malformed call", llm.MalformedCall, 400, "Tool call validation failed: parameters for tool edit did not match schema", false},
		{"window", llm.ContextOverflow, 400, "context_length_exceeded This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.", false},
		{"window", llm.ContextOverflow, 400, "invalid_request_error prompt is too long: 208310 tokens > 200000 maximum", false},
		{"window", llm.ContextOverflow, 400, "INVALID_ARGUMENT The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).", false},
		{"window", llm.ContextOverflow, 400, "exceed_context_size_error the request exceeds the available context size", false},
		{"window", llm.ContextOverflow, 400, "Input is too long for requested model.", false},
		{"window", llm.ContextOverflow, 413, "tokens rate_limit_exceeded Request too large for model on tokens per minute (TPM): Limit 6000, Requested 8000, please reduce your message size and try again.", false},
		{"window", llm.ContextOverflow, 400, "This model's maximum prompt length is 131072 but the request contains 140000 tokens.", false},
		{"window, by size", llm.ContextOverflow, 413, "Payload Too Large", false},
		{"quota of this minute", llm.RateLimited, 429, "RESOURCE_EXHAUSTED You exceeded your current quota, please check your plan and billing details.", true},
		{"money", llm.Quota, 402, "Insufficient credits", false},
		{"money", llm.Quota, 402, "", false},
		{"money, in words", llm.Quota, 429, "insufficient_quota You exceeded your current quota, please check your plan and billing details.", false},
		{"money, in words", llm.Quota, 400, "invalid_request_error Your credit balance is too low to access the API. Please go to Plans & Billing.", false},
		{"money, in words", llm.Quota, 403, "Your account is not active, please check your billing details on our website.", false},
		{"rate", llm.RateLimited, 429, "Rate limit reached", false},
		{"key", llm.Auth, 401, "Unauthorized", false},
		{"key", llm.Auth, 407, "proxy", false},
		{"key, in words", llm.Auth, 400, "INVALID_ARGUMENT API key not valid. Please pass a valid API key.", false},
		{"key, in words", llm.Auth, 400, "invalid_api_key Incorrect API key provided", false},
		{"key, in words", llm.Auth, 200, "authentication_error invalid x-api-key", false},
		{"content filter", llm.Filtered, 400, "content_filter The response was filtered due to the prompt triggering the content management policy.", false},
		{"content filter", llm.Filtered, 403, "Your input was flagged by moderation", false},
		{"content filter", llm.Filtered, 400, "data_inspection_failed Input data may contain inappropriate content.", false},
		{"forbidden", llm.Auth, 403, "Forbidden", false},
		{"shape of the request", llm.Invalid, 500, "Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/...", false},
		{"shape of the request", llm.Invalid, 400, "'messages.2' : for 'role:tool' the following must be satisfied[('messages.2' : property 'name' is unsupported, did you mean 'role'?)]", false},
		{"shape of the request", llm.Invalid, 400, "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.", false},
		{"tools", llm.ToolsRefused, 400, "registry.ollama.ai/library/gemma:latest does not support tools", false},
		{"tools", llm.ToolsRefused, 500, "tools param requires --jinja flag", false},
		{"tools", llm.ToolsRefused, 404, "No endpoints found that support tool use.", false},
		{"model is loading or crashed", llm.Transient, 503, "Loading model", false},
		{"model is loading or crashed", llm.Transient, 400, "The model has crashed without additional information. (Exit code: 18446744072635812000)", false},
		{"model is loading or crashed", llm.Transient, 404, "Model unloaded.", false},
		{"model is loading or crashed", llm.Transient, 200, "overloaded_error Overloaded", false},
		{"model is loading or crashed", llm.Transient, 500, "llama runner process has terminated: exit status 2", false},
		{"model", llm.NotFound, 400, "No models loaded. Please load a model in the developer page.", false},
		{"model, in words", llm.NotFound, 400, "The model `gpt-9` does not exist or you do not have access to it.", false},
		{"path", llm.NotFound, 404, "page not found", false},
		{"rate, in words", llm.RateLimited, 200, "rate_limit_exceeded slow down", false},
		{"busy", llm.RateLimited, 503, "Service Unavailable", true},
		{"conflict, lock, time", llm.Transient, 409, "conflict", false},
		{"conflict, lock, time", llm.Transient, 423, "locked", false},
		{"conflict, lock, time", llm.Transient, 408, "timeout", false},
		{"out of order", llm.Transient, 500, "internal error", false},
		{"out of order", llm.Transient, 529, "", false},
		{"request, in a good answer", llm.Invalid, 200, "invalid_request_error extra fields", false},
		{"error in a good answer", llm.Transient, 200, "something broke", false},
		{"unknown", llm.Invalid, 400, "bad parameter", false},
		{"unknown", llm.Invalid, 422, "field required", false},
		{"unknown", llm.Invalid, 418, "teapot", false},
	} {
		got := classOf(refusal{c.status, strings.ToLower(c.said), c.retryAfter, true})
		if seen[got.name] = true; got.name != c.class || got.kind != c.kind {
			t.Errorf("%d %q: %s (%s), want %s (%s)", c.status, c.said, got.name, got.kind, c.class, c.kind)
		}
	}
	for _, c := range classes {
		if !seen[c.name] {
			t.Errorf("no refusal tests class %q", c.name)
		}
	}
}
