package llmtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

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
	Skimming  Mode = "skimming"  // chat completions; nothing is decoded, for measurements: see Server.skim
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
	base := cmp.Or(s.dialect.Base, "/v1")
	mux.HandleFunc("POST /openai/deployments/{name}/chat/completions", s.serve(s.parseChat))
	chat := s.serve(s.parseChat)
	if s.mode == Skimming {
		chat = s.skim
	}
	mux.HandleFunc("POST "+base+"/chat/completions", chat)
	mux.HandleFunc("GET "+base+"/models", models)
	if s.mode == LMStudio {
		mux.HandleFunc("GET /api/v0/models", lmStudioModels)
		return mux
	}
	mux.HandleFunc("POST "+base+"/responses", s.serve(parseResponses))
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

// said puts an error into the shape of the server: OpenAI sends an object, others a
// text, and Mistral the object's fields alone, with a list of what is wrong with fields:
// https://github.com/nomtek/mistralai_client_dart/issues/44,
// https://github.com/nicholasgriffintn/ai-platform/issues/414.
func (d Dialect) said(reply Reply) Reply {
	var body struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	flat := d.Flat || d.Mode == Ollama || d.Mode == LMStudio
	if !flat && !d.Listed || reply.Status < 400 || json.Unmarshal([]byte(reply.Body), &body) != nil || body.Error.Message == "" {
		return reply
	}
	if flat {
		reply.Body = marshal(map[string]string{"error": body.Error.Message})
		return reply
	}
	var message any = body.Error.Message
	if strings.HasPrefix(body.Error.Message, "[") {
		message = map[string]any{"detail": json.RawMessage(body.Error.Message)}
	}
	reply.Body = marshal(map[string]any{"object": "error", "message": message, "type": "invalid_request_error", "param": nil, "code": nil})
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
