package prompt

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	"agent/eventlog/event"
	"agent/handlers/format"
	"agent/handlers/reply"
	"agent/llm"
	"agent/projections"
)

// PlanningPrompts are the embedded prompts of the planning mode: system.txt,
// comment.txt, action.txt and one file for each phase. planning.prompts_dir
// replaces them one by one.
//
//go:embed templates/planning/*.txt
var PlanningPrompts embed.FS

// planPrompt gives a prompt by the name of its file without ".txt".
func planPrompt(s *projections.State, name string) string {
	var instead map[string]string
	if own := s.Config.Planning.Prompts; own != "" && json.Unmarshal([]byte(own), &instead) == nil && instead[name] != "" {
		return strings.TrimSpace(instead[name])
	}
	text, err := PlanningPrompts.ReadFile("templates/planning/" + name + ".txt")
	if err != nil {
		return "" // no such phase in this version
	}
	return strings.TrimSpace(string(text))
}

// Phase says what to reply in a planning phase.
func Phase(s *projections.State, phase string) *event.MessageAdded {
	parts := []string{planPrompt(s, phase), strings.ReplaceAll(planPrompt(s, "comment"), "{language}", language(s))}
	switch phase {
	case projections.Assumption:
		n := s.Planning.OpenNeed()
		parts = append(parts, fmt.Sprintf("The information: %s (%s). What it is for: %s", n.ID, n.Description, n.Purpose))
	case projections.PlanPhase:
		parts = append(parts, handOver(s), planState(s))
	case projections.Reflection, projections.Revision, projections.Replanning:
		parts = append(parts, planState(s), troubleLine(s))
	case projections.Verification:
		parts = append(parts, planState(s), factLines(s))
	}
	if s.Config.Planning.Approval != "" && phase != projections.Understanding {
		parts = append(parts, approvalRule)
	}
	return &event.MessageAdded{Role: string(llm.User), Purpose: event.PhaseMessage, Content: event.T(format.Paragraphs(parts))}
}

// approvalRule is what a plan must say that people approve.
const approvalRule = "People approve the plan before it is carried out. In the parameters of each action name every file that it changes and every command that it runs: " +
	"what the approved plan does not name needs another approval. Information is collected with read-only tools."

// Action says what the current action of the plan is.
func Action(s *projections.State) *event.MessageAdded {
	a := s.Planning.Action()
	var b strings.Builder
	fmt.Fprintf(&b, "The action: %s\nPurpose: %s\n", a.ID, format.OneLine(a.Purpose))
	if a.Tool != "" {
		fmt.Fprintf(&b, "Tool: %s\nProposed arguments: %s\n", toolName(s, a.Tool), event.Shorten(string(a.Parameters), MostOfResult(s)/2))
	}
	if a.Expected != "" {
		fmt.Fprintf(&b, "Expected outcome: %s\n", format.OneLine(a.Expected))
	}
	text := format.Paragraphs([]string{planPrompt(s, "action"), planState(s), strings.TrimSpace(b.String())})
	return &event.MessageAdded{Role: string(llm.User), Purpose: event.ActionMessage, Content: event.T(text)}
}

// ToolNotCalled asks once what was done in an action instead of calling its tool.
func ToolNotCalled(s *projections.State) *event.MessageAdded {
	text := fmt.Sprintf("The action %s is not done: its tool %s was not called, or did not succeed. Call it now. "+
		"If the action was done in another way, or needs nothing, reply without a tool call and say in a sentence what was done instead.",
		s.Planning.Action().ID, toolName(s, s.Planning.Action().Tool))
	return &event.MessageAdded{Role: string(llm.User), Purpose: event.NotCalledMessage, Content: event.T(text)}
}

// toolName is the name by which the model calls a tool.
func toolName(s *projections.State, tool string) string {
	if server, name, ok := strings.Cut(tool, "/"); ok && s.Protocol() == "tools" {
		return reply.FunctionName(server, name)
	}
	return tool
}

// planState is the goal and the list of actions with their marks. It stands in
// the latest message of every step, so no compaction can lose or reopen any.
func planState(s *projections.State) string {
	p := &s.Planning
	if len(p.Actions) == 0 {
		return ""
	}
	var b strings.Builder
	if p.Plan != nil {
		g := p.Plan.Goal
		long := lineLength(s, 1+len(g.Criteria)+len(g.Constraints), 500)
		fmt.Fprintf(&b, "Goal: %s\n", format.First(format.OneLine(g.Objective), long))
		for _, c := range g.Criteria {
			fmt.Fprintf(&b, "Success criterion: %s\n", format.First(format.OneLine(c), long))
		}
		for _, c := range g.Constraints {
			fmt.Fprintf(&b, "Constraint: %s\n", format.First(format.OneLine(c), long))
		}
	} else {
		b.WriteString("The plan that is replaced:\n")
	}
	fmt.Fprintf(&b, "Actions (%d of %d done):\n", p.Count("success"), len(p.Actions))
	long := lineLength(s, len(p.Actions), 120)
	for i, a := range p.Actions {
		b.WriteString("- " + marker(p, i) + " " + a.ID + ": " + format.First(format.OneLine(a.Purpose), long) + "\n")
	}
	return strings.TrimSpace(b.String())
}

// lineLength is how many characters each of n lines may have that are said in
// every step: together about a fifth of the window, as a character is a token at most.
func lineLength(s *projections.State, n, most int) int {
	return min(max(s.Config.ContextLength/5/n, 10), most)
}

func marker(p *projections.Planning, i int) string {
	switch a := p.Actions[i]; {
	case a.Status == "success":
		return "[done]"
	case a.Status == "failed":
		return "[failed]"
	case i == p.Current:
		return "[now]"
	}
	return "[open]"
}

func troubleLine(s *projections.State) string {
	p := &s.Planning
	switch t := p.Trouble; {
	case t == nil && p.Revise != "":
		return "The plan is revised because of: " + p.Revise
	case t == nil:
		return ""
	case t.Action < 0 || t.Action >= len(p.Actions):
		return "The verification did not pass, and named no further work."
	default:
		return fmt.Sprintf("The action %s failed: %s", p.Actions[t.Action].ID, p.Actions[t.Action].Detail)
	}
}

// factLines tie a verification to what really happened.
func factLines(s *projections.State) string {
	lines := toolLines(s)
	if len(s.Work.Files) > 0 {
		lines = append([]string{"Files written: " + strings.Join(s.Work.Files, ", ")}, lines...)
	}
	return strings.Join(lines, "\n")
}

// prePlanning is what pre-planning hands over to planning.
type prePlanning struct {
	Understanding   *event.Understanding `json:"request_understanding,omitempty"`
	Collected       map[string]any       `json:"collected_information"`
	Assumptions     []event.Assumption   `json:"assumptions"`
	Gaps            []gap                `json:"information_gaps"`
	Recommendations []string             `json:"recommendations_for_planning"`
}

type gap struct {
	Description string `json:"description"`
	Impact      string `json:"impact"`
}

func handOver(s *projections.State) string {
	p, c := &s.Planning, s.Config.Planning
	if p.Understanding == nil && p.Needs == nil {
		return ""
	}
	out := prePlanning{Understanding: p.Understanding, Collected: map[string]any{}, Assumptions: []event.Assumption{}, Gaps: []gap{}, Recommendations: []string{}}
	if p.Understanding != nil && p.Understanding.Confidence < c.MinUnderstood {
		out.Recommendations = append(out.Recommendations, "The request is not well understood: plan small steps that can be checked, and say what was assumed.")
	}
	if p.Needs != nil {
		for _, n := range p.Needs.Required {
			out.add(n, p.Found[n.ID], c.MinAssumed)
		}
	}
	data, err := json.Marshal(map[string]any{"pre_planning_result": out})
	if err != nil {
		return "" // nothing in it can fail to encode
	}
	return event.Shorten(string(data), MostOfResult(s)) // it is said whole as long as the plan is not made
}

func (out *prePlanning) add(n event.Need, f *projections.Found, least float64) {
	switch {
	case f == nil:
	case f.Status == "collected":
		out.Collected[n.ID] = map[string]string{"category": n.Category, "description": n.Description, "summary": f.Summary}
	case f.Assumption != nil && f.Assumption.Confidence >= least:
		out.Assumptions = append(out.Assumptions, *f.Assumption)
	default:
		out.Gaps = append(out.Gaps, gap{n.Description, n.Purpose})
	}
}
