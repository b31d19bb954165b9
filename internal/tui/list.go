package tui

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"agent/contexts"
	"agent/internal/i18n"
	"agent/internal/report"
	"agent/internal/term"
)

// entry is a context in the list.
type entry struct {
	uuid, state, task, title, waits string
	updated                         time.Time
	cost                            float64
	calls, tokens                   int
	estimated                       bool
	partial                         bool
	find                            string // what the filter looks at
}

func entryOf(store *contexts.Store, i contexts.Info) entry {
	e := entry{uuid: i.UUID, state: report.StateOf(store, i), task: i.Address(), title: i.Title, waits: i.Waits, updated: i.Updated, cost: i.CostUSD, partial: i.Partial,
		calls: i.Calls().All, tokens: i.Tokens, estimated: i.Estimated}
	if e.updated.IsZero() {
		e.updated = i.Created
	}
	e.find = strings.ToLower(strings.Join([]string{e.uuid, e.state, e.task, e.title}, " "))
	return e
}

// list is the contexts that are there.
type list struct {
	all    []entry
	shown  []int // those that fit the filter
	at     int   // of shown
	filter string
	typing bool // the filter is being typed
	loaded bool // all contexts are in it
	run    int  // which reading its entries are of; 0: none was begun
	seen   contexts.Seen
	err    error
	wide   int // columns of the tasks
}

type batchMsg struct {
	run   int
	all   []entry // the first ones, then all of them
	done  bool
	err   error
	took  time.Duration
	batch chan batchMsg
}

type reloadMsg struct{}

const (
	firstBatch = 60      // contexts that fill the first screen
	longLog    = 8 << 20 // bytes of a log that the list does not read
)

// loadList reads the contexts: first some as the index knows them, those that live before
// the others, so that the first screen waits neither for the last of a hundred thousand nor
// for a long log.
func (m *Model) loadList() tea.Cmd {
	m.list.run++
	run, store, seen, first, c := m.list.run, m.Store, &m.list.seen, !m.list.loaded, make(chan batchMsg, 2)
	seen.Longest = longLog
	go func() {
		begin := time.Now()
		if first {
			known, _ := store.Known(firstBatch) // what is wrong is said when all are read
			c <- batchMsg{run: run, all: sorted(store, slices.Values(known)), batch: c}
		}
		var failed error
		all := sorted(store, func(yield func(contexts.Info) bool) {
			for info, err := range store.Infos(contexts.Query{Seen: seen}) {
				if failed = err; err != nil || !yield(info) {
					return
				}
			}
		})
		c <- batchMsg{run: run, all: all, done: true, err: failed, took: time.Since(begin)}
	}()
	return func() tea.Msg { return <-c }
}

// sorted puts the contexts into the order of the list.
func sorted(store *contexts.Store, infos iter.Seq[contexts.Info]) []entry {
	var found []*entry // moved once
	for info := range infos {
		e := entryOf(store, info)
		found = append(found, &e)
	}
	slices.SortStableFunc(found, func(a, b *entry) int { return cmp.Or(rank(a)-rank(b), b.updated.Compare(a.updated)) })
	all := make([]entry, len(found))
	for i, e := range found {
		all[i] = *e
	}
	return all
}

// rank puts what lives above what has ended.
func rank(e *entry) int {
	switch e.state {
	case "completed", "stopped", "failed":
		return 1
	}
	return 0
}

// add takes contexts that were read, and reads again after a while that grows with the
// time that it takes.
func (l *list) add(m *Model, b batchMsg) tea.Cmd {
	if b.run != l.run || !b.done && l.loaded {
		if b.done {
			return nil
		}
		return func() tea.Msg { return <-b.batch }
	}
	l.set(b.all)
	l.err = b.err
	if !b.done {
		return func() tea.Msg { return <-b.batch }
	}
	l.loaded = true
	if v := m.open; v != nil {
		if i := slices.IndexFunc(l.all, func(e entry) bool { return e.uuid == v.uuid }); i >= 0 {
			v.entry = l.all[i]
		}
	}
	return m.after(max(3*time.Second, 20*b.took), func() tea.Msg { return reloadMsg{} })
}

// set replaces the entries; the one that is chosen stays chosen.
func (l *list) set(all []entry) {
	chosen, ok := l.chosen()
	l.all = all
	l.apply()
	if !ok {
		return
	}
	if i := slices.IndexFunc(l.shown, func(i int) bool { return l.all[i].uuid == chosen.uuid }); i >= 0 {
		l.at = i
	}
}

// apply filters by words, all of which a context must have.
func (l *list) apply() {
	words := strings.Fields(strings.ToLower(l.filter))
	l.shown = l.shown[:0]
	for i := range l.all {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(l.all[i].find, w) }) {
			l.shown = append(l.shown, i)
		}
	}
	l.at = min(l.at, max(len(l.shown)-1, 0))
}

func (l *list) chosen() (entry, bool) {
	if l.at < 0 || l.at >= len(l.shown) {
		return entry{}, false
	}
	return l.all[l.shown[l.at]], true
}

// screenList is the list as lines.
func (m *Model) screenList() []string {
	l := &m.list
	rows := m.height - 2 - len(m.footer())
	top := topOf(l.at, rows, len(l.shown))
	shown := l.shown[top:min(top+max(rows, 0), len(l.shown))]
	l.wide = m.taskWidth(shown)
	head := m.text("tui.contexts", len(l.shown), len(l.all))
	if !l.loaded {
		head += " …"
	}
	lines := []string{m.paint(term.Head, m.fit(head, m.width))}
	switch {
	case l.err != nil:
		lines = append(lines, m.paint(term.Bad, m.fit(l.err.Error(), m.width)))
	case l.typing || l.filter != "":
		lines = append(lines, m.paint(term.Waits, m.fit("/"+l.filter+cursor(l.typing), m.width)))
	default:
		lines = append(lines, m.paint(term.Aux, m.columns(m.text("tui.id"), m.text("tui.state"), m.text("tui.age"), m.used(m.text("tui.calls"), m.text("tui.tokens")), m.text("tui.cost"), m.text("tui.task"), m.text("tui.title"))))
	}
	if len(l.shown) == 0 && l.loaded {
		lines = append(lines, m.fit(m.text("tui.none"), m.width))
	}
	for n, i := range shown {
		lines = append(lines, m.row(l.all[i], top+n == l.at))
	}
	return lines
}

func cursor(typing bool) string {
	if typing {
		return "▏"
	}
	return ""
}

// row is one context on one line.
func (m *Model) row(e entry, chosen bool) string {
	line := m.columns(e.uuid[:min(idWidth, len(e.uuid))], i18n.Standing(m.Lang, e.state, e.waits, e.partial), report.Age(m.Now().Sub(e.updated)), m.used(fmt.Sprint(e.calls), i18n.Tokens(e.tokens, e.estimated)), i18n.USD(e.cost), e.task, e.title)
	return m.mark(m.paint(colorOfState(e.state), line), line, chosen)
}

// Widths of columns: the beginning of an id, which every command takes, and a state with
// what it waits for.
const (
	idWidth    = 8
	stateWidth = 17
)

// used are the model calls and the tokens of a context, where there is room for them.
func (m *Model) used(calls, tokens string) string {
	if m.width < timed {
		return ""
	}
	return " " + padLeft(calls, 8) + " " + padLeft(tokens, 9)
}

// columns lays out the cells of a row of the list.
func (m *Model) columns(id, state, age, used, cost, task, title string) string {
	wide := m.list.wide
	return m.fit(fmt.Sprintf("  %s %s %s%s %s  %s %s", pad(id, idWidth), pad(state, stateWidth), padLeft(age, 5), used, padLeft(cost, 8), pad(shortTask(clean(task), wide), wide), clean(title)), m.width)
}

// taskWidth is how wide the tasks of some rows are; titles need room, too.
func (m *Model) taskWidth(shown []int) (wide int) {
	most := min(40, max(m.width-2-idWidth-1-stateWidth-1-5-1-8-2, 20)*3/5)
	wide = term.Columns(m.text("tui.task"))
	for _, i := range shown {
		wide = max(wide, term.Columns(shortTask(clean(m.list.all[i].task), most)))
	}
	return min(wide, most)
}

// shortTask is an address of at most so many columns: its project and number stay.
func shortTask(task string, width int) string {
	if term.Columns(task) <= width {
		return task
	}
	host, rest, ok := strings.Cut(task, "/")
	if !ok || host == "" {
		return end(task, width)
	}
	for _, kind := range []struct{ long, short string }{{"/-/issues/", "#"}, {"/-/merge_requests/", "!"}, {"/issues/", "#"}, {"/pulls/", "#"}, {"/pull/", "#"}, {"/merge_requests/", "!"}} {
		if i := strings.LastIndex(rest, kind.long); i >= 0 {
			rest = rest[:i] + kind.short + rest[i+len(kind.long):]
			break
		}
	}
	if short := "…/" + rest; term.Columns(short) <= width {
		return short
	}
	if i := strings.LastIndex(rest, "/"); i >= 0 && term.Columns("…"+rest[i:]) <= width {
		return "…" + rest[i:]
	}
	return end(rest, width)
}

func colorOfState(state string) term.Color {
	switch state {
	case "failed", contexts.StateDamaged:
		return term.Bad
	case contexts.StatePaused, contexts.StateAwaiting, report.Interrupted:
		return term.Waits
	case contexts.StateRunning:
		return term.Good
	}
	return ""
}
