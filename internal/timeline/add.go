package timeline

import (
	"slices"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/internal/viewer"
)

// Add takes every event of a log in order, and gives the seqs of the rows that it
// changed or added. A part of a log may be taken, too: outcomes whose intents are
// missing then have rows of their own.
func (t *Timeline) Add(r eventlog.Record) (changed []uint64) {
	ev, err := event.Decode(r)
	if err != nil {
		return t.add(Row{Seq: r.Seq, Kind: Other, Type: t.line(string(r.Type)), Status: Failed, Title: t.line(err.Error()), Started: r.When(), Ended: r.When()})
	}
	return t.AddEvent(ev)
}

// AddEvent is [Timeline.Add] of an event that is decoded.
func (t *Timeline) AddEvent(ev event.Event) (changed []uint64) {
	if t.Blob != nil {
		event.Fetch(ev.Body, t.Blob)
	}
	t.Last = ev.Time
	call, ended := t.Ledger.AddEvent(ev)
	if ended {
		t.Ledger.Count(call)
	}
	switch event.RoleOf(ev.Body) {
	case event.Intent:
		changed = t.intent(ev)
	case event.Outcome:
		changed = t.outcome(ev, call, ended)
	default:
		changed = t.fact(ev)
	}
	return changed
}

// intent begins a row that an outcome will end.
func (t *Timeline) intent(ev event.Event) []uint64 {
	row := Row{Seq: ev.Seq, Status: Open, Type: ev.Body.Type(), Started: ev.Time, Title: t.line(viewer.Sentence(ev, t.Lang))}
	switch b := ev.Body.(type) {
	case *event.LLMRequested:
		row.Kind, row.Title = Model, t.line(b.Model+", "+i18n.Phase(t.Lang, b.Purpose))
		t.retry = retry{}
		if b.OutsideConversation() {
			row.Purpose = t.line(string(b.Purpose))
		}
		t.turn(b)
	case *event.ToolRequested:
		row.Kind, row.Title = Tool, t.line(toolTitle(b))
	case *event.CommentRequested:
		row.Kind, row.Title = Comment, t.line(unmarked.Replace(row.Title))
	case *event.ReactionRequested:
		row.Kind, row.Minor = Comment, true
	case *event.LabelsRequested:
		row.Kind, row.Minor = Labels, true
	case *event.ChangeRequested:
		row.Kind = Change
	default:
		row.Kind = Other
	}
	t.open = ev.Seq
	return t.add(row)
}

// turn counts steps: a call that is tried again is the same one, and summaries are none.
func (t *Timeline) turn(b *event.LLMRequested) {
	if b.OutsideConversation() || t.step > 0 && !t.replied {
		return
	}
	t.step++
	t.replied = false
}

// Skip takes an event before the first one that is added, so that steps have their numbers
// in a part of a log, too.
func (t *Timeline) Skip(r eventlog.Record) {
	if kind := string(r.Type); kind != "llm.requested" && kind != "llm.replied" {
		return
	}
	ev, err := event.Decode(r)
	if err != nil {
		return
	}
	switch b := ev.Body.(type) {
	case *event.LLMRequested:
		t.outside = b.OutsideConversation()
		t.turn(b)
	case *event.LLMReplied:
		t.replied = t.replied || !t.outside
	}
}

// outcome ends the row of its intent.
func (t *Timeline) outcome(ev event.Event, call viewer.Call, ended bool) []uint64 {
	row, fresh := t.begun(ev.Cause), Row{}
	if row == nil {
		fresh = Row{Seq: ev.Seq, Kind: kindOf(ev.Body), Type: ev.Body.Type(), Status: Done, Started: ev.Time}
		row = &fresh
	}
	before := *row
	row.Outcome, row.Status, row.Ended, row.Result = ev.Seq, Done, ev.Time, t.line(viewer.Sentence(ev, t.Lang))
	if viewer.Failed(ev) {
		row.Status, row.Minor = Failed, false
	}
	row.Seconds, row.Timed = max(ev.Time.Sub(row.Started).Seconds(), 0), fresh.Seq == 0
	switch b := ev.Body.(type) {
	case *event.LLMReplied, *event.LLMFailed:
		t.modelDone(row, ev, call, ended)
	case *event.ToolReplied:
		row.Result, row.Seconds, row.Timed = t.line(resultOf(b)), float64(b.DurationMS)/1000, true
	case *event.ToolFailed:
		row.Seconds, row.Timed = float64(b.DurationMS)/1000, true
	case *event.ToolInterrupted:
		row.Status, row.Seconds, row.Timed = Interrupted, 0, false
	}
	if ev.Cause == t.open {
		t.open = 0
	}
	if fresh.Seq != 0 {
		return t.add(fresh)
	}
	t.count(&before, row)
	return []uint64{row.Seq}
}

// modelDone fills in what a model call took. The numbers are those of the ledger.
func (t *Timeline) modelDone(row *Row, ev event.Event, call viewer.Call, ended bool) {
	if ended {
		row.Prompt, row.Cached, row.Completion, row.Estimated, row.CostUSD = call.Prompt, call.Cached, call.Completion, call.Estimated, call.CostUSD
		row.Seconds, row.Timed = call.Seconds, call.Seconds > 0
	}
	switch b := ev.Body.(type) {
	case *event.LLMReplied:
		t.replied = t.replied || call.Purpose != "summary" && call.Purpose != "compaction"
		row.Result = t.line(replyResult(b))
	case *event.LLMFailed:
		if b.Kind == event.Interrupted {
			row.Status = Interrupted
		} else if !b.NotBefore.IsZero() {
			t.retry = retry{row.Seq, ev.Time, b.NotBefore}
		}
	}
}

// add appends a row where the log is now.
func (t *Timeline) add(row Row) []uint64 {
	row.Phase, row.Action = t.phase, t.action
	if row.Purpose == "" && row.Type != "summary.added" {
		row.Step = t.step
	}
	keep := Keep
	if t.keep > 0 {
		keep = t.keep
	}
	if len(t.Rows) >= keep*5/4 {
		n := len(t.Rows) - keep
		t.Dropped += n
		t.Rows = append(t.Rows[:0:0], t.Rows[n:]...)
	}
	t.Rows = append(t.Rows, row)
	t.begin(&t.Phases, keep, row, len(t.Phases) == 0 || t.Phases[len(t.Phases)-1].Phase != row.Phase)
	switch last := len(t.Steps) - 1; {
	case row.Purpose != "":
		t.begin(&t.Steps, keep, row, true)
	case row.Step > 0: // after a summary the step goes on
		t.begin(&t.Steps, keep, row, !slices.ContainsFunc(t.Steps[max(last-mostBetween, 0):], func(s Sum) bool { return s.Step == row.Step }))
	}
	t.count(&Row{}, &t.Rows[len(t.Rows)-1])
	return []uint64{row.Seq}
}

// mostBetween is how many summaries are looked behind for the step that goes on.
const mostBetween = 8

// begin adds a sum if the row begins one.
func (t *Timeline) begin(sums *[]Sum, keep int, row Row, begins bool) {
	if !begins {
		return
	}
	if len(*sums) >= keep {
		*sums = append((*sums)[:0:0], (*sums)[len(*sums)-keep*3/4:]...)
	}
	*sums = append(*sums, Sum{Phase: row.Phase, Step: row.Step, Purpose: row.Purpose, First: row.Seq, Last: row.Seq, Started: row.Started, Ended: row.Started})
}

// count adds what is new about a row to the sums that it belongs to.
func (t *Timeline) count(before, now *Row) {
	t.Total.count(before, now)
	for i := len(t.Phases) - 1; i >= 0; i-- { // an outcome may come after the next phase began, though hardly
		if s := &t.Phases[i]; s.Phase == now.Phase && s.First <= now.Seq {
			s.count(before, now)
			break
		}
	}
	for i := len(t.Steps) - 1; i >= 0; i-- {
		if s := &t.Steps[i]; s.Step == now.Step && (s.Step > 0 || s.First == now.Seq) {
			s.count(before, now)
			break
		}
	}
}

func (s *Sum) count(before, now *Row) {
	if s.First == 0 {
		s.First, s.Started = now.Seq, now.Started
	}
	if before.Seq == 0 {
		s.Rows++
	}
	s.Last = max(s.Last, now.Seq, now.Outcome)
	if now.Ended.After(s.Ended) {
		s.Ended = now.Ended
	}
	if now.Started.After(s.Ended) {
		s.Ended = now.Started
	}
	if now.Status == Failed && before.Status != Failed {
		s.Failed++
	}
	switch {
	case now.Kind == Tool && before.Seq == 0:
		s.Tools++
		s.ToolSeconds += now.Seconds
	case now.Kind == Tool:
		s.ToolSeconds += now.Seconds - before.Seconds
	case now.Kind == Model:
		s.model(before, now)
	}
	s.Files += now.Files - before.Files
	s.Added += now.Added - before.Added
	s.Removed += now.Removed - before.Removed
}

func (s *Sum) model(before, now *Row) {
	if before.Seq == 0 {
		s.Calls++
	}
	s.Prompt += now.Prompt - before.Prompt
	s.Cached += now.Cached - before.Cached
	s.Completion += now.Completion - before.Completion
	s.Estimated = s.Estimated || now.Estimated
	s.CostUSD += now.CostUSD - before.CostUSD
	s.Seconds += now.Seconds - before.Seconds
	if now.Status == Done && before.Status != Done && now.CostUSD == 0 {
		s.Unpriced++
	}
}
