package handlers

import (
	"strings"

	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/llm"
	"agent/projections"
)

// compact makes room when the conversation passes its share of the window: the
// older turns are summarised by the model, or by rule if it cannot. The event
// names the range of turns that the summary stands for; it copies none of them.
func compact(s *projections.State, tokens int) Effect {
	limit := float64(s.Config.ContextLength) * s.Config.Storage.Threshold
	if limit <= 0 || float64(tokens) <= limit {
		return nil
	}
	old := oldTurns(s, int(limit))
	if len(old) == 0 {
		return nil // nothing that may be summarised
	}
	from, to := span(old)
	if s.Steps["drafted:compaction"] <= s.Steps["summary:compaction"] {
		r := summaryRequest(s, compactionPrompt, transcript(s, old))
		return request(s, "compaction", r, estimate(s, r))
	}
	text := plainWords(s.Drafted)
	added := &event.SummaryAdded{Purpose: "compaction", From: from, To: to, Original: turnTokens(old), Sources: s.Lineage.Sources}
	if text == "" {
		text, added.Computed = ruleSummary(s, old), true
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
		room -= llm.Estimate(event.Shorten(e.Text, turnLength)) + 20
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
	entries, weights := s.Conversation.Entries, s.Conversation.Weights(mostOfResult(s))
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

// turnLength is how many bytes of one turn a summary request shows.
const turnLength = 4000

func transcript(s *projections.State, turns []projections.Entry) string {
	var b strings.Builder
	for _, e := range turns {
		m := e.Message(s.Protocol())
		b.WriteString("## " + string(m.Role) + "\n" + event.Shorten(m.Content, turnLength) + "\n")
		for _, c := range m.Calls {
			b.WriteString("calls " + c.Name + " " + event.Shorten(c.Arguments, 500) + "\n")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func turnTokens(turns []projections.Entry) (n int) {
	for _, e := range turns {
		n += llm.Estimate(e.Text)
	}
	return n
}

// ruleSummary names what was done, for when no model can say it.
func ruleSummary(s *projections.State, turns []projections.Entry) string {
	lines := []string{i18n.Text(s.Lang, "summary.marked")}
	for _, e := range turns {
		switch {
		case e.Purpose == "summary":
			lines = append(lines, event.Shorten(e.Text, 2000))
		case e.Role == llm.ToolRole:
			first, _, _ := strings.Cut(e.Text, "\n")
			lines = append(lines, "- "+e.Tool+" "+firstRunes(oneLine(e.Args), 120)+": "+firstRunes(first, 120))
		}
	}
	return strings.Join(lines, "\n")
}
