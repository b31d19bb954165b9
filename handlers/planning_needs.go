package handlers

import (
	"slices"
	"strings"

	"agent/eventlog/event"
	"agent/projections"
)

// openNeed is the first information that is neither collected nor assumed nor
// given up, in the order of the plan for it.
func openNeed(s *projections.State) *event.Need {
	needs := s.Planning.Needs
	if needs == nil || needs.Skip {
		return nil
	}
	for _, n := range inOrder(needs) {
		if status := found(s, n).Status; status == "" || status == "failed" {
			return n
		}
	}
	return nil
}

// found is what became of a need so far.
func found(s *projections.State, n *event.Need) projections.Found {
	if f := s.Planning.Found[n.ID]; f != nil {
		return *f
	}
	return projections.Found{}
}

// inOrder puts needs that the order does not name last.
func inOrder(needs *event.Needs) []*event.Need {
	var out []*event.Need
	for i := range needs.Required {
		out = append(out, &needs.Required[i])
	}
	place := func(n *event.Need) int {
		if i := slices.Index(needs.Order, n.ID); i >= 0 {
			return i
		}
		return len(needs.Order)
	}
	slices.SortStableFunc(out, func(a, b *event.Need) int { return place(a) - place(b) })
	return out
}

// settleNeed collects information with its tool call, which is tried again when it
// fails; what is not found may be assumed.
func settleNeed(s *projections.State) Effect {
	n := openNeed(s)
	f := found(s, n)
	server, tool := toolNames(s).resolve(n.Method.Tool)
	switch {
	case f.Status == "failed":
		return assume(s, n)
	case f.OK:
		return Record{collected(s, n, "collected")}
	case server == "" || f.Tries > s.Config.Planning.MaxRetries:
		return Record{collected(s, n, "failed")}
	}
	return Act{Intent: &event.ToolRequested{Server: server, Tool: tool, Args: event.T(string(n.Method.Parameters)),
		Need: n.ID, Again: toolNames(s)[server+"/"+tool].Again}}
}

// foundLength is how many characters of a result are kept beside the conversation.
const foundLength = 500

func collected(s *projections.State, n *event.Need, status string) *event.InformationCollected {
	f := found(s, n)
	return &event.InformationCollected{ID: n.ID, Status: status, Summary: firstRunes(f.Summary, foundLength), Tries: f.Tries}
}

// defaultConfidence is that of an assumption which the plan for the information already named.
const defaultConfidence = 0.7

func assume(s *projections.State, n *event.Need) Effect {
	switch {
	case !s.Config.Planning.Assume || !n.CanAssume || isSecret(n.ID):
		return Record{collected(s, n, "gap")}
	case n.Default != "":
		return Record{&event.AssumptionMade{Default: true, Assumption: event.Assumption{
			ID: n.ID, Value: n.Default, Reasoning: n.Fallback, Confidence: defaultConfidence}}}
	}
	return ask(s, projections.Assumption)
}

// secretWords name what nobody may assume.
var secretWords = []string{"security", "secret", "password", "token", "api_key", "credential", "database", "connection_string", "pii", "personal_info"}

func isSecret(id string) bool {
	id = strings.NewReplacer("-", "_", " ", "_", ".", "_").Replace(strings.ToLower(id))
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(id, word) })
}
