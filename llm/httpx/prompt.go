package httpx

import (
	"fmt"

	"agent/llm"
)

// CheckPrompt is nil unless the server has cut the prompt of r. Setting says what a
// person can change about the server's window.
func CheckPrompt(r llm.Request, u llm.Usage, setting string) error {
	if !llm.PromptCut(r, u) {
		return nil
	}
	return &llm.Error{Kind: llm.Truncated, Usage: u, Message: fmt.Sprintf(
		"the server has cut the prompt: it counted %d tokens of about %d, although a window of %d is configured; %s",
		u.Prompt, llm.EstimateRequest(r), r.ContextLength, setting)}
}
