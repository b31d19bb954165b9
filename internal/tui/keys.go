package tui

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agent/contexts"
	"agent/internal/i18n"
)

// key takes a key of whatever has the focus.
func (m *Model) key(k tea.KeyPressMsg) tea.Cmd {
	if k.String() == "ctrl+j" { // an Enter that was typed before the terminal was set up
		k = tea.KeyPressMsg{Code: tea.KeyEnter}
	}
	name := k.String()
	m.note = ""
	switch {
	case name == "ctrl+c":
		return tea.Quit
	case m.ask != nil:
		return m.answer(k)
	case m.help:
		m.keyHelp(name)
		return nil
	case m.open == nil && m.list.typing:
		m.typeFilter(k)
		return nil
	case name == "?":
		m.help, m.helpTop = true, 0
		return nil
	case m.action(name):
		return nil
	case m.open == nil:
		return m.keyList(name)
	case m.open.tl != nil && len(name) == 1 && strings.Contains(":#s0123456789", name):
		m.askPlace(name)
		return nil
	case m.open.detail.focused:
		return m.keyDetail(name)
	}
	return m.keyContext(name)
}

// moves tells whether a key moves in lines.
func moves(name string) bool {
	return slices.Contains([]string{"j", "k", "g", "G", "down", "up", "pgdown", "pgup", "home", "end", "space", "ctrl+f", "ctrl+b", "ctrl+d", "ctrl+u"}, name)
}

// move is where a key leads among n lines of which so many are shown.
func (m *Model) move(name string, at, n int) int {
	page := max(m.height-4, 1)
	switch name {
	case "j", "down":
		at++
	case "k", "up":
		at--
	case "pgdown", "ctrl+f", "ctrl+d", "space":
		at += page
	case "pgup", "ctrl+b", "ctrl+u":
		at -= page
	case "g", "home":
		at = 0
	case "G", "end":
		at = n - 1
	}
	return max(min(at, n-1), 0)
}

func (m *Model) keyList(name string) tea.Cmd {
	l := &m.list
	switch name {
	case "q":
		return tea.Quit
	case "esc":
		l.filter = ""
		l.apply()
	case "/":
		l.typing, l.filter = true, ""
		l.apply()
	case "r":
		return m.loadList()
	case "enter", "right", "l":
		if e, ok := l.chosen(); ok {
			m.open = newView(e)
			m.open.wanted = m.left[e.uuid]
			return tea.Batch(m.openEnd(), m.poll())
		}
	default:
		if !moves(name) {
			m.say(true, "tui.nothing", name)
		}
		l.at = m.move(name, l.at, len(l.shown))
	}
	return nil
}

// typeFilter takes a key while the filter is typed.
func (m *Model) typeFilter(k tea.KeyPressMsg) {
	l := &m.list
	switch k.String() {
	case "enter":
		l.typing = false
	case "esc":
		l.typing, l.filter = false, ""
	case "up", "down", "pgup", "pgdown":
		l.at = m.move(k.String(), l.at, len(l.shown))
		return
	default:
		l.filter = typed(l.filter, k)
	}
	l.apply()
}

// typed is a text after a key.
func typed(s string, k tea.KeyPressMsg) string {
	if k.String() == "backspace" {
		runes := []rune(s)
		return string(runes[:max(len(runes)-1, 0)])
	}
	if len(s) > 1000 {
		return s
	}
	return s + k.Text
}

func (m *Model) keyContext(name string) tea.Cmd {
	v := m.open
	if v.tl == nil && name != "q" && name != "esc" {
		return nil
	}
	switch name {
	case "q", "esc", "left", "h":
		m.leave()
		return nil
	case "enter", "tab", "right", "l":
		if v.row() == nil {
			m.fold()
			return nil
		}
		return m.focus()
	case "space":
		m.fold()
		return nil
	case "m":
		seq := v.items[min(v.at, len(v.items)-1)].seq
		v.minor = !v.minor
		v.build()
		v.choose(seq)
	case "f":
		if v.follow = !v.follow; v.follow {
			v.at = max(len(v.items)-1, 0)
			m.say(false, "tui.follows")
		} else {
			m.say(false, "tui.follows.not")
		}
	case "n", "N", "d", "c", "w", "t", "p":
		m.jump(name)
	case "$":
		return m.showCosts()
	case "v":
		return m.nextView()
	default:
		return m.moveContext(name)
	}
	return m.showDetail(false)
}

// leave goes back to the list, and remembers the row that was chosen.
func (m *Model) leave() {
	v := m.open
	if r := v.row(); r != nil && !v.follow {
		m.left[v.uuid] = r.Seq
	} else {
		delete(m.left, v.uuid)
	}
	m.open = nil
}

// moveContext moves in the timeline, and at its ends to the next window.
func (m *Model) moveContext(name string) tea.Cmd {
	if !moves(name) {
		m.say(true, "tui.nothing", name)
		return nil
	}
	v := m.open
	before := v.at
	v.at = m.move(name, v.at, len(v.items))
	v.follow = v.at == len(v.items)-1 && v.to == v.end
	switch {
	case v.loading:
		return m.showDetail(false)
	case (name == "g" || name == "home") && v.from > 1:
		return m.openFrom(1, 0)
	case (name == "G" || name == "end") && v.to < v.end:
		return m.openEnd()
	case v.at < before || v.at > before:
		return m.showDetail(false)
	case v.at == 0 && v.from > 1 && slices.Contains([]string{"k", "up", "pgup", "ctrl+b", "ctrl+u"}, name):
		return m.openUpTo(v.from - 1)
	case v.to < v.end && slices.Contains([]string{"j", "down", "pgdown", "ctrl+f", "ctrl+d"}, name):
		return m.openFrom(v.to+1, 0)
	}
	return nil
}

// fold folds or unfolds the phase of the chosen line.
func (m *Model) fold() {
	v := m.open
	for i := v.at; i >= 0 && i < len(v.items); i-- {
		if v.items[i].head() {
			seq := v.items[i].seq
			v.folded[seq] = !v.folded[seq]
			v.at = i
			v.build()
			return
		}
	}
	m.say(true, "tui.none.phase")
}

// question is asked before something is done.
type question struct {
	text   string
	typing bool // words are wanted, not yes or no
	typed  string
	do     func(words string) tea.Cmd
}

type doneMsg struct {
	text string
	err  error
}

// action asks about a key that does something; false for other keys.
func (m *Model) action(name string) bool {
	uuid, at := m.target()
	signal := map[string]contexts.Signal{"P": contexts.Pause, "R": contexts.Resume, "S": contexts.Stop}[name]
	switch {
	case uuid == "" || m.Signal == nil:
		return false
	case signal != "" && m.ended():
		m.say(true, "tui.ended."+i18n.ID(signal))
		return true
	case signal == contexts.Pause && m.rests():
		m.say(true, "tui.rests")
		return true
	case signal == contexts.Resume && !m.rests():
		m.say(true, "tui.rests.not")
		return true
	case signal != "":
		m.ask = &question{text: m.text("tui.ask."+i18n.ID(signal), uuid[:8]), do: func(string) tea.Cmd {
			return func() tea.Msg { text, err := m.Signal(uuid, signal); return doneMsg{text, err} }
		}}
		return true
	case name == "F" && m.Fork != nil && m.open != nil:
		m.ask = &question{text: m.text("tui.ask.fork", uuid[:8], at), typing: true, do: func(words string) tea.Cmd {
			return func() tea.Msg { text, err := m.Fork(context.Background(), uuid, at, words); return doneMsg{text, err} }
		}}
		return true
	}
	return false
}

// ended tells whether the context that a command is about has ended.
func (m *Model) ended() bool {
	e, _ := m.list.chosen()
	if m.open != nil {
		if e = m.open.entry; m.open.tl != nil && m.open.to == m.open.end {
			return m.open.tl.Over()
		}
	}
	return rank(&e) == 1
}

// target is the context, and in it the event, that a command is about.
func (m *Model) target() (uuid string, at uint64) {
	if m.open == nil {
		e, _ := m.list.chosen()
		return e.uuid, 0
	}
	if r := m.open.row(); r != nil {
		at = max(r.Seq, r.Outcome, r.Saved)
	}
	return m.open.uuid, at
}

// answer takes a key while a question is open.
func (m *Model) answer(k tea.KeyPressMsg) tea.Cmd {
	q := m.ask
	switch name := k.String(); {
	case name == "esc" || !q.typing && (name == "n" || name == "N"):
		m.ask = nil
	case q.typing && name == "enter", !q.typing && (name == "y" || name == "Y"):
		m.ask = nil
		return q.do(q.typed)
	case q.typing:
		q.typed = typed(q.typed, k)
	}
	return nil
}
