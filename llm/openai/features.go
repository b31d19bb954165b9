package openai

import (
	"errors"
	"net/http"

	"agent/llm"
	"agent/llm/httpx"
)

// features are the optional fields of one request.
type features struct {
	stream, usage, format, schema bool
	toolChoice                    string
}

func (p *Provider) features() features {
	stream := !p.config.NoStream
	return features{
		stream: stream, usage: stream && !p.noUsage.Load(), format: !p.noFormat.Load(), schema: !p.noSchema.Load(),
		toolChoice: p.config.ToolChoice,
	}
}

// withdraw says whether err is the refusal of an optional field that was sent,
// and leaves the field out from now on.
func (p *Provider) withdraw(sent features, r llm.Request, err error) bool {
	var e *llm.Error
	if !errors.As(err, &e) || e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return false
	}
	switch {
	case sent.usage && httpx.Mentions(e.Message, "stream_options", "include_usage"):
		p.noUsage.Store(true)
	case sent.schema && len(r.Schema) > 0 && httpx.Mentions(e.Message, "response_format", "text.format", "json_schema", "grammar"):
		p.noSchema.Store(true)
	case sent.format && r.JSON && httpx.Mentions(e.Message, "response_format", "text.format", "json_object"):
		p.noFormat.Store(true)
	default:
		return false
	}
	return true
}
