package handlers

import (
	"cmp"

	"agent/eventlog/event"
	"agent/handlers/prompt"
	"agent/handlers/reply"
	"agent/llm"
	"agent/projections"
)

// refusedShare is how much of the window is used once a request was too long, if
// nothing is configured.
const refusedShare = 0.7

// compact makes room when the conversation passes its share of the window: the
// older turns are summarised by the model, or by rule if it cannot or has refused
// a request for its length. The event
// names the range of turns that the summary stands for; it copies none of them.
func compact(s *projections.State, tokens int) Effect {
	byRule := s.Window.Refusals > 0
	share := s.Config.Storage.Threshold
	if byRule {
		share = cmp.Or(share, refusedShare)
	}
	limit := float64(s.WindowTokens()) * share
	if limit <= 0 || float64(tokens) <= limit {
		return nil
	}
	old := oldTurns(s, int(limit))
	if len(old) == 0 {
		return nil // nothing that may be summarised
	}
	from, to := span(old)
	if !byRule && s.Steps[projections.DraftedCompaction] <= s.Steps[projections.SummaryStep(event.CompactionSummary)] {
		r := prompt.CompactionRequest(s, old)
		return request(s, "compaction", r, prompt.Estimate(s, r))
	}
	text := ""
	if !byRule {
		text = reply.PlainWords(s.Drafted)
	}
	added := &event.SummaryAdded{Purpose: event.CompactionSummary, From: from, To: to, Original: prompt.TurnTokens(old), Sources: s.Lineage.Sources}
	if text == "" {
		text, added.Computed = prompt.RuleSummary(s, old), true
	}
	text = event.Shorten(text, int(limit)) // at most about a third of the room
	added.Text, added.Tokens = event.T(text), llm.Estimate(text)
	return Record{added}
}

// span is the range of events that turns come from. A summary has the seq of the
// last turn that it covers, and stands before those in between that were pinned
// when it was made: the first turn need not have the lowest.
func span(turns []projections.Entry) (from, to uint64) {
	from = turns[0].Seq
	for _, e := range turns {
		from, to = min(from, e.Seq), max(to, e.Seq)
	}
	return from, to
}

// oldTurns are the oldest turns that may be summarised in one request: all but
// the newest, without those that are pinned, never splitting a call from its
// results, and no more than the window holds.
func oldTurns(s *projections.State, limit int) []projections.Entry {
	var old []projections.Entry
	room := limit / 2
	for _, e := range s.Conversation.Entries[:newest(s, limit)] {
		if e.Pinned() {
			continue
		}
		room -= llm.Estimate(event.Shorten(e.Text, prompt.TurnLength)) + 20
		whole := e.Role != llm.ToolRole // a new turn may begin here
		if room < 0 && whole && len(old) > 1 {
			break
		}
		old = append(old, e)
	}
	if len(old) == 1 && old[0].Purpose == "summary" {
		return nil // summarising a summary gains nothing
	}
	return old
}

// newest is where the turns begin that stay as they are: as many as configured,
// and fewer where they would leave no room for a summary. The results of a call
// stay with it, and the latest of all always stays.
func newest(s *projections.State, limit int) int {
	entries, weights := s.Conversation.Entries, prompt.Shown(s).Weights
	tokens := func(i int) int { return int(s.Usage.Scale(float64(weights[i].Estimate) / 100)) }
	room := limit * 2 / 3
	for i, e := range entries {
		if e.Pinned() {
			room -= tokens(i)
		}
	}
	first := len(entries)
	for first > 0 && len(entries)-first < max(s.Config.Storage.Keep, 1) {
		from := first
		for more := true; more && from > 0; {
			from--
			if more = entries[from].Role == llm.ToolRole; !entries[from].Pinned() {
				room -= tokens(from)
			}
		}
		if room < 0 && first < len(entries) {
			break
		}
		first = from
	}
	return first
}
