package llmtest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
)

// wireThinking is what a request says of thinking.
type wireThinking struct {
	Type    string `json:"type"`
	Budget  int    `json:"budget_tokens"`
	Binding *struct {
		Mismatch string `json:"prefix_mismatch_behavior"`
	} `json:"block_binding"`
}

// thinker is what a model does with thinking, by its name.
// https://platform.claude.com/docs/en/build-with-claude/thinking
type thinker struct{ budget, adaptive, bound bool }

func thinkerOf(model string) thinker {
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(model, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("-5-5", "-5-1", "-5-2"):
		return thinker{adaptive: true, bound: true}
	case has("-4-7", "-4-8", "-sonnet-5", "-opus-5"):
		return thinker{adaptive: true}
	case has("-4-5", "-4-1"):
		return thinker{budget: true}
	}
	return thinker{budget: true, adaptive: true}
}

// asked are the rules about thinking that is asked for.
// https://platform.claude.com/docs/en/build-with-claude/extended-thinking
func asked(w anthropicRequest) string {
	th, can := w.Thinking, thinkerOf(w.Model)
	sampling := w.Temperature != nil || w.TopP != nil
	switch {
	case !can.budget && sampling: // https://github.com/pollinations/pollinations/pull/11319
		return "`temperature` is deprecated for this model."
	case th == nil:
		return ""
	case th.Type == "enabled" && !can.budget: // https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting
		return `"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`
	case th.Type == "adaptive" && !can.adaptive: // https://github.com/docker/docker-agent/pull/3381
		return "adaptive thinking is not supported on this model"
	case th.Type == "enabled" && th.Budget < 1024:
		return "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
	case th.Type == "enabled" && th.Budget >= w.MaxTokens:
		return "`max_tokens` must be greater than `thinking.budget_tokens`."
	case sampling: // https://github.com/dotCipher/opencode-claude-bridge/pull/1
		return "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode."
	case w.Choice != nil && w.Choice.Type != "auto" && w.Choice.Type != "none":
		return "Thinking may not be enabled when tool_choice forces tool use."
	case th.Type == "enabled":
		return beginsWithThought(w.Messages)
	}
	return ""
}

// beginsWithThought wants a thought first in the turn whose results are sent. Adaptive
// thinking does not want it. https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking
func beginsWithThought(turns []anthropicTurn) string {
	n := len(turns)
	if n < 2 || len(turns[n-2].Content) == 0 || turns[n-1].Content[0].Type != "tool_result" {
		return ""
	}
	first := turns[n-2].Content[0].Type
	return unless(first == "thinking", fmt.Sprintf("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).", n-2, first))
}

// dropsBlocks is true if a request lets the server leave out what is bound elsewhere.
func dropsBlocks(w anthropicRequest, h http.Header) bool {
	return w.Thinking != nil && w.Thinking.Type == "adaptive" && w.Thinking.Binding != nil && w.Thinking.Binding.Mismatch == "drop_block" &&
		h.Get("anthropic-beta") == "thinking-binding-controls-2026-08-01"
}

// binding is what ties a thought of some models to all that stood before it.
// https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks
func binding(w anthropicRequest, turns int) string {
	if !thinkerOf(w.Model).bound {
		return ""
	}
	sum := sha256.New()
	for _, t := range w.Tools {
		sum.Write([]byte(marshal([]any{t.Name, t.Schema})))
	}
	blocks := func(role string, all []anthropicBlock) {
		for _, b := range all {
			b.Cache = nil
			sum.Write([]byte(marshal([]any{role, b})))
		}
	}
	blocks("system", w.System)
	for _, t := range w.Messages[:turns] {
		blocks(t.Role, t.Content)
	}
	return "." + hex.EncodeToString(sum.Sum(nil))[:16]
}

// thoughts wants thinking first, and as it was given.
func thoughts(w anthropicRequest, h http.Header) string {
	for i, t := range w.Messages {
		for n, b := range t.Content {
			if b.Type != "thinking" {
				continue
			}
			if t.Content[0].Type != "thinking" {
				return fmt.Sprintf("messages.%d.content.0: If an assistant message contains any thinking blocks, the first block must be `thinking` or `redacted_thinking`. Found `%s`.", i, t.Content[0].Type)
			}
			about := strings.TrimSuffix(strings.TrimPrefix(b.Thinking, reasoningBegins), ".")
			given, bound, _ := strings.Cut(b.Signature, ".")
			if given != signatureFor(about) || b.Cache != nil { // https://github.com/openclaw/openclaw/pull/27768
				return fmt.Sprintf("messages.%d.content.%d: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.", i, n)
			}
			if want := binding(w, i); want != "" && "."+bound != want && !dropsBlocks(w, h) {
				return fmt.Sprintf("messages.%d.content.%d: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\".", i, n)
			}
		}
	}
	return ""
}
