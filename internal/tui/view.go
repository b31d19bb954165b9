package tui

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"agent/contexts"
	"agent/eventlog"
	"agent/internal/i18n"
	"agent/internal/timeline"
)

// view is a context that is open: a window of its log as a timeline.
type view struct {
	entry
	tl       *timeline.Timeline
	from, to uint64 // the events of the window
	end      uint64 // the latest event of the log, as far as it is known
	items    []item // what is shown of it
	at       int
	folded   map[uint64]bool // phases, by their first event
	minor    bool            // rows of little interest are shown, too
	follow   bool            // the latest row is chosen
	err      error           // damage
	missed   int             // how often in a row it was not found
	detail   detail
	worked   bool   // a process works on it
	loading  bool   // another window is read: one at a time
	steps    bool   // have their numbers
	wanted   uint64 // the row to go to when the end of the log was read; 0: the last one
}

// item is a line of the timeline: a row, or the head of a phase.
type item struct {
	row   int    // of tl.Rows
	phase string // of a head
	seq   uint64 // of the first row of the phase, or of the row
	rows  int    // of a head: how many it has
	bad   int    // of those: how many failed
}

func (i item) head() bool { return i.phase != "" }

func newView(e entry) *view { return &view{entry: e, folded: map[uint64]bool{}, follow: true} }

// Sizes of a window. A log may have lines of a megabyte, so bytes count, too.
const (
	windowFirst  = 60
	windowEvents = 4000
	windowBytes  = 4 << 20
)

type windowMsg struct {
	uuid     string
	tl       *timeline.Timeline
	from, to uint64
	end      uint64
	bottom   bool   // the last row is chosen, else the first
	seq      uint64 // the row of this event is chosen, if it is not 0
	steps    bool   // have their numbers
	err      error
}

// openEnd reads the end of the log.
func (m *Model) openEnd() tea.Cmd { return m.openUpTo(0) }

// openUpTo reads the window that ends with event to; 0 is the last one.
func (m *Model) openUpTo(to uint64) tea.Cmd {
	m.open.loading = true
	store, lang, uuid := m.Store, m.Lang, m.open.uuid
	return func() tea.Msg {
		w := windowMsg{uuid: uuid, to: to, end: lastOf(store, uuid), bottom: true}
		if to == 0 {
			w.to = w.end
		}
		w.tl, w.from, w.err = readWindow(store, uuid, w.to, lang)
		w.steps = counted(store, uuid, w.from)
		return w
	}
}

// openFrom reads the window that begins with event from, and goes to event seq in it, or to
// its beginning for 0.
func (m *Model) openFrom(from, seq uint64) tea.Cmd {
	m.open.loading = true
	store, lang, uuid := m.Store, m.Lang, m.open.uuid
	return func() tea.Msg {
		w := windowMsg{uuid: uuid, from: from, seq: seq, end: lastOf(store, uuid), tl: timelineOf(store, uuid, from, lang), steps: counted(store, uuid, from)}
		size := 0
		w.err = eachLine(store, uuid, from, func(r eventlog.Record) bool {
			size += len(r.Line)
			w.tl.Add(r)
			w.to = r.Seq
			return size < windowBytes && r.Seq < from+windowEvents
		})
		return w
	}
}

// timelineOf is an empty timeline of the events from a number on. Steps are counted from the
// first event of the log, if it is not too long.
func timelineOf(store *contexts.Store, uuid string, from uint64, lang i18n.Lang) *timeline.Timeline {
	tl := &timeline.Timeline{Lang: lang, Blob: func(hash string) ([]byte, error) { return store.Blob(uuid, hash) }}
	if from > 1 && counted(store, uuid, from) {
		_ = eachLine(store, uuid, 1, func(r eventlog.Record) bool { // damage is reported when the window is read
			if r.Seq < from {
				tl.Skip(r)
			}
			return r.Seq < from
		})
	}
	return tl
}

// counted tells whether the numbers of the steps are known.
func counted(store *contexts.Store, uuid string, from uint64) bool {
	mark, err := store.MarkOf(uuid)
	return from == 1 || err == nil && mark.Size <= longLog
}

// lastOf is the number of the last event. The search for it reads a few lines only.
func lastOf(store *contexts.Store, uuid string) (last uint64) {
	for range store.LinesFrom(uuid, func(r contexts.Record) bool { last = max(last, r.Seq); return true }) {
		continue // what cannot be read is told when the window is read
	}
	return last
}

// readWindow reads the events up to to: few at first, and more as long as they are small.
func readWindow(store *contexts.Store, uuid string, to uint64, lang i18n.Lang) (tl *timeline.Timeline, from uint64, err error) {
	for n := uint64(windowFirst); ; n *= 8 {
		from = 1
		if to > n {
			from = to - n + 1
		}
		size := 0
		tl = timelineOf(store, uuid, from, lang)
		err = eachLine(store, uuid, from, func(r eventlog.Record) bool {
			if r.Seq > to {
				return false
			}
			size += len(r.Line)
			tl.Add(r)
			return true
		})
		if from == 1 || n*8 > windowEvents*2 || size*8 > windowBytes {
			return tl, from, err
		}
	}
}

// eachLine gives the events from a number on until each is false. What is damaged is
// passed over and told at the end.
func eachLine(store *contexts.Store, uuid string, from uint64, each func(eventlog.Record) bool) (damage error) {
	for line, err := range store.LinesFrom(uuid, func(r contexts.Record) bool { return r.Seq < from }) {
		switch {
		case err != nil:
			return err
		case line.Err != nil && !contexts.IsTorn(line.Err):
			damage = line.Err
		case line.Record.Line != nil && !each(line.Record):
			return damage
		}
	}
	return damage
}

// window shows what was read.
func (m *Model) window(w windowMsg) tea.Cmd {
	v := m.open
	if v == nil || v.uuid != w.uuid {
		return nil
	}
	v.loading = false
	v.tl, v.from, v.to, v.end, v.err = w.tl, w.from, w.to, w.end, w.err
	v.steps, v.follow = w.steps, w.bottom && w.to == w.end
	v.build()
	v.at = 0
	if w.bottom {
		v.at = max(len(v.items)-1, 0)
	}
	if v.wanted > 0 {
		seq := v.wanted
		v.wanted = 0
		return m.toEvent(seq)
	}
	if w.seq > 0 && v.tl != nil {
		m.reach(w.seq)
	}
	return m.showDetail(false)
}

// build makes the lines of the timeline.
func (v *view) build() {
	v.items = v.items[:0]
	head, phase := -1, ""
	for i := range v.tl.Rows {
		r := &v.tl.Rows[i]
		if r.Phase != phase {
			phase, head = r.Phase, -1
			if phase != "" {
				head = len(v.items)
				v.items = append(v.items, item{phase: phase, seq: r.Seq})
			}
		}
		if head >= 0 {
			v.items[head].rows++
			if r.Status == timeline.Failed {
				v.items[head].bad++
			}
		}
		if r.Minor && !v.minor && r.Status != timeline.Failed || head >= 0 && v.folded[v.items[head].seq] {
			continue
		}
		v.items = append(v.items, item{row: i, seq: r.Seq})
	}
	v.at = min(v.at, max(len(v.items)-1, 0))
}

// choose goes to the line of an event.
func (v *view) choose(seq uint64) {
	for i, it := range v.items {
		if it.seq == seq && !it.head() {
			v.at = i
		}
	}
}

// row is the chosen one; nil for the head of a phase.
func (v *view) row() *timeline.Row {
	if v.tl == nil || v.at >= len(v.items) || v.items[v.at].head() {
		return nil
	}
	return &v.tl.Rows[v.items[v.at].row]
}

const pollEvery = 700 * time.Millisecond

type pollMsg struct {
	uuid    string
	records []eventlog.Record
	worked  bool
	err     error
}

// poll looks after a while whether there is more.
func (m *Model) poll() tea.Cmd { return m.after(pollEvery, m.grown()) }

// grown reads what was appended.
func (m *Model) grown() func() tea.Msg {
	store, uuid, to := m.Store, m.open.uuid, m.open.end
	return func() tea.Msg {
		msg := pollMsg{uuid: uuid}
		msg.worked, _ = store.Locked(uuid)
		if to == 0 { // the first window is not there yet
			return msg
		}
		msg.err = eachLine(store, uuid, to+1, func(r eventlog.Record) bool {
			if r, err := eventlog.Parse(bytes.Clone(r.Line)); err == nil {
				msg.records = append(msg.records, r)
			}
			return len(msg.records) < windowFirst
		})
		return msg
	}
}

func (m *Model) polled(p pollMsg) tea.Cmd {
	v := m.open
	if v == nil || v.uuid != p.uuid {
		return nil
	}
	v.worked = p.worked
	if contexts.IsGone(p.err) {
		if v.missed++; v.missed > 1 { // it may have been about to move
			v.err = errors.New(m.text("ui.removed")) // what was read stays
		}
		return m.poll()
	}
	if v.missed > 1 {
		v.err = nil
	}
	v.missed = 0
	if v.tl == nil || len(p.records) == 0 || p.records[0].Seq != v.end+1 {
		return m.poll()
	}
	v.end = p.records[len(p.records)-1].Seq
	if v.to+1 != p.records[0].Seq { // an earlier window is shown
		return m.poll()
	}
	chosen := uint64(0)
	if v.at < len(v.items) {
		chosen = v.items[v.at].seq
	}
	for _, r := range p.records {
		v.tl.Add(r)
	}
	v.to = v.end
	v.build()
	if v.follow {
		v.at = max(len(v.items)-1, 0)
	} else {
		v.choose(chosen)
	}
	return tea.Batch(m.poll(), m.showDetail(false))
}

// took is a time in few columns.
func took(seconds float64) string {
	if seconds < 60 {
		return fmt.Sprintf("%.1fs", seconds)
	}
	return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
}
