package llm

import (
	"math"
	"testing"
)

func TestPrices(t *testing.T) {
	for model, known := range map[string]bool{
		"gpt-4o": true, "gpt-4o-2024-11-20": true, "claude-sonnet-4-20250514": true, "claude-sonnet-4-5": true, "gpt-4o-mini": true,
		"gpt-5-pro": false, "gpt-4o-audio-preview": false, "scripted": false, "": false,
	} {
		if _, ok := PriceOf(model); ok != known {
			t.Errorf("%q: %v", model, ok)
		}
	}
	p, _ := PriceOf("gpt-4o")
	if got := p.Of(Usage{Prompt: 1000, Cached: 400, Completion: 100}); math.Abs(got-0.003) > 1e-9 {
		t.Errorf("costs %g", got)
	}
}
