package tui

import (
	"bytes"
	"fmt"
	"iter"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agent/contexts"
	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/internal/report"
	"agent/internal/sanitize"
	"agent/internal/term"
	"agent/internal/timeline"
	"agent/internal/viewer"
	"agent/projections"
)

// detail is what lies behind the chosen row.
type detail struct {
	seq     uint64 // of the row
	width   int    // that it was laid out for
	lines   []styled
	top     int
	focused bool
	costs   bool      // what money went where is shown instead
	behind  bool      // of costs: a detail was shown before
	views   []i18n.ID // ways to show it
	view    int       // of them
}

// styled is a line that is safe for a terminal, and what it means.
type styled struct {
	text  string
	color term.Color
}

type detailMsg struct {
	uuid  string
	seq   uint64
	width int
	lines []styled
	views []i18n.ID
	view  int
}

// mostDetail bounds what is shown of an event in bytes and lines.
const (
	mostBytes = 2 << 20
	mostLines = 40_000
)

// focus goes to the detail.
func (m *Model) focus() tea.Cmd {
	m.unCost()
	m.open.detail.focused = true
	return m.showDetail(true)
}

func (m *Model) detailWidth() int {
	if m.width < roomy {
		return m.width - 1
	}
	return m.width - m.width*11/20 - 3
}

// showDetail reads what is behind the chosen row, if that is to be seen.
func (m *Model) showDetail(focused bool) tea.Cmd {
	v := m.open
	if v == nil || v.detail.costs || v.row() == nil || m.width < roomy && !focused && !v.detail.focused {
		return nil
	}
	row, width := v.row(), m.detailWidth()
	if v.detail.seq == row.Seq && v.detail.width == width && row.Status != timeline.Open && len(v.detail.lines) > 0 {
		return nil
	}
	return m.loadDetail(row, 0)
}

// loadDetail reads what is behind a row, in one of the ways to show it.
func (m *Model) loadDetail(r *timeline.Row, view int) tea.Cmd {
	row, uuid, width, asking := *r, m.open.uuid, m.detailWidth(), m.open.askingOf(r)
	return func() tea.Msg {
		p := &page{Model: m, uuid: uuid, width: width, blob: func(hash string) ([]byte, error) { return m.Store.Blob(uuid, hash) }}
		views := viewsOf(row)
		p.row(row, views[view], asking)
		return detailMsg{uuid, row.Seq, width, p.lines, views, view}
	}
}

// viewsOf are the ways to show a row; the first one has no name if it is the only one.
func viewsOf(r timeline.Row) []i18n.ID {
	switch {
	case r.Kind == timeline.Model && r.Purpose == "":
		return []i18n.ID{"tui.view.new", viewWhole}
	case r.Kind == timeline.Model:
		return []i18n.ID{viewWhole}
	case r.Saved > 0 && r.Files > 0:
		return []i18n.ID{viewDiff, viewBefore, viewAfter}
	}
	return []i18n.ID{""}
}

// nextView shows the chosen row in the next way.
func (m *Model) nextView() tea.Cmd {
	d := &m.open.detail
	if r := m.open.row(); r != nil && d.seq == r.Seq && !d.costs && len(d.views) > 1 {
		d.top = 0
		return m.loadDetail(r, (d.view+1)%len(d.views))
	}
	m.say(true, "tui.none.view")
	return nil
}

func (m *Model) detailed(d detailMsg) {
	v := m.open
	if v == nil || v.uuid != d.uuid || v.detail.costs != (d.seq == 0) {
		return
	}
	if !v.detail.costs && (v.row() == nil || v.row().Seq != d.seq) {
		return
	}
	top := 0
	if v.detail.seq == d.seq {
		top = v.detail.top
	}
	v.detail = detail{seq: d.seq, width: d.width, lines: d.lines, top: min(top, max(len(d.lines)-1, 0)), focused: v.detail.focused, costs: v.detail.costs, behind: v.detail.behind,
		views: d.views, view: d.view}
}

func (m *Model) keyDetail(name string) tea.Cmd {
	d := &m.open.detail
	switch name {
	case "q", "esc", "tab", "left", "h":
		d.focused = d.costs && d.behind
		m.unCost()
		return m.showDetail(d.focused)
	case "n", "N", "p", "c", "d", "w", "t", "$":
		m.unCost()
		return m.keyContext(name)
	case "v":
		return m.nextView()
	default:
		if !moves(name) {
			m.say(true, "tui.nothing", name)
		}
		d.top = min(m.move(name, d.top, len(d.lines)), max(len(d.lines)-m.contextRows(), 0))
	}
	return nil
}

// detailLines are the lines of the detail that fit.
func (m *Model) detailLines(width, rows int) (lines []string) {
	d := m.open.detail
	if r := m.open.row(); !d.costs && (r == nil || d.seq != r.Seq) {
		return nil
	}
	for i := d.top; i < min(d.top+rows, len(d.lines)); i++ {
		lines = append(lines, m.paint(d.lines[i].color, cut(d.lines[i].text, width)))
	}
	return lines
}

// page lays out a detail.
type page struct {
	*Model
	uuid  string
	width int
	blob  viewer.Blob
	lines []styled
	bytes int
}

// add adds a text, in lines that fit.
func (p *page) add(color term.Color, text string) {
	for line := range strings.Lines(text) {
		if p.bytes += len(line); p.full() {
			return
		}
		for _, part := range wrap(sanitize.Terminal(strings.TrimRight(line, "\r\n")), p.width) {
			p.lines = append(p.lines, styled{part, color})
		}
	}
}

// full tells whether no more is shown.
func (p *page) full() bool { return p.bytes > mostBytes || len(p.lines) > mostLines }

func (p *page) head(id i18n.ID, args ...any) {
	if len(p.lines) > 0 {
		p.lines = append(p.lines, styled{})
	}
	p.add(term.Head, p.text(id, args...))
}

// row shows a row: its figures, its intent and outcome, what the model was told, and what
// changed in the files.
func (p *page) row(r timeline.Row, view i18n.ID, a asking) {
	p.add(term.Head, cut(fmt.Sprintf("%d  %s  %s", r.Seq, p.text(i18n.OrOther("kind.", string(r.Kind))), clean(r.Title)), p.width))
	line := r.Started.Local().Format("2006-01-02 15:04:05 MST")
	if r.Timed {
		line += " · " + took(r.Seconds)
	}
	if n, known := r.Tokens(); known {
		line += " · " + p.text("tui.used", i18n.Tokens(n, r.Estimated), r.Prompt, r.Completion)
	}
	if usd, known := r.Cost(); known {
		line += " · " + i18n.USD(usd) + " USD"
	}
	p.add(term.Aux, line)
	switch {
	case view == viewWhole && r.Purpose == "":
		p.request(r.Seq)
	case view == viewBefore, view == viewAfter:
		p.change(r, view)
	default:
		said := p.why(r)
		p.who(r, said)
		switch {
		case r.Kind == timeline.Model && r.Purpose == "":
			p.asked(a)
		case r.Kind == timeline.Model:
			p.request(r.Seq)
		}
		if r.Kind != timeline.Resume && !said { // whose event holds nothing more
			p.events(r)
		}
		switch {
		case r.Kind == timeline.Resume:
			p.told(a, r.Seq)
		case view == viewDiff:
			p.change(r, view)
		}
	}
	if p.full() {
		p.lines = append(p.lines, styled{cut(p.text("tui.cut", p.uuid[:8], r.Seq), p.width), term.Waits})
	}
}

// why says in a sentence why the context paused, waits or ended, as agent why does. That
// takes the whole log, so of a long one the fields have to do: false.
func (p *page) why(r timeline.Row) (said bool) {
	if r.Kind != timeline.Pause && r.Kind != timeline.Await && r.Kind != timeline.End {
		return false
	}
	if m, err := p.Store.MarkOf(p.uuid); err == nil && m.Size > longLog {
		return false
	}
	state := projections.NewState()
	for ev, err := range p.Store.Events(p.uuid) {
		if err != nil {
			return false // the top names what is damaged
		}
		if state.Apply(ev); ev.Seq == r.Seq {
			break
		}
	}
	if state.Config == nil { // nothing was decided yet
		return false
	}
	text := report.Because(state, p.Lang)
	if text != "" {
		p.lines = append(p.lines, styled{})
		p.add(term.Waits, text)
	}
	if info, err := p.Store.Info(p.uuid); err == nil && info.Work != "" {
		p.add("", p.text("inspect.work", report.WorkAt(p.Store, info, p.Lang)))
	}
	return text != ""
}

func (p *page) events(r timeline.Row) {
	pair, err := viewer.Pair(p.from, r.Seq)
	if err != nil {
		p.add(term.Bad, err.Error())
		return
	}
	for _, record := range pair {
		if record.Seq == r.Saved && r.Seq != r.Saved && r.Files > 0 && !noteworthy(record) {
			continue // the diff says it better
		}
		p.event(record)
	}
}

// noteworthy tells whether a save says more than what changed.
func noteworthy(r eventlog.Record) bool {
	ev, err := event.Decode(r)
	saved, ok := ev.Body.(*event.WorkspaceSaved)
	return err != nil || !ok || saved.Error != "" || len(saved.NotSaved) > 0
}

func (p *page) from(seq uint64) iter.Seq2[eventlog.Line, error] {
	return p.Store.LinesFrom(p.uuid, func(r contexts.Record) bool { return r.Seq < seq })
}

// event shows an event as people read it; one that has no form of its own with its fields.
func (p *page) event(r eventlog.Record) {
	ev, err := event.Decode(r)
	if err == nil {
		event.Unspill(ev.Body, p.blob)
		if p.body(ev.Body) {
			return
		}
	}
	var b bytes.Buffer
	printer := &viewer.Printer{Screen: term.Screen{Writer: &b, Width: p.width}, Lang: p.Lang, UUID: p.uuid, Blob: p.blob}
	if err := printer.Event(r); err != nil {
		p.add(term.Bad, err.Error())
	}
	if len(p.lines) > 0 {
		p.lines = append(p.lines, styled{})
	}
	p.add("", b.String())
}

func (p *page) patch(text string) {
	for line := range strings.Lines(text) {
		color := term.Color("")
		switch {
		case strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
			color = term.Head
		case strings.HasPrefix(line, "@@"):
			color = term.Name
		case strings.HasPrefix(line, "+"):
			color = term.Good
		case strings.HasPrefix(line, "-"):
			color = term.Bad
		}
		p.add(color, line)
	}
}
