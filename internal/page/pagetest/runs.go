// Package pagetest holds hostile and long runs for the tests of pages, also those in a browser.
package pagetest

import (
	"fmt"
	"strings"

	"agent/eventlog/event"
)

// Hostile are texts that try to be more than text.
var Hostile = []string{
	`<script>document.title='owned'</script>`, `</script><script>document.title='owned'</script>`, `</pre></details></style></title><img src=x onerror="document.title='owned'">`,
	`" onmouseover="document.title='owned'" autofocus onfocus="document.title='owned'" x="`, `'><svg/onload=document.title='owned'>`,
	`<iframe srcdoc="<script>parent.document.title='owned'</script>">`, `<meta http-equiv=refresh content="0;url=https://example.com/">`,
	`[x](javascript:document.title='owned') <a href="javascript:document.title='owned'">y</a> ![z](x onerror=alert)`,
	"\x1b[2J\x1b]0;owned\a\x1b]8;;https://evil.example\x1b\\x", "\u202egnp.exe\u2066\u200b\U000e0041", "\u009b31m\u0085\u008d\x7f\x00", "{{.UUID}} ${x} `x` <%= x %>",
	"\xff\xfe broken \xc3(", strings.Repeat("<img src=x onerror=document.title='owned'>", 300),
}

// Everywhere puts a text into every text of the events of a run.
func Everywhere(s string) []event.Body {
	t := event.T(s)
	return []event.Body{
		&event.ConfigPinned{Provider: s, Model: s, Language: "en"}, &event.ProcessStarted{Version: s, Host: s},
		&event.TaskFetched{Title: s, Body: t, Author: s, Labels: []string{s}, URL: "javascript:" + s}, &event.WorkspacePrepared{Dir: s, Error: s},
		&event.ProjectRead{Rules: []event.RuleFile{{Path: s, Text: t}}, Files: t, Map: t}, &event.ToolsListed{Servers: []event.Server{{Name: s, Prompt: s, Tools: []event.Tool{{Name: s, Description: s}}}}},
		&event.CommentsFetched{Comments: []event.Comment{{ID: s, Author: s, Verdict: event.CommentClass(s), Body: t}}}, &event.PhaseEntered{Phase: s}, &event.ActionStarted{Action: s},
		&event.MessageAdded{Role: "user", Purpose: event.MessagePurpose(s), Content: t}, &event.MessageAdded{Role: s, Purpose: event.MessagePurpose(s), Content: t},
		&event.UnderstandingMade{Understanding: event.Understanding{TaskType: s, Goal: s}},
		&event.PlanMade{Plan: event.Plan{Goal: event.Goal{Objective: s, Criteria: []string{s}}, Actions: event.ActionPlan{Actions: []event.Action{{ID: s, Purpose: s, Tool: s}}}}},
		&event.PlanRevised{Trigger: s, Revision: event.Revision{Reason: s, Changes: []event.Change{{Type: s, Details: s}}, Actions: event.ActionPlan{Actions: []event.Action{{ID: s, Purpose: s, Tool: s}}}}},
		&event.LLMRequested{Purpose: s, Model: s, Attempt: 1}, &event.LLMReplied{Text: t, Reasoning: t, Finish: s, Model: s, Calls: []event.ToolCall{{ID: s, Name: s, Args: t}}, Raw: t},
		&event.ToolRequested{Server: s, Tool: s, Args: t}, &event.ToolReplied{Content: t},
		&event.ToolRequested{Server: "w", Tool: "t", Args: event.T(`{"argv":["x"]}`)}, &event.ToolFailed{Kind: s, Message: s},
		&event.ToolRequested{Server: "w", Tool: "t"}, &event.ToolInterrupted{Reason: s},
		&event.LLMRequested{Purpose: "work", Model: "m"}, &event.LLMFailed{Kind: s, Message: s, Partial: t},
		&event.CommentRequested{Purpose: s, Body: t, Edit: s}, &event.CommentPosted{ID: s, URL: "javascript:" + s},
		&event.CommentRequested{Purpose: "progress", Body: t}, &event.CommentFailed{Kind: s, Message: s},
		&event.LabelsRequested{Purpose: s, Add: []string{s}}, &event.LabelsFailed{Kind: s, Message: s},
		&event.ChangeRequested{Branch: s, Base: s, Title: s, Body: t}, &event.ChangeOpened{URL: "javascript:" + s, Branch: s, Files: []string{s}, Patch: t},
		&event.SummaryAdded{Purpose: event.SummaryPurpose(s), Text: t}, &event.ReflectionMade{Reflection: event.Reflection{Evaluation: s}}, &event.LimitReached{Limit: s},
		&event.WorkspaceSaved{Reason: s, Error: s, Files: []event.SavedFile{{Path: s, Change: s}}, Count: 1},
		&event.Unknown{Name: "brand.new", Data: fmt.Appendf(nil, `{"x":%q}`, strings.ToValidUTF8(strings.Map(plain, s), "?"))},
		&event.ActionFinished{Action: s, Status: s, Detail: s}, &event.PauseRequested{By: s}, &event.ContextPaused{Reason: event.PauseReason(s), Until: event.Until{Kind: s}},
		&event.ResumeRequested{By: s, Actor: s}, &event.ContextResumed{}, &event.ContextFailed{Reason: event.EndReason(s)},
	}
}

func plain(r rune) rune {
	if r < ' ' || r > '~' || r == '"' || r == '\\' {
		return '?'
	}
	return r
}

// Long is a run of so many steps, with outputs of so many bytes.
func Long(steps, output int) []event.Body {
	bodies := []event.Body{&event.ProcessStarted{}, &event.MessageAdded{Role: "user", Purpose: "task", Content: event.T("A long task.")}}
	for i := range steps {
		text := strings.Repeat(fmt.Sprintf("line %d: \"a\" <b> & 'c'\n", i), output/24+1)
		bodies = append(bodies,
			&event.LLMRequested{Purpose: "work", Model: "big", Attempt: 1},
			&event.LLMReplied{Text: event.T("I go on with the next part of the work."), Finish: "tool_calls", Usage: event.Usage{Prompt: 4000 + 50*i, Completion: 80 + i%37}, CostUSD: 0.01, DurationMS: int64(900 + i%700),
				Calls: []event.ToolCall{{ID: "c", Name: "workspace__run_command", Args: event.T(`{"argv":["go","test"]}`)}}},
			&event.ToolRequested{Reply: uint64(5 + 4*i), Server: "workspace", Tool: "run_command", Args: event.T(`{"argv":["go","test"]}`)},
			&event.ToolReplied{Content: event.T("exit code: 0\n" + text), DurationMS: int64(200 + i%900)})
	}
	return bodies
}
