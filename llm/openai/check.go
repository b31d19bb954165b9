package openai

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"agent/llm"
	"agent/llm/httpx"
)

// wireModel is an entry of GET /v1/models. OpenAI itself sends only the name;
// other servers say more, each under names and in shapes of its own.
type wireModel struct {
	ID            string          `json:"id"`
	MaxModelLen   json.RawMessage `json:"max_model_len"`        // vLLM
	ContextLength json.RawMessage `json:"context_length"`       // OpenRouter and others
	ContextWindow json.RawMessage `json:"context_window"`       // Groq
	MaxContext    json.RawMessage `json:"max_context_length"`   // Mistral
	Meta          json.RawMessage `json:"meta"`                 // llama.cpp
	Parameters    json.RawMessage `json:"supported_parameters"` // OpenRouter
	Capabilities  json.RawMessage `json:"capabilities"`         // Mistral
}

// context is 0 if none of the fields is a sensible number.
func (m wireModel) context() int {
	var meta struct {
		Context int `json:"n_ctx"`
	}
	if json.Unmarshal(m.Meta, &meta) == nil && meta.Context > 0 {
		return meta.Context
	}
	for _, raw := range []json.RawMessage{m.MaxModelLen, m.ContextLength, m.ContextWindow, m.MaxContext} {
		var n int
		if json.Unmarshal(raw, &n) == nil && n > 0 {
			return n
		}
	}
	return 0
}

func (m wireModel) tools() *bool {
	var parameters []string
	if json.Unmarshal(m.Parameters, &parameters) == nil && parameters != nil {
		has := slices.Contains(parameters, "tools")
		return &has
	}
	var capabilities struct {
		Functions *bool `json:"function_calling"`
	}
	if json.Unmarshal(m.Capabilities, &capabilities) == nil {
		return capabilities.Functions
	}
	return nil
}

// Check implements [llm.Checker] by the server's list of models.
func (p *Provider) Check(ctx context.Context) (llm.Info, error) {
	var list struct {
		Data []wireModel `json:"data"`
	}
	err := p.client.JSON(ctx, http.MethodGet, p.url("", "models"), nil, &list)
	if err != nil {
		return llm.Info{Reachable: httpx.Reached(err)}, err
	}
	info := llm.Info{Reachable: true}
	for _, m := range list.Data {
		info.Models = append(info.Models, m.ID)
		if m.ID == p.config.Model {
			info.Tools, info.Context = m.tools(), m.context()
		}
	}
	if p.config.APIVersion != "" { // Azure lists models, and not what they are deployed as
		info.ModelPresent = true
		return info, nil
	}
	if info.ModelPresent = httpx.Has(info.Models, p.config.Model); !info.ModelPresent {
		return info, p.client.Absent(p.config.Model, info.Models, "name one of its own as the model")
	}
	return info, nil
}
