package page

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	g "maragu.dev/gomponents"

	"agent/internal/i18n"
	"agent/internal/report"
	"agent/internal/sanitize"
	"agent/internal/timeline"
	"agent/internal/viewer"
	"agent/internal/watch"
)

func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05 MST")
}

// duration is a time that something took.
func duration(seconds float64) string {
	return watch.Duration(time.Duration(seconds * float64(time.Second)))
}

func (b *builder) phaseName(phase string) string {
	return i18n.Phase(b.src.Lang, phase)
}

// tokens is a number of tokens, "–" if it is not known.
func tokens(n int, estimated bool) string {
	switch {
	case n == 0:
		return "–"
	case estimated:
		return "~" + watch.Count(n)
	}
	return watch.Count(n)
}

// usd is what calls cost, + if some of them have no price.
func usd(s viewer.Spent) string {
	text := i18n.USD(s.CostUSD)
	if s.CostUSD > 0 && s.Unpriced > 0 {
		text += "+"
	}
	return text
}

func (b *builder) total(s timeline.Sum) Total {
	t := Total{Tokens: tokens(s.Prompt+s.Completion, s.Estimated), USD: usd(s.Spent), Time: duration(s.Seconds + s.ToolSeconds), Failed: s.Failed}
	if s.Files > 0 {
		t.Files = fmt.Sprintf("+%d −%d", s.Added, s.Removed)
	}
	return t
}

// LiveRow is a row of the timeline without its texts, as the server tells of it.
func LiveRow(d *Doc, r timeline.Row, links Links) g.Node {
	b := &builder{doc: d, src: Source{Lang: d.Lang, Links: links, Clean: func(s string) string { return s }}}
	return d.row(b.row(r, extra{}))
}

// row is a row of the timeline with its texts.
func (b *builder) row(r timeline.Row, x extra) Row {
	out := Row{Row: r, Clock: r.Started.Local().Format("15:04:05"), Parts: x.parts, Talk: x.talk, Comment: x.comment,
		KindText: b.doc.T(i18n.ID("kind." + string(r.Kind)))}
	if r.Timed {
		out.Took = duration(r.Seconds)
	}
	if r.Kind == timeline.Model && r.Status != timeline.Open {
		n, known := r.Tokens()
		out.Used, out.USD = tokens(n, r.Estimated), "–"
		if price, priced := r.Cost(); priced {
			out.USD = i18n.USD(price)
		}
		b.doc.Estimated = b.doc.Estimated || r.Estimated && known
	}
	if r.Kind == timeline.Pause || r.Kind == timeline.Await || r.Kind == timeline.End {
		out.Result = cmp.Or(b.why[r.Seq], out.Result)
		if strings.HasPrefix(out.Result, out.Title) { // the reason says it whole
			out.Title, out.Result = out.Result, ""
		}
	}
	if r.Files > 0 {
		out.Changed = b.doc.T("page.files", r.Files, r.Added, r.Removed)
	}
	if x.to != "" && r.Files > 0 {
		out.Diffs = b.diffs(r.Seq, x.from, x.to)
	}
	out.More = fmt.Sprintf("agent inspect %s %d", b.doc.UUID[:min(8, len(b.doc.UUID))], r.Seq)
	if b.src.Links != nil {
		out.Link = b.src.Links.Event(b.doc.UUID, r.Seq)
	}
	b.note(out)
	return out
}

// firstAfter is the first message to the model after a mark in the conversation, or the mark
// where there is none.
func (b *builder) firstAfter(mark uint64) uint64 {
	for _, m := range b.doc.Talk {
		if m.Seq > mark && (m.Role == "user" || m.Role == "assistant") {
			if m.Role == "user" {
				return m.Seq
			}
			break
		}
	}
	return mark
}

// mostRefs is how many failures and how many changes the summary leads to.
const mostRefs = 50

// note adds a row to what the summary leads to.
func (b *builder) note(r Row) {
	ref := Ref{Seq: r.Seq, Title: r.Title, Text: r.Result, Kind: string(r.Kind), Talk: r.Talk}
	for _, d := range r.Diffs {
		if len(b.doc.Changes) < mostRefs {
			b.doc.Changes = append(b.doc.Changes, Changed{Seq: r.Seq, Step: r.Step, Diff: d})
		} else {
			b.doc.MoreChanges++
		}
	}
	switch {
	case r.Kind == timeline.Pause || r.Kind == timeline.Await || r.Kind == timeline.Interruption || r.Kind == timeline.Resume || r.Kind == timeline.End:
		ref.Title = r.KindText
		if r.Kind == timeline.Interruption || r.Result == "" {
			ref.Text = r.Title
		}
		if r.Kind == timeline.Resume {
			ref.Title, ref.Text, ref.Talk = r.Title, "", b.firstAfter(r.Talk)
		}
		b.doc.Marks = append(b.doc.Marks, ref)
	case r.Status == timeline.Failed && len(b.doc.Failures) >= mostRefs:
		b.doc.MoreFailures++
	case r.Status == timeline.Failed:
		b.doc.Failures = append(b.doc.Failures, ref)
	}
}

// head fills in what the page says at its top.
func (b *builder) head() {
	i, d := b.src.Info, b.doc
	d.Title, d.Address, d.State, d.StateText = b.line(i.Title), b.line(i.Address()), sanitize.Line(i.State, 30), i18n.Standing(b.src.Lang, sanitize.Line(i.State, 30), i.Waits, i.Partial)
	d.Change, d.Work, d.URL = Web(i.Change), b.line(report.WorkAt(b.src.Store, i, b.src.Lang)), taskURL(b.state)
	d.Live = !i.Over() && b.src.Until == 0
	d.Because = b.because()
	if w, ok := b.rows.Waiting(); ok && b.src.Until == 0 {
		d.Waits = d.T(i18n.ID("page.waits."+w.For), w.What)
	}
	d.Unpriced, d.Partial = b.rows.Total.Unpriced > 0, b.rows.Total.CostUSD > 0
	fact := func(id i18n.ID, value string) {
		if value != "" {
			d.Facts = append(d.Facts, Fact{d.T(id), value})
		}
	}
	fact("page.began", clock(i.Created))
	if !i.Created.IsZero() {
		fact("page.took", watch.Duration(i.Updated.Sub(i.Created)))
	}
	if b.state != nil && b.state.Usage.Active > 0 {
		fact("stats.active", watch.Duration(b.state.Usage.Active))
	}
	if calls := i.Calls(); calls.All > 0 {
		fact("page.calls", number(calls.All)+i18n.NoTurns(b.src.Lang, calls.Summaries, calls.Interrupted, calls.Failed))
		fact("page.tools", number(i.ToolCalls))
		fact("page.tokens", tokens(i.Tokens, i.Estimated))
		fact("page.cost", i18n.Cost(i.CostUSD))
	}
	if b.state != nil && b.state.Config != nil {
		fact("page.model", b.line(b.state.Config.Model))
	}
	if i.Fork != "" {
		d.Facts = append(d.Facts, Fact{"", d.T("fork.of", b.line(i.Fork), i.ForkSeq)})
	}
	fact("page.context", d.UUID)
}

// charts draws what steps took.
func (b *builder) charts() {
	d := b.doc
	if len(b.rows.Steps) == 0 {
		return
	}
	d.Charts = append(d.Charts, StepCharts(d, b.rows.Steps, func(s timeline.Sum) string {
		if b.shown(s.First) == 0 {
			return ""
		}
		if s.Purpose != "" {
			return fmt.Sprintf("#e%d", s.First)
		}
		return fmt.Sprintf("#s%d", s.Step)
	})...)
	if len(b.rows.Phases) > 1 {
		d.Charts = append(d.Charts, phaseCharts(d, b)...)
	}
}
