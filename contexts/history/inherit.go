package history

import (
	"strings"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/sanitize"
	"agent/llm"
	"agent/projections"
)

// Inherit gives what the latest earlier attempt left for the one whose state is s.
// Whatever goes wrong, the task goes on as a new one, and the event says why.
func (r Reader) Inherit(s *projections.State) event.ContextInherited {
	info, why := r.newest(s)
	if why != "" {
		return event.ContextInherited{Reason: why, Skipped: why != noAttempt}
	}
	left, why := r.left(info, s)
	if why != "" {
		return event.ContextInherited{Reason: info.UUID + ": " + why, Skipped: true}
	}
	return left
}

// left reads what one context left.
func (r Reader) left(info contexts.Info, s *projections.State) (in event.ContextInherited, why string) {
	var g legacy
	if err := r.fold(info.UUID, g.apply); err != nil {
		return in, err.Error()
	}
	switch {
	case g.summary.IsZero():
		return in, "it left no summary"
	case g.summary.Missing():
		return in, "its summary was forgotten"
	case !s.Lineage.Admits(g.lineage.Trust):
		return in, "it holds words of people who are not heard here now"
	}
	text := g.text(r.Rules, s.Config.Inherit.MaxTokens)
	return event.ContextInherited{From: info.UUID, At: info.Ended, Seqs: []uint64{g.seq}, Trust: g.lineage.Trust,
		Sources: sourcesOf(info.UUID, g.lineage), Summary: event.T(text)}, ""
}

// legacy is what a context leaves to the next.
type legacy struct {
	lineage projections.Lineage
	people  people
	plan    plan
	summary event.Text // the latest final one
	seq     uint64     // of it
}

func (g *legacy) apply(e event.Event) {
	g.lineage.Apply(e)
	g.people.apply(e)
	g.plan.apply(e)
	if b, ok := e.Body.(*event.SummaryAdded); ok && b.Purpose == event.FinalSummary {
		g.summary, g.seq = b.Text, e.Seq
	}
}

// text is the summary with the plan, in at most so many tokens: the details of
// the plan go first, then the plan, then the end of the summary.
func (g *legacy) text(r Rules, most int) string {
	summary, _ := sanitize.Input(g.summary.View())
	summary = g.people.leaveOut(summary)
	for _, plan := range []string{g.plan.details(r), g.plan.outline(r)} {
		plan, _ = sanitize.Input(plan)
		if text := strings.TrimSpace(summary + "\n\n" + g.people.leaveOut(plan)); llm.Estimate(text) <= most {
			return text
		}
	}
	return cutTokens(summary, most)
}

// cutTokens keeps whole lines, then whole characters, until the estimate fits.
func cutTokens(text string, most int) string {
	for llm.Estimate(text) > most {
		if i := strings.LastIndexByte(text, '\n'); i > 0 {
			text = text[:i]
			continue
		}
		runes := []rune(text)
		text = string(runes[:len(runes)*9/10])
	}
	return text
}
