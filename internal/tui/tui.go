// Package tui is the browser in the terminal, `agent ui`: the contexts, one context as a
// timeline with folding phases, and what lies behind each of its rows. It follows a context
// that runs, and asks before it pauses, resumes, stops or forks one.
//
// Nothing that a log holds acts on the terminal: every text is cleaned by [clean] before it
// becomes part of a screen, and the only escape sequences are those of [Model.paint]. Of a
// log of any size a window is held, of the contexts one line each.
package tui

import (
	"context"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"agent/contexts"
	"agent/internal/i18n"
)

// Options say what is shown and what can be done.
type Options struct {
	Store  *contexts.Store
	UUID   string // of the context that is opened first; "": the list
	Lang   i18n.Lang
	Colors bool
	Now    func() time.Time
	Redact func(string) string // of what is shown of files
	With   string              // what a command that is shown repeats of this command line

	// Signal asks for a pause, a resume or a stop; Fork makes a fork. Both give a line that
	// says what was done.
	Signal func(uuid string, signal contexts.Signal) (string, error)
	Fork   func(ctx context.Context, uuid string, at uint64, say string) (string, error)
}

// Run shows the browser until it is left.
func Run(ctx context.Context, o Options, in io.Reader, out io.Writer) error {
	_, err := tea.NewProgram(New(o), tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out)).Run()
	return err
}

// Model is the state of the browser.
type Model struct {
	Options
	width, height int
	list          list
	open          *view     // the context that is shown; nil: the list
	ask           *question // that waits for an answer
	note          string    // what the latest command did
	bad           bool      // it failed
	help          bool
	helpTop       int               // the first line of it that is shown
	left          map[string]uint64 // rows that were chosen when their contexts were left

	after func(time.Duration, func() tea.Msg) tea.Cmd // tests have no clock
}

// New makes a browser. Its size is that of a small terminal until it is told another.
func New(o Options) *Model {
	m := &Model{Options: o, width: 80, height: 24, after: later, left: map[string]uint64{}}
	if o.UUID != "" {
		m.open = newView(entry{uuid: o.UUID})
	}
	return m
}

func later(d time.Duration, f func() tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return f() })
}

// Init begins to read.
func (m *Model) Init() tea.Cmd {
	if m.open != nil { // the list waits for the first window of it
		return tea.Batch(m.openEnd(), m.poll())
	}
	return m.loadList()
}

// Update takes what happened.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, 20), max(msg.Height, 6)
		return m, m.showDetail(false)
	case tea.KeyPressMsg:
		return m, m.key(msg)
	case batchMsg:
		return m, m.list.add(m, msg)
	case reloadMsg:
		return m, m.loadList()
	case windowMsg:
		shown := m.window(msg)
		if m.list.run == 0 {
			return m, tea.Batch(shown, m.loadList())
		}
		return m, shown
	case placeMsg:
		return m, m.placed(msg)
	case pollMsg:
		return m, m.polled(msg)
	case detailMsg:
		m.detailed(msg)
	case doneMsg:
		m.note, m.bad = msg.text, msg.err != nil
		if msg.err != nil {
			m.note = msg.err.Error()
		}
		return m, m.loadList()
	}
	return m, nil
}

// View is the screen.
func (m *Model) View() tea.View {
	return tea.View{Content: m.screen(), AltScreen: true, WindowTitle: "agent"}
}

func (m *Model) text(id i18n.ID, args ...any) string { return i18n.Text(m.Lang, id, args...) }
