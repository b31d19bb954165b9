package page

import (
	"errors"
	"slices"
	"strings"

	"agent/contexts"
	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/report"
	"agent/internal/sanitize"
	"agent/internal/timeline"
	"agent/internal/viewer"
	"agent/projections"
)

// builder makes a page.
type builder struct {
	src     Source
	doc     *Doc
	rows    timeline.Timeline
	state   *projections.State // nil if only a part of the log is read
	sizes   []size
	why     map[uint64]string // reasons of pauses and ends, in words
	last    uint64
	kept    []timeline.Row
	at      map[uint64]int // index in kept by the seqs of a row's events
	extra   []extra        // beside kept
	talk    viewer.Conversation
	tools   viewer.Tools
	bound   int
	spent   int
	patches int
	held    []event.Event // those of the first reading, unless they are too many
	spare   int           // bytes that may be held yet
}

// mostHeld bounds the bytes of events that are held, so that they need not be read twice.
const mostHeld = 8 << 20

type size struct {
	seq uint64
	n   int
}

// extra is what a row shows beside itself.
type extra struct {
	parts         []Part
	talk, comment uint64
	from, to      string // trees
}

// Build reads a log. What is wrong with it is said on the page; an error means that
// there is nothing to show.
func Build(src Source) (*Doc, error) {
	b := &builder{src: src, doc: &Doc{Lang: src.Lang, UUID: src.Info.UUID}, why: map[uint64]string{}, at: map[uint64]int{}, spare: mostHeld}
	if src.Clean == nil {
		b.src.Clean = func(s string) string { return s }
	}
	b.rows.Clean, b.rows.Blob, b.rows.Lang, b.talk.Blob, b.talk.Lang = b.src.Clean, b.blob, src.Lang, b.blob, src.Lang
	if src.From == 0 {
		b.state = projections.NewState()
	}
	if err := b.each(src.From, b.scan); err != nil {
		return nil, err
	}
	b.choose()
	if err := b.second(); err != nil {
		return nil, err
	}
	b.head()
	b.timeline()
	b.charts()
	b.costs()
	return b.doc, nil
}

// second takes the texts of the rows that are shown, from the log if they are not held.
func (b *builder) second() error {
	if b.spare < 0 {
		b.doc.Problems = nil // they are met again
		return b.each(b.doc.First, b.collect)
	}
	for _, ev := range b.held {
		if ev.Seq >= b.doc.First {
			b.texts(ev)
		}
	}
	b.held = nil
	return nil
}

// hold keeps an event for the second reading.
func (b *builder) hold(ev event.Event, n int) {
	if b.spare -= n; b.spare < 0 {
		b.held = nil
		return
	}
	b.held = append(b.held, ev)
}

// each reads the events from a seq on, around damage.
func (b *builder) each(from uint64, visit func(eventlog.Record)) error {
	n := 0
	for line, err := range b.src.Store.LinesFrom(b.src.Info.UUID, func(r contexts.Record) bool { return r.Seq < from }) {
		if err == nil {
			err = line.Err
		}
		if err != nil && !contexts.IsTorn(err) {
			b.state = nil // decisions are explained by whole logs only
			if len(b.doc.Problems) < 20 {
				b.doc.Problems = append(b.doc.Problems, sanitize.Line(err.Error(), 300))
			}
		}
		if r := line.Record; r.Line != nil {
			if b.src.Until > 0 && r.Seq > b.src.Until {
				break
			}
			n++
			visit(r)
		}
	}
	if n == 0 {
		return errors.Join(errors.New("the log has no event that can be read"), errors.New(strings.Join(b.doc.Problems, "; ")))
	}
	return nil
}

// scan is the first reading: rows, sums, the state, and how large texts are.
func (b *builder) scan(r eventlog.Record) {
	b.last = r.Seq
	n := len(r.Data)
	ev, err := event.Decode(r)
	if err != nil {
		b.rows.Add(r)
		b.spare = -1
	} else {
		if b.state != nil {
			b.state.Apply(ev)
		}
		b.rows.AddEvent(ev)
		b.tools.Add(ev)
		b.hold(ev, n)
		n = weight(ev.Body, n)
		switch ev.Body.(type) {
		case *event.ContextPaused, *event.ContextAwaiting, *event.ContextFailed, *event.ContextStopped, *event.ContextCompleted:
			b.why[r.Seq] = b.because()
		}
	}
	b.sizes = append(b.sizes, size{r.Seq, n})
}

// because says why the context is where it is by now.
func (b *builder) because() string {
	if b.state == nil || b.state.Config == nil {
		return ""
	}
	return b.line(report.Because(b.state, b.src.Lang))
}

// weight is about how many bytes of an event a page shows.
func weight(body event.Body, all int) int {
	of := func(t event.Text) int { return max(len(t.Inline), int(min(t.Size, mostText))) }
	switch body := body.(type) {
	case *event.LLMRequested:
		return 0
	case *event.LLMReplied:
		return of(body.Text) + of(body.Reasoning)
	case *event.ToolReplied:
		return of(body.Content)
	case *event.MessageAdded:
		return of(body.Content)
	case *event.CommentRequested:
		return of(body.Body)
	}
	return all
}

// choose decides which rows are shown, and how much of their texts.
func (b *builder) choose() {
	most := b.src.Rows
	if most == 0 {
		most = mostRows
	}
	b.kept = b.rows.Rows[max(len(b.rows.Rows)-most, 0):]
	b.doc.Earlier = b.rows.Dropped + len(b.rows.Rows) - len(b.kept)
	if b.doc.Earlier > 0 {
		b.doc.First = b.kept[0].Seq
	}
	b.doc.First = max(b.doc.First, b.src.From)
	var shown []int
	for _, s := range b.sizes {
		if s.seq >= b.doc.First {
			shown = append(shown, s.n)
		}
	}
	b.sizes = nil
	b.bound = fit(shown, roomTexts)
	if b.src.Whole {
		b.bound = 1 << 20
	}
	b.doc.Bound = b.bound
	b.extra = make([]extra, len(b.kept))
	for i, r := range b.kept {
		for _, seq := range []uint64{r.Outcome, r.Saved, r.Seq} {
			if seq > 0 {
				b.at[seq] = i
			}
		}
	}
	for i, r := range b.kept { // an event that is a row of its own leads there
		b.at[r.Seq] = i
	}
}

// of gives what the row of an event shows beside itself.
func (b *builder) of(seq uint64) *extra {
	if i, ok := b.at[seq]; ok {
		return &b.extra[i]
	}
	return &extra{}
}

// timeline makes the phases and steps of the rows.
func (b *builder) timeline() {
	sums := map[int]timeline.Sum{}
	for _, s := range b.rows.Steps {
		if s.Purpose == "" {
			sums[s.Step] = s
		}
	}
	phase, step, seen := -1, -1, map[int]bool{}
	open := len(b.rows.Steps) <= 25
	for i, r := range b.kept {
		if n := len(b.doc.Phases); n == 0 || b.kept[i-1].Phase != r.Phase {
			b.doc.Phases = append(b.doc.Phases, Phase{ID: len(b.doc.Phases) + 1, Title: b.phaseName(r.Phase), Sum: b.total(b.phaseSum(r))})
			phase, step = phase+1, -1
		}
		p := &b.doc.Phases[phase]
		if step != r.Step || len(p.Steps) == 0 {
			s := Step{N: r.Step}
			if seen[r.Step] { // it goes on after a summary
				s.N = 0
			}
			seen[r.Step] = true
			if sum, ok := sums[r.Step]; ok {
				s.Sum = b.total(sum)
				s.Open = open || sum.Failed > 0
			} else {
				s.Open = open
			}
			p.Steps = append(p.Steps, s)
			step = r.Step
		}
		s := &p.Steps[len(p.Steps)-1]
		s.Rows = append(s.Rows, b.row(r, b.extra[i]))
	}
	b.doc.Line, b.doc.Last = &b.rows, b.last
}

func (b *builder) phaseSum(r timeline.Row) timeline.Sum {
	i := slices.IndexFunc(b.rows.Phases, func(s timeline.Sum) bool { return s.Phase == r.Phase && s.First <= r.Seq && r.Seq <= s.Last })
	if i < 0 {
		return timeline.Sum{}
	}
	return b.rows.Phases[i]
}
