package engine_test

import (
	"encoding/json"
	"strings"

	"agent/llm"
	"agent/llm/llmtest"
)

// goal is one thing that the model wants to see done.
type goal struct {
	say  string // said beside the first call
	tool string
	args toolArgs
	// proven reports whether the result of a call of this tool on this path shows that it is done.
	proven func(tool, result string) bool
}

var goals = []goal{
	{"I read the notes first.", "read", toolArgs{Path: "notes.txt"},
		func(tool, _ string) bool { return tool == "read" }},
	{"I open the journal.", "append", toolArgs{Path: "journal.txt", Text: "began"},
		func(tool, result string) bool { return tool == "append" || strings.Contains(result, "began") }},
	{"I correct the notes.", "edit", toolArgs{Path: "notes.txt", Old: "wrong", Text: "right"},
		func(tool, result string) bool { return tool == "edit" || strings.Contains(result, "right") }},
	{"I look at the result and sign it.", "append", toolArgs{Path: "signature.txt", Text: "signed"},
		func(tool, result string) bool { return tool == "append" || strings.Contains(result, "signed") }},
}

const (
	closing = "The notes are right now."
	summed  = "The notes were corrected and the journal was kept."
)

// playGoals decides from the conversation alone. After a call that may or may
// not have happened it looks before it does it again.
func playGoals(_ int, r llmtest.Request) llmtest.Reply {
	if len(r.Tools) == 0 {
		return llmtest.Text(summed) // what the next attempt at the task inherits
	}
	results := resultsOf(r)
	if n := len(results); n > 0 && strings.HasPrefix(results[n-1].text, "interrupted") {
		return llmtest.ToolCall("files__read", toolArgs{Path: results[n-1].args.Path})
	}
	for i, g := range goals {
		tried, done := g.state(results)
		if done {
			continue
		}
		reply := llmtest.ToolCall("files__"+g.tool, g.args)
		if i == len(goals)-1 && !tried { // two calls at once
			reply = llmtest.ToolCalls(llmtest.Call("files__read", toolArgs{Path: "notes.txt"}), llmtest.Call("files__append", g.args))
		}
		if !tried {
			reply.Text = g.say
		}
		return reply
	}
	return llmtest.Text(closing)
}

// playOneRead reads the notes and is done.
func playOneRead(_ int, r llmtest.Request) llmtest.Reply {
	if len(r.Tools) > 0 && len(resultsOf(r)) == 0 {
		return llmtest.ToolCall("files__read", toolArgs{Path: "notes.txt"})
	}
	return llmtest.Text(closing)
}

func (g goal) state(results []toolResult) (tried, done bool) {
	for _, r := range results {
		if r.args.Path != g.args.Path {
			continue
		}
		tried = tried || r.tool == g.tool
		if !strings.HasPrefix(r.text, "interrupted") && !strings.HasPrefix(r.text, "there is no") {
			done = done || g.proven(r.tool, r.text)
		}
	}
	return tried, done
}

type toolResult struct {
	tool string
	args toolArgs
	text string
}

func resultsOf(r llmtest.Request) []toolResult {
	calls := map[string]llm.ToolCall{}
	var all []toolResult
	for _, m := range r.Messages {
		for _, c := range m.Calls {
			calls[c.ID] = c
		}
		if m.Role != llm.ToolRole {
			continue
		}
		c := calls[m.CallID]
		one := toolResult{tool: strings.TrimPrefix(c.Name, "files__"), text: m.Content}
		_ = json.Unmarshal([]byte(c.Arguments), &one.args) // our own words
		all = append(all, one)
	}
	return all
}
