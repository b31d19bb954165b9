package httpx

import (
	"net/http"

	"agent/llm"
)

// classify maps a failure to what the caller can do about it. Texts count more
// than the status for the three cases that servers report under many statuses.
func classify(status int, f fault, retryAfter, tools bool) llm.Kind {
	if status == http.StatusOK && f.status != 0 {
		status = f.status // an error inside of a stream brings its own
	}
	said := f.code + " " + f.message
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return llm.Auth
	case status == http.StatusTooManyRequests:
		return llm.RateLimited
	case Mentions(said, "error parsing tool call"):
		return llm.Transient // Ollama, and the model's text follows: none of its words count
	case overflows(said):
		return llm.ContextOverflow
	case tools && refusesTools(said):
		return llm.ToolsRefused
	case status == http.StatusNotFound, lacksModel(said):
		return llm.NotFound
	case status == http.StatusOK:
		return classifyText(f)
	}
	return classifyStatus(status, retryAfter)
}

func classifyStatus(status int, retryAfter bool) llm.Kind {
	switch {
	case status == http.StatusServiceUnavailable && retryAfter:
		return llm.RateLimited
	case status >= 500:
		return llm.Transient
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly:
		return llm.Transient
	}
	return llm.Invalid
}

// classifyText is for errors under status 200 without a status of their own.
func classifyText(f fault) llm.Kind {
	switch {
	case Mentions(f.code, "rate_limit", "too_many_requests"):
		return llm.RateLimited
	case Mentions(f.code, "invalid_api_key", "authentication", "permission"):
		return llm.Auth
	case Mentions(f.code, "invalid_request"):
		return llm.Invalid
	}
	return llm.Transient
}

func overflows(said string) bool {
	return Mentions(said, "context_length", "context length", "context size", "context_size", "context window",
		"prompt is too long", "input token count")
}

func refusesTools(said string) bool {
	return Mentions(said, "tool", "function") && Mentions(said, "support", "unrecognized", "not enabled", "--jinja", "--enable-auto-tool-choice")
}

func lacksModel(said string) bool {
	return Mentions(said, "model_not_found", "unexpected endpoint", "no models loaded") ||
		Mentions(said, "model") && Mentions(said, "not found", "does not exist")
}
