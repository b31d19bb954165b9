package anthropic

import (
	"context"
	"errors"
	"net/http"

	"agent/llm"
	"agent/llm/httpx"
)

// Check implements [llm.Checker]. A model is asked for by its name, because lists do
// not hold the short ones.
func (p *Provider) Check(ctx context.Context) (llm.Info, error) {
	var one struct {
		ID      string `json:"id"`
		Context int    `json:"max_input_tokens"` // newer servers
	}
	err := p.client.JSON(ctx, http.MethodGet, p.client.URL("v1", "models", p.config.Model), nil, &one)
	if err == nil && one.ID != "" {
		return llm.Info{Reachable: true, ModelPresent: true, Context: one.Context, Models: []string{one.ID}}, nil
	}
	var e *llm.Error
	if !errors.As(err, &e) || e.Status != http.StatusNotFound {
		return llm.Info{Reachable: httpx.Reached(err)}, err
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := p.client.JSON(ctx, http.MethodGet, p.client.URL("v1", "models"), nil, &list); err != nil {
		return llm.Info{Reachable: httpx.Reached(err)}, err
	}
	info := llm.Info{Reachable: true}
	for _, m := range list.Data {
		info.Models = append(info.Models, m.ID)
	}
	return info, p.client.Absent(p.config.Model, info.Models, "name one of its own as the model")
}
