package textcall

import (
	"strings"

	"agent/llm"
)

// state says what stands at a place.
type state int

const (
	other state = iota // no call
	whole              // a complete call, or several
	cut                // the beginning of a call without its end
)

// format is one way to write calls: what stands between two marks. The end of
// the text stands for a closing mark, since it may be the token that ended the
// answer, but the body must be complete.
type format struct {
	begin string
	ends  []string // the first that follows the body counts; none: the body ends the call
	body  func(text string, tools []llm.Tool) (calls []call, after string, st state)
}

// formats are those of models in use, by the first mark.
var formats = []format{
	{"<tool_call>", []string{"</tool_call>"}, anyBody},                                                    // Hermes, Qwen, GLM
	{"<tool_calls>", []string{"</tool_calls>"}, anyBody},                                                  //
	{"<|tool_call|>", []string{"<|/tool_call|>", "</|tool_call|>"}, jsonBody},                             // Granite, Phi
	{"<function=", nil, functionBody},                                                                     // Qwen's coding models, Llama
	{"<function_calls>", []string{"</function_calls>"}, invokes},                                          // Claude's older format, and imitations
	{"<minimax:tool_call>", []string{"</minimax:tool_call>"}, invokes},                                    //
	{"<invoke name=", nil, invokes},                                                                       //
	{"[TOOL_CALLS]", nil, mistralBody},                                                                    // Mistral
	{"[TOOL_REQUEST]", []string{"[END_TOOL_REQUEST]"}, jsonBody},                                          // LM Studio's own
	{"<|python_tag|>", []string{"<|eom_id|>", "<|eot_id|>"}, jsonBody},                                    // Llama
	{"<｜tool▁calls▁begin｜>", []string{"<｜tool▁calls▁end｜>"}, deepseekBody},                                // DeepSeek
	{"<|tool_calls_section_begin|>", []string{"<|tool_calls_section_end|>"}, kimiBody},                    // Kimi
	{"<|start|>assistant<|channel|>", nil, harmonyBody},                                                   // gpt-oss
	{"<|channel|>", nil, harmonyBody},                                                                     //
	{"```json\n", []string{"```"}, jsonBody},                                                              // many, without a parser
	{"```tool_call\n", []string{"```"}, jsonBody},                                                         //
	{"```\n", []string{"```"}, jsonBody},                                                                  //
	{"{", nil, func(text string, _ []llm.Tool) ([]call, string, state) { return objectBody("{" + text) }}, // all of the text
	{"[", nil, func(text string, _ []llm.Tool) ([]call, string, state) { return listBody("[" + text) }},
}

// ignored are marks between and after calls that mean nothing here.
var ignored = []string{"<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<|return|>", "</s>", "<|endoftext|>", "<｜end▁of▁sentence｜>"}

// next reads what stands at the beginning of text.
func next(text string, tools []llm.Tool) ([]call, string, state) {
	for _, mark := range ignored {
		if after, ok := strings.CutPrefix(text, mark); ok {
			return nil, after, whole
		}
	}
	for _, f := range formats {
		if rest, ok := strings.CutPrefix(text, f.begin); ok {
			return f.read(rest, tools)
		}
	}
	return nil, "", other
}

func (f format) read(text string, tools []llm.Tool) ([]call, string, state) {
	calls, after, st := f.body(strings.TrimSpace(text), tools)
	if st != whole || len(f.ends) == 0 {
		return calls, after, st
	}
	after = strings.TrimSpace(after)
	for _, end := range f.ends {
		if rest, ok := strings.CutPrefix(after, end); ok {
			return calls, rest, whole
		}
	}
	if after == "" {
		return calls, "", whole
	}
	return nil, "", other
}

// endsInMark is true for a text whose last word is the beginning of a mark.
func endsInMark(text string) bool {
	const least = 5 // characters: shorter ones begin many words
	for _, f := range formats {
		for n := min(len(f.begin), len(text)); n >= least; n-- {
			if strings.HasSuffix(text, f.begin[:n]) && !strings.HasPrefix(f.begin, "```") {
				return !inCode(text, len(text)-n)
			}
		}
	}
	return false
}
