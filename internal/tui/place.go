package tui

import (
	"regexp"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agent/contexts"
	"agent/eventlog"
	"agent/internal/i18n"
	"agent/internal/timeline"
)

// place is where somebody wants to go: an event, or a step.
type place struct {
	event uint64
	step  int
}

var placeForm = regexp.MustCompile(`^[:#]?\s*(s?)\s*([0-9]{1,18})$`)

// placeOf reads 57, #57 and :57 as an event, s4 as a step.
func placeOf(words string) (p place, ok bool) {
	parts := placeForm.FindStringSubmatch(strings.ToLower(strings.TrimSpace(words)))
	if parts == nil {
		return p, false
	}
	n, _ := strconv.Atoi(parts[2]) // digits, of which there are not too many
	if parts[1] == "s" {
		return place{step: n}, n > 0
	}
	return place{event: uint64(n)}, n > 0
}

// askPlace asks where to go. What was typed is the beginning of the answer.
func (m *Model) askPlace(typed string) {
	m.ask = &question{text: m.text("tui.ask.place"), typing: true, typed: strings.Trim(typed, ":#"), do: m.toPlace}
}

// placeMsg is the event that a place is, 0 if there is none, and which places there are.
type placeMsg struct {
	uuid, words string
	kind        i18n.ID // of the text that says what was looked for
	seq         uint64
	steps       int  // how many there are
	long        bool // they are not counted
}

// toPlace looks for an event or a step in the whole log, not only in what is shown.
func (m *Model) toPlace(words string) tea.Cmd {
	p, ok := placeOf(words)
	if v := m.open; ok && p.event > 0 && p.event <= v.end {
		return m.toEvent(p.event)
	}
	store, msg := m.Store, placeMsg{uuid: m.open.uuid, words: strings.ToLower(strings.TrimSpace(words))}
	switch {
	case ok && p.step > 0:
		msg.kind = "tui.place.step"
	case ok:
		msg.kind = "tui.place.event"
	}
	return func() tea.Msg {
		if mark, err := store.MarkOf(msg.uuid); err == nil && mark.Size > longLog {
			msg.long = true
			return msg
		}
		msg.seq, msg.steps = stepAt(store, msg.uuid, p.step)
		return msg
	}
}

// stepAt is the model call of a step that was answered, or else its latest one, and how
// many steps there are.
func stepAt(store *contexts.Store, uuid string, step int) (seq uint64, steps int) {
	var calls timeline.Timeline
	_ = eachLine(store, uuid, 1, func(r eventlog.Record) bool { // damage is reported where it is shown
		if strings.HasPrefix(string(r.Type), "llm.") {
			calls.Add(r)
		}
		return true
	})
	answered := false
	for i := range calls.Rows {
		r := &calls.Rows[i]
		steps = max(steps, r.Step)
		if step > 0 && r.Step == step && r.Purpose == "" && !answered {
			seq, answered = r.Seq, r.Status == timeline.Done
		}
	}
	return seq, steps
}

func (m *Model) placed(p placeMsg) tea.Cmd {
	v := m.open
	if v == nil || v.uuid != p.uuid {
		return nil
	}
	if p.seq > 0 {
		return m.toEvent(p.seq)
	}
	places := m.text("tui.places", v.end, p.steps)
	switch {
	case p.long:
		places = m.text("tui.places.long", v.end)
	case p.steps == 0:
		places = m.text("tui.places.none", v.end)
	}
	if p.kind == "" {
		m.say(true, "tui.none.form", clean(p.words), places)
		return nil
	}
	m.say(true, "tui.none.place", m.text(p.kind, clean(p.words)), places)
	return nil
}

// toEvent goes to the row of an event, and reads the part of the log that has it.
func (m *Model) toEvent(seq uint64) tea.Cmd {
	v := m.open
	m.unCost()
	if seq < v.from || seq > v.to {
		return m.openFrom(max(seq, windowFirst/2)-windowFirst/2+1, seq)
	}
	m.reach(seq)
	return m.showDetail(false)
}

// reach chooses the row of an event of the window, which may be hidden so far.
func (m *Model) reach(seq uint64) {
	v := m.open
	r := v.tl.Row(seq)
	for s := seq; r == nil && s > v.from; { // an event without a row of its own
		s--
		r = v.tl.Row(s)
	}
	if r == nil {
		return
	}
	clear(v.folded)
	if r.Minor && r.Status != timeline.Failed && !v.minor {
		v.minor = true
		m.say(false, "tui.shown")
	}
	v.build()
	v.choose(r.Seq)
	v.follow = false
}

// say shows a text in the last line.
func (m *Model) say(bad bool, id i18n.ID, args ...any) { m.note, m.bad = m.text(id, args...), bad }
