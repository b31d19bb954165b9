package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"

	"agent/llm"
)

// Mode is the server that is played.
type Mode string

// The modes. What a script decides is the same in all of them.
const (
	OpenAI    Mode = ""          // chat completions and the Responses API
	Responses Mode = "responses" // OpenAI with a model that takes tools over the Responses API only
	LMStudio  Mode = "lmstudio"  // chat completions with LM Studio's refusals and errors
	Ollama    Mode = "ollama"    // Ollama's native API
	Anthropic Mode = "anthropic" // Anthropic's Messages API
)

// Window is the window in tokens that descriptions of the model tell.
const Window = 32768

func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	if s.mode == Ollama {
		mux.HandleFunc("POST /api/chat", s.serve(parseOllama))
		mux.HandleFunc("GET /api/tags", ollamaTags)
		mux.HandleFunc("POST /api/show", ollamaShow)
		return mux
	}
	if s.mode == Anthropic {
		mux.HandleFunc("POST /v1/messages", s.serve(s.parseAnthropic))
		mux.HandleFunc("GET /v1/models", models)
		mux.HandleFunc("GET /v1/models/{name}", anthropicModel)
		return mux
	}
	mux.HandleFunc("POST /openai/deployments/{name}/chat/completions", s.serve(s.parseChat))
	mux.HandleFunc("POST /v1/chat/completions", s.serve(s.parseChat))
	mux.HandleFunc("GET /v1/models", models)
	if s.mode == LMStudio {
		mux.HandleFunc("GET /api/v0/models", lmStudioModels)
		return mux
	}
	mux.HandleFunc("POST /v1/responses", s.serve(parseResponses))
	return mux
}

// parseChat adds what the modes refuse.
func (s *Server) parseChat(body []byte, h http.Header) (Request, error) {
	r, err := parse(body, h)
	switch {
	case err != nil:
	case s.mode == Responses && len(r.Tools) > 0:
		err = fmt.Errorf("Function tools with reasoning_effort are not supported for %s in /v1/chat/completions. "+
			"To use function tools, use /v1/responses or set reasoning_effort to 'none'.", r.Model)
	case s.mode == LMStudio:
		err = checkLMStudio(body, r)
	}
	return r, err
}

// said puts an error into the shape of the server: OpenAI sends an object, the
// others a text.
func (d Dialect) said(reply Reply) Reply {
	var body struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	flat := d.Flat || d.Mode == Ollama || d.Mode == LMStudio
	if !flat || reply.Status < 400 || json.Unmarshal([]byte(reply.Body), &body) != nil || body.Error.Message == "" {
		return reply
	}
	reply.Body = marshal(map[string]string{"error": body.Error.Message})
	return reply
}

// shape is how answers of one API are written.
type shape struct {
	events func(Reply, Request) []string // the chunks of a stream
	whole  func(Reply, Request) string
	kind   string // type of a stream
}

var shapes = map[string]shape{
	llm.APIChat:      {events, whole, "text/event-stream"},
	llm.APIResponses: {responsesEvents, responsesWhole, "text/event-stream"},
	llm.APIMessages:  {anthropicEvents, anthropicWhole, "text/event-stream"},
	llm.APINative:    {ollamaEvents, ollamaWhole, "application/x-ndjson"},
}
