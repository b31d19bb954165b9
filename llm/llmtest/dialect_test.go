package llmtest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// bodies break the rules of the dialects, most of them in a way that nobody sends today.
var bodies = []string{
	`{"messages":[{"role":"user","content":"json"}]}`,
	`{"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"},{"role":"system","content":"c"}],"max_tokens":5,"temperature":0,"top_p":1}`,
	`{"messages":[{"role":"system","content":"s","name":"x"},{"role":"assistant","content":"a"}],"response_format":{"type":"json_object"},"tools":[{}]}`,
	`{"messages":[{"role":"user","content":"a"}],"response_format":{"type":"json_schema"},"tools":[{}],"store":true,"max_completion_tokens":9,"stream_options":{"include_usage":true}}`,
	`{"messages":[{"role":"user","content":"a"}],"response_format":{"type":"json_object"},"reasoning_effort":"low","logprobs":true}`,
	`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":" ","reasoning_content":"?","reasoning_details":[],"tool_calls":[{"id":"router_1_0_and_far_too_long_for_any_of_these_servers"}]},
		{"role":"tool","content":"r","name":"n","tool_call_id":"router_1_0"},{"role":"user","content":"b"}]}`,
	`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"id":"c"}]},{"role":"tool","content":"r","tool_call_id":"c"}]}`,
	`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"assistant","content":"","tool_calls":[{"id":"c"}]}]}`,
	`{"messages":[{"role":"developer","content":"json"},{"role":"user","content":"a"},{"role":"assistant","content":"b","name":"n","reasoning":"r"}],"parallel_tool_calls":true,"presence_penalty":1,"reasoning":{},"prompt_cache_key":"k"}`,
	`{"input":[{"type":"function_call","call_id":"one_that_is_longer_than_the_sixty_four_characters_that_are_allowed_here"}],"top_p":1}`,
	`{"input":[{"type":"reasoning","id":"rs","encrypted_content":"x"}],"temperature":1}`,
	`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"","thinking":"?","tool_calls":[{"id":"ollama_1_0"}]}],"n":2}`,
}

// A rule that refuses nothing, or everything, is none. Each names where it is from.
func TestRulesRefuse(t *testing.T) {
	for _, d := range Dialects {
		for _, rule := range d.Rules {
			refused, passed := 0, 0
			for i, body := range bodies {
				s := Sent{Header: http.Header{}}
				if i == 0 {
					s.Header.Set("api-key", "k")
					s.Query = "api-version=1"
				}
				if err := json.Unmarshal([]byte(body), &s.Body); err != nil {
					t.Fatal(err)
				}
				list, _ := s.Body["messages"].([]any)
				for _, item := range list {
					turn := turnOf(item)
					s.HasCalls = s.HasCalls || len(turn.Calls) > 0
					s.Turns = append(s.Turns, turn)
				}
				if rule.Check(s) != "" {
					refused++
				} else {
					passed++
				}
			}
			if refused == 0 || passed == 0 || !strings.HasPrefix(rule.Source, "https://") {
				t.Errorf("%s: %q refuses %d of %d, source %s", d.Name, rule.Name, refused, len(bodies), rule.Source)
			}
		}
	}
}

const question = `"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]`

// What Anthropic refuses, in its own words.
func TestAnthropicRefuses(t *testing.T) {
	for words, body := range map[string]string{
		"max_tokens: Field required": `{"messages":[]}`,
		"max_tokens: 9000 > 8192":    `{"max_tokens":9000}`,
		"first message must use":     `{"max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"text","text":"a"}]}]}`,
		"cannot both be specified":   `{"max_tokens":1,"temperature":1,"top_p":1}`,
		"non-whitespace":             `{"max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":" "}]}]}`,
		"must end with a user":       `{"max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"text","text":"a"}]}]}`,
		"`tool_use` ids were found": `{"max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"tool_use","id":"c"}]},
			{"role":"user","content":[{"type":"text","text":"a"}]}]}`,
		"must come first": `{"max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"tool_use","id":"c"}]},
			{"role":"user","content":[{"type":"text","text":"a"},{"type":"tool_result","tool_use_id":"c"}]}]}`,
		"cannot be modified": `{"max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"y"}]},
			{"role":"user","content":[{"type":"text","text":"a"}]}]}`,
		"the first block must be": `{"max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"thinking"}]},
			{"role":"user","content":[{"type":"text","text":"a"}]}]}`,
		"A maximum of 4 blocks":                 `{"max_tokens":1,"system":[{"cache_control":1},{"cache_control":1},{"cache_control":1},{"cache_control":1},{"cache_control":1}]}`,
		"temperature` is deprecated":            `{"model":"claude-opus-4-8","max_tokens":1,"temperature":1,` + question + `}`,
		"thinking.type.adaptive":                `{"model":"claude-opus-4-8","max_tokens":2000,"thinking":{"type":"enabled","budget_tokens":1024},` + question + `}`,
		"adaptive thinking is not supported":    `{"model":"claude-haiku-4-5","max_tokens":1,"thinking":{"type":"adaptive"},` + question + `}`,
		"greater than or equal to 1024":         `{"max_tokens":2000,"thinking":{"type":"enabled","budget_tokens":1000},` + question + `}`,
		"must be greater than `thinking.budget": `{"max_tokens":1024,"thinking":{"type":"enabled","budget_tokens":1024},` + question + `}`,
		"only be set to 1":                      `{"max_tokens":1,"temperature":0,"thinking":{"type":"adaptive"},` + question + `}`,
		"forces tool use":                       `{"max_tokens":1,"tool_choice":{"type":"any"},"thinking":{"type":"adaptive"},` + question + `}`,
		"but found `tool_use`": `{"max_tokens":2000,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[{"role":"user","content":[{"type":"text","text":"a"}]},
			{"role":"assistant","content":[{"type":"tool_use","id":"c"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c"}]}]}`,
		"bound to a different conversation": `{"model":"claude-sonnet-5-5","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"a"}]},
			{"role":"assistant","content":[{"type":"thinking","thinking":"I think of words.","signature":"c2lnbmVkwords.0123456789abcdef"}]},{"role":"user","content":[{"type":"text","text":"a"}]}]}`,
	} {
		var w anthropicRequest
		if err := json.Unmarshal([]byte(body), &w); err != nil {
			t.Fatal(err)
		}
		err := checkAnthropic(w, http.Header{"X-Api-Key": {"k"}, "Anthropic-Version": {"v"}})
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("want %q, got %v", words, err)
		}
	}
}
