package handlers

import (
	"slices"
	"strings"

	"agent/eventlog/event"
	"agent/handlers/format"
	"agent/handlers/reply"
	"agent/projections"
)

// collect collects information with its tool call, which is tried again when it
// fails; what is not found may be assumed.
func collect(s *projections.State) Effect {
	n := s.Planning.OpenNeed()
	f := s.Planning.FoundFor(n)
	server, tool := reply.NamesOf(s).Resolve(n.Method.Tool)
	switch {
	case f.Status == "failed":
		return assume(s, n)
	case f.OK:
		return Record{collected(s, n, "collected")}
	case server == "" || guardsPlan(s) && !s.ReadOnly(server+"/"+tool) || f.Tries > s.Config.Planning.MaxRetries:
		return Record{collected(s, n, "failed")}
	}
	return Act{Intent: &event.ToolRequested{Server: server, Tool: tool, Args: event.T(string(n.Method.Parameters)),
		Need: n.ID, Again: reply.NamesOf(s)[server+"/"+tool].Again}}
}

// foundLength is how many characters of a result are kept beside the conversation.
const foundLength = 500

func collected(s *projections.State, n *event.Need, status string) *event.InformationCollected {
	f := s.Planning.FoundFor(n)
	return &event.InformationCollected{ID: n.ID, Status: status, Summary: format.First(f.Summary, foundLength), Tries: f.Tries}
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
