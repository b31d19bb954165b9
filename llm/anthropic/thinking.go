package anthropic

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"agent/internal/lazyregexp"
	"agent/llm"
	"agent/llm/httpx"
)

// Steps that only this API has, beside those of package llm.
const (
	stepAdaptive = "adaptive_thinking" // the model takes no budget, it thinks as it needs to
	stepDrop     = "drop_thinking"     // the server leaves out thoughts of another conversation
	stepUnasked  = "no_thinking"       // thinking is not asked for
	stepLimit    = "max_tokens="       // with the tokens that the model writes at most
)

// leastBudget is that of thinking, and what is left for the answer.
// https://platform.claude.com/docs/en/build-with-claude/extended-thinking
const leastBudget = 1024

// dropping is the value of the header anthropic-beta that goes with [stepDrop].
// https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/fix-bound-to-a-different-conversation
const dropping = "thinking-binding-controls-2026-08-01"

type wireThinking struct {
	Type    string       `json:"type"`
	Budget  int          `json:"budget_tokens,omitempty"`
	Binding *wireBinding `json:"block_binding,omitempty"`
}

type wireBinding struct {
	Mismatch string `json:"prefix_mismatch_behavior"`
}

func (s shape) took(step string) bool { return slices.Contains(s.steps, step) }

// thinking is what a request says of it: nothing, unless the configuration asks for
// thinking, or thoughts from before a compaction go back to a model that minds.
func (s shape) thinking(turns []wireMessage) *wireThinking {
	budget := min(s.budget, s.limit-leastBudget)
	switch {
	case s.Reasoning == llm.ReasoningNone:
		return nil
	case s.took(stepDrop):
		return &wireThinking{Type: "adaptive", Binding: &wireBinding{"drop_block"}}
	case s.budget == 0 || s.took(stepUnasked):
		return nil
	case s.took(stepAdaptive):
		return &wireThinking{Type: "adaptive"}
	case budget < leastBudget || startsMidway(turns):
		return nil
	}
	return &wireThinking{Type: "enabled", Budget: budget}
}

// startsMidway is true while the results of calls are sent that were made without a
// thought, as those of another model were. With a budget, thinking may begin at the next turn only.
func startsMidway(turns []wireMessage) bool {
	n := len(turns)
	if n < 2 || turns[n-2].Role != string(llm.Assistant) || len(turns[n-2].Content) == 0 {
		return false
	}
	results := slices.ContainsFunc(turns[n-1].Content, func(b wireBlock) bool { return b.CallID != "" })
	return results && turns[n-2].Content[0].raw == nil
}

// refusals are what the API refuses by name, and the steps that follow.
var refusals = []struct {
	step  string
	sent  func(shape) bool // whether it can be about this request
	words []string
}{
	{stepAdaptive, func(s shape) bool { return s.budget > 0 }, []string{"thinking.type.adaptive"}},
	{stepDrop, func(shape) bool { return true }, []string{"prefix_mismatch_behavior"}},
	{llm.StepNoReasoning, func(s shape) bool { return s.Reasoning != llm.ReasoningNone },
		[]string{"prefix_mismatch_behavior", "anthropic-beta", "`signature` in `thinking`", "`redacted_thinking` blocks"}},
	{stepUnasked, func(s shape) bool { return s.budget > 0 }, []string{"thinking is not supported", "not support thinking", "not support extended thinking", "thinking.type", "budget_tokens"}},
}

var tooMany = lazyregexp.New(`max_tokens: \d+ > (\d+)`)

// refused is the step that a refusal asks for, "" if it names none or it was taken.
func refused(s shape, err error) string {
	var e *llm.Error
	if !errors.As(err, &e) || e.Status != http.StatusBadRequest || e.Kind == llm.ContextOverflow || e.Kind == llm.Quota {
		return ""
	}
	if found := tooMany.FindStringSubmatch(e.Message); found != nil {
		if n, _ := strconv.Atoi(found[1]); n > 0 && n < s.limit && !s.limited {
			return stepLimit + found[1]
		}
	}
	for _, line := range refusals {
		if line.sent(s) && !s.took(line.step) && httpx.Mentions(e.Message, line.words...) {
			return line.step
		}
	}
	return ""
}

// learn keeps a step for a model.
func (p *Provider) learn(model, step string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.learned[model], step) {
		p.learned[model] = append(p.learned[model], step)
	}
}

// shape is how one request is written.
type shape struct {
	llm.Profile
	steps  []string
	stream bool
	from   string // who may read what is opaque
	budget int    // tokens of thinking that are asked for, 0 for none

	limit   int  // tokens of the answer
	limited bool // as the server said
}

func (p *Provider) shape(r llm.Request) shape {
	s := shape{steps: slices.Clone(r.Shape), stream: !p.config.NoStream, from: p.host + " " + r.Model, limit: maxTokens, budget: p.config.Thinking}
	p.mu.Lock()
	for _, step := range p.learned[r.Model] {
		if !s.took(step) {
			s.steps = append(s.steps, step)
		}
	}
	p.mu.Unlock()
	s.Profile = llm.ProfileNamed("anthropic").With(s.steps...)
	if r.ContextLength > 0 {
		s.limit = min(s.limit, r.ContextLength/4)
	}
	for _, step := range s.steps {
		if n, err := strconv.Atoi(strings.TrimPrefix(step, stepLimit)); err == nil && strings.HasPrefix(step, stepLimit) {
			s.limit, s.limited = min(s.limit, n), true
		}
	}
	return s
}
