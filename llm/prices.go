package llm

import (
	"cmp"

	"agent/internal/lazyregexp"
)

// Price is in USD per million tokens.
type Price struct{ Input, Cached, Output float64 }

// prices are list prices of models of their makers. They are of use as long as nobody
// changes them; llm.prices of the configuration stands before them. A model that is
// not named here has no price.
//
// Compared with public pages in November 2026, as far as they were at hand:
//   - Other models of OpenAI, input and output: https://deploybase.ai/articles/openai-pricing, a
//     copy of OpenAI's page of March 2026.
//   - Gemini 2.5, input and output, for prompts of up to 200,000 tokens (longer ones of
//     the pro model cost more): https://deploybase.ai/articles/gemini-api-pricing, March 2026.
//   - claude-haiku-4-5, input and output: https://platform.claude.com/docs/zh-CN/models/sonnet-5-5/overview;
//     claude-opus-4-1, input: https://platform.claude.com/docs/zh-CN/build-with-claude/prompt-caching.
//   - claude-sonnet-5-5 and claude-sonnet-5, all: their pages there, and
//     https://platform.claude.com/docs/en/models/sonnet-5-5/migration-guide for what is cached.
//   - gpt-6.1-sol: https://vercel.com/ai-gateway/models/gpt-6.1-sol.md, and
//     https://dev.to/hassann/how-to-use-gpt-61-sol-apl--45cg for what is cached.
//
// What is cached by others and the other prices of Claude were not compared; they are those of November
// 2025: https://openai.com/api/pricing, https://www.anthropic.com/pricing#api,
// https://ai.google.dev/gemini-api/docs/pricing. DeepSeek has no price here, since it
// changes with the hour of the day: https://api-docs.deepseek.com/quick_start/pricing.
var prices = map[string]Price{
	"gpt-4o":       {2.5, 1.25, 10},
	"gpt-4o-mini":  {0.15, 0.075, 0.6},
	"gpt-4.1":      {2, 0.5, 8},
	"gpt-4.1-mini": {0.4, 0.1, 1.6},
	"gpt-4.1-nano": {0.1, 0.025, 0.4},
	"o3":           {2, 0.5, 8},
	"o4-mini":      {1.1, 0.275, 4.4},
	"gpt-5":        {1.25, 0.125, 10},
	"gpt-5-mini":   {0.25, 0.025, 2},
	"gpt-5-nano":   {0.05, 0.005, 0.4},
	"gpt-6.1-sol":  {2, 0.1, 10},

	"claude-sonnet-5-5": {2, 0.1, 10},
	"claude-sonnet-5":   {2, 0.2, 10},
	"claude-opus-4-1":   {15, 1.5, 75},
	"claude-sonnet-4":   {3, 0.3, 15},
	"claude-sonnet-4-5": {3, 0.3, 15},
	"claude-haiku-4-5":  {1, 0.1, 5},

	"gemini-2.5-pro":   {1.25, 0.125, 10},
	"gemini-2.5-flash": {0.3, 0.03, 2.5},
}

// dated is the end of the name of one version of a model.
var dated = lazyregexp.New(`-(\d{4}-\d\d-\d\d|\d{8}|latest|0)$`)

// PriceOf is the list price of a model, by its name with or without a date.
func PriceOf(model string) (Price, bool) {
	p, known := prices[model]
	if !known {
		p, known = prices[dated.ReplaceAllString(model, "")]
	}
	return p, known
}

// Of is what a call costs.
func (p Price) Of(u Usage) float64 {
	const million = 1e6
	return (float64(u.Prompt-u.Cached)*p.Input + float64(u.Cached)*cmp.Or(p.Cached, p.Input) + float64(u.Completion)*p.Output) / million
}
