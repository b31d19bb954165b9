package reply

import (
	"encoding/json"
	"fmt"
	"strings"

	"agent/eventlog/event"
	"agent/llm"
	"agent/llm/textcall"
	"agent/projections"
)

// parseText reads a native reply without calls: closing words, unless it is the
// JSON protocol's object and nothing else, announces a call, or ends with one
// that cannot be made. Prose that only quotes such an object stays prose.
func parseText(s *projections.State, r *event.LLMReplied, text string, names Names) Parsed {
	text = strings.TrimSpace(text)
	if text == "" {
		return Parsed{Problem: "Your reply was empty. Call a tool, or say what you did."}
	}
	if obj := wholeObject(text); obj != nil {
		return obj.parsed(names)
	}
	if problem := writtenProblem(textcall.Read(text, offered(s))); problem != "" {
		return Parsed{Problem: problem}
	}
	if r.Finish == "tool_calls" || r.Finish == "function_call" {
		return Parsed{Problem: "Your reply announced a tool call, but held none. Call the tool, or say what you did."}
	}
	return Parsed{Done: true, Comment: text}
}

// writtenProblem is what the model learns about a call that it wrote as text.
func writtenProblem(found textcall.Found) string {
	const how = "Call tools through the function calling interface, not as text."
	switch {
	case found.Problem == textcall.CutOff:
		return "Your reply ends in a tool call that is cut off. " + how
	case found.Problem == textcall.NotOffered && found.Name != "":
		return fmt.Sprintf("Your reply ends in a call of %q, which is not offered here. %s", found.Name, how)
	case found.Problem == textcall.BadArguments:
		return fmt.Sprintf("Your reply ends in a call of %q whose arguments are not a JSON object. %s", found.Name, how)
	case len(found.Calls) > 0: // nothing was offered when the model was asked
		return "Your reply ends in a tool call, but no tool can be called here. Reply without one."
	}
	return ""
}

// offered are the tools of a state under their native names.
func offered(s *projections.State) (tools []llm.Tool) {
	if s.Tools == nil {
		return nil
	}
	for _, server := range s.Tools.Servers {
		for _, t := range server.Tools {
			tools = append(tools, llm.Tool{Name: FunctionName(server.Name, t.Name), Schema: llm.FitSchema(t.Schema)})
		}
	}
	return tools
}

// wholeObject is the object of the JSON protocol that is all of a text, or all
// of the code block that is all of it; else nil.
func wholeObject(text string) *replyObject {
	if inner, ok := strings.CutPrefix(text, "```"); ok && strings.HasSuffix(inner, "```") {
		_, inner, _ = strings.Cut(strings.TrimSuffix(inner, "```"), "\n")
		text = strings.TrimSpace(inner)
	}
	var obj replyObject
	if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &obj) != nil || obj.Done == nil && obj.command() == nil {
		return nil
	}
	return &obj
}
