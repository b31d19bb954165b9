package ollama

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"agent/llm"
	"agent/llm/httpx"
)

// wireShow is the answer of POST /api/show. ModelInfo has the keys of the model's
// file: general.architecture, and others that begin with its value.
type wireShow struct {
	Capabilities []string                   `json:"capabilities"` // absent in older servers
	ModelInfo    map[string]json.RawMessage `json:"model_info"`
}

func (w wireShow) context() int {
	var architecture string
	var n int
	if json.Unmarshal(w.ModelInfo["general.architecture"], &architecture) != nil ||
		json.Unmarshal(w.ModelInfo[architecture+".context_length"], &n) != nil {
		return 0
	}
	return max(n, 0)
}

func (w wireShow) tools() *bool {
	if w.Capabilities == nil {
		return nil
	}
	has := slices.Contains(w.Capabilities, "tools")
	return &has
}

// Check implements [llm.Checker] by the lists of models and the description of
// the configured one. Info.Context is what the model was made for, which may be
// more than the machine has memory for.
func (p *Provider) Check(ctx context.Context) (llm.Info, error) {
	var tags struct {
		Models []struct {
			Name string `json:"name"`
		} `json:"models"`
	}
	if err := p.client.JSON(ctx, http.MethodGet, p.client.URL("api", "tags"), nil, &tags); err != nil {
		return llm.Info{Reachable: httpx.Reached(err)}, err
	}
	info := llm.Info{Reachable: true}
	for _, m := range tags.Models {
		info.Models = append(info.Models, m.Name)
	}
	if p.config.Model == "" {
		return info, p.client.Absent("", info.Models, "set llm.ollama.model")
	}
	var show wireShow
	asked := map[string]string{"model": p.config.Model}
	if err := p.client.JSON(ctx, http.MethodPost, p.client.URL("api", "show"), asked, &show); err != nil {
		return info, p.explain(err, llm.Request{Model: p.config.Model})
	}
	info.ModelPresent, info.Tools, info.Context = true, show.tools(), show.context()
	return info, nil
}
