package openai

import (
	"errors"
	"net/http"
	"slices"

	goopenai "github.com/sashabaranov/go-openai"

	"agent/llm"
	"agent/llm/httpx"
)

// api is where to try r first: what is configured, what was found out before, else what the library
// knows of the newest models, else chat completions.
func (p *Provider) api(r llm.Request) string {
	if p.config.API != "" {
		return p.config.API
	}
	if api, ok := p.apis.Load(r.Model); ok {
		return api.(string)
	}
	refusal := goopenai.NewReasoningValidator().Validate(goopenai.ChatCompletionRequest{Model: r.Model, Tools: chatTools(slices.Concat(r.Tools, r.Kept))})
	if !p.config.NoResponses && errors.Is(refusal, goopenai.ErrReasoningToolsRequireResponses) {
		return llm.APIResponses
	}
	return llm.APIChat
}

func otherThan(api string) string {
	if api == llm.APIChat {
		return llm.APIResponses
	}
	return llm.APIChat
}

// wrongAPI says whether err means that the model or the server wants the other
// API. OpenAI says so in a text only, under 400 or 404; a server without the
// Responses API has no such path.
func wrongAPI(api string, err error) bool {
	var e *llm.Error
	if !errors.As(err, &e) {
		return false
	}
	if api == llm.APIChat {
		refused := e.Status == http.StatusBadRequest || e.Status == http.StatusNotFound
		return refused && httpx.Mentions(e.Message, "v1/responses", "responses api", "not a chat model")
	}
	switch e.Status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return !httpx.Mentions(e.Message, "model")
	}
	return false
}
