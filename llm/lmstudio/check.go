package lmstudio

import (
	"context"
	"net/http"
	"slices"

	"agent/llm"
	"agent/llm/httpx"
)

// wireModel is an entry of GET /api/v0/models, LM Studio's own list.
type wireModel struct {
	ID            string   `json:"id"`
	Type          string   `json:"type"`  // llm, vlm, embeddings
	State         string   `json:"state"` // loaded, not-loaded
	LoadedContext int      `json:"loaded_context_length"`
	Capabilities  []string `json:"capabilities"` // absent in older versions
}

// Check implements [llm.Checker]. Info.Context is the window with which the
// model is loaded; LM Studio does not tell with which it would load one.
func (p *Provider) Check(ctx context.Context) (llm.Info, error) {
	var list struct {
		Data []wireModel `json:"data"`
	}
	err := p.client.JSON(ctx, http.MethodGet, p.client.RootURL("api", "v0", "models"), nil, &list)
	if err != nil && !httpx.Reached(err) {
		return llm.Info{}, err
	}
	if err != nil || list.Data == nil { // unknown paths are an error under status 200
		info, err := p.chat.Check(ctx)
		return info, p.explain(err)
	}
	info := llm.Info{Reachable: true}
	for _, m := range list.Data {
		if m.Type == "embeddings" {
			continue
		}
		info.Models = append(info.Models, m.ID)
		if m.ID == p.config.Model || p.config.Model == "" && m.State == "loaded" {
			m.describe(&info)
		}
	}
	if !info.ModelPresent {
		return info, p.explain(p.client.Absent(p.config.Model, info.Models, "load one"))
	}
	return info, nil
}

func (m wireModel) describe(info *llm.Info) {
	info.ModelPresent = true
	info.Context = max(m.LoadedContext, 0)
	if m.Capabilities != nil {
		has := slices.Contains(m.Capabilities, "tool_use")
		info.Tools = &has
	}
}
