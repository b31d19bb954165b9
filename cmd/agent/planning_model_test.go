package main

import (
	"encoding/json"
	"fmt"
	"testing"

	"agent/internal/exhaustive"
	"agent/llm/llmtest"
)

// inText makes the calls of a script as text where no tools are offered.
func inText(script llmtest.Script) llmtest.Script {
	return func(n int, r llmtest.Request) llmtest.Reply {
		said := script(n, r)
		if len(r.Tools) > 0 || len(said.Calls) == 0 {
			return said
		}
		c := said.Calls[0]
		return llmtest.JSONCommand("workspace/"+c.Name[len("workspace__"):], json.RawMessage(c.Arguments), "")
	}
}

// TestPlanningModels goes through every phase with each way to call tools and
// each kind of server: they all come to the same end.
func TestPlanningModels(t *testing.T) {
	t.Parallel()
	var want string
	for _, m := range exhaustive.Sample([]struct {
		name, llm string
		mode      llmtest.Mode
	}{
		{"tools", "", llmtest.OpenAI},
		{"json", "\n  protocol: json", llmtest.OpenAI},
		{"ollama", "\n  provider: ollama\n  ollama: {endpoint: %q, model: scripted}", llmtest.Ollama},
		{"lmstudio", "\n  provider: lmstudio\n  lmstudio: {base_url: %q, model: scripted}", llmtest.LMStudio},
	}, 3) {
		t.Run(m.name, func(t *testing.T) {
			c := newTalk(t, forges[0], planner)
			c.model = llmtest.New(summarising(inText(planner)), m.mode)
			t.Cleanup(c.model.Close)
			if c.llm = m.llm; m.mode != llmtest.OpenAI {
				c.llm = fmt.Sprintf(m.llm, c.model.URL())
			}
			c.extra = planningOn
			c.agent(0, "run")
			got := c.planEnd()
			got.Final = "" // of the sizes that the servers count
			for _, r := range c.model.Requests() {
				if m.name == "json" && len(r.Tools) > 0 {
					t.Errorf("tools are offered:\n%s", r.Raw)
				}
			}
			if end := fmt.Sprintf("%+v", got); want == "" {
				want = end
			} else if end != want {
				t.Errorf("ended as\n%s\nwant\n%s", end, want)
			}
		})
	}
}
