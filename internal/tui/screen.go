package tui

import (
	"fmt"
	"strconv"
	"strings"

	"agent/contexts"
	"agent/internal/i18n"
	"agent/internal/report"
	"agent/internal/sanitize"
	"agent/internal/term"
	"agent/internal/timeline"
)

// roomy is a width from which on the timeline and the detail stand beside each other.
const roomy = 120

// screen is everything that is shown.
func (m *Model) screen() string {
	var lines []string
	switch {
	case m.help:
		lines = m.screenHelp()
	case m.open == nil:
		lines = m.screenList()
	default:
		lines = m.screenContext()
	}
	footer := m.footer()
	room := max(m.height-len(footer), 0)
	for len(lines) < room {
		lines = append(lines, "")
	}
	return strings.Join(append(lines[:room], footer...), "\n")
}

// mostFooter is how many lines a question or an answer takes at most.
const mostFooter = 3

// footer is a question, what the latest command did, or the keys. What is typed has a line
// of its own, so that it is seen on a narrow terminal, too: its end, where it grows.
func (m *Model) footer() []string {
	keys := i18n.ID("tui.keys.context")
	switch {
	case m.help:
		keys = "tui.keys.help"
	case m.ask != nil:
		lines := m.footerLines(term.Waits, m.ask.text)
		if m.ask.typing {
			lines = append(lines, m.paint(term.Waits, "> "+end(sanitize.Terminal(m.ask.typed), m.width-3)+cursor(true)))
		}
		return lines
	case m.note != "":
		color := term.Good
		if m.bad {
			color = term.Bad
		}
		return m.footerLines(color, m.note)
	case m.open == nil && m.list.typing:
		keys = "tui.keys.filter"
	case m.open == nil:
		keys = "tui.keys.list"
	case m.open.detail.focused:
		keys = "tui.keys.detail"
	}
	return m.footerLines(term.Aux, m.text(keys))
}

func (m *Model) footerLines(c term.Color, text string) (lines []string) {
	pieces := wrap(clean(text), m.width)
	if len(pieces) > mostFooter {
		pieces = append(pieces[:mostFooter-1], cut(strings.Join(pieces[mostFooter-1:], ""), m.width))
	}
	for _, piece := range pieces {
		lines = append(lines, m.paint(c, piece))
	}
	return lines
}

// screenContext is one context: what it is about, its figures, its timeline, and the detail.
func (m *Model) screenContext() []string {
	v := m.open
	lines := []string{m.title(v), m.figures(v)}
	if v.err != nil {
		said := wrap(clean(v.err.Error()), m.width)
		for _, line := range said[:min(len(said), 3)] {
			lines = append(lines, m.paint(term.Bad, line))
		}
	}
	rows := m.height - len(lines) - len(m.footer())
	if m.width < roomy || v.detail.costs {
		if v.detail.focused {
			return append(lines, m.detailLines(m.width, rows)...)
		}
		return append(lines, m.timelineLines(m.width, rows)...)
	}
	left := m.width * 11 / 20
	rows = max(rows, 1)
	timelines, details := m.timelineLines(left, rows), m.detailLines(m.width-left-2, rows)
	for i := range rows {
		a, b := lineAt(timelines, i), lineAt(details, i)
		lines = append(lines, a+strings.Repeat(" ", max(left-visible(a), 0))+"│ "+b)
	}
	return lines
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// visible is how many columns a painted text takes.
func visible(s string) (n int) {
	for {
		before, after, ok := strings.Cut(s, "\x1b[")
		n += term.Columns(before)
		if !ok {
			return n
		}
		_, s, _ = strings.Cut(after, "m")
	}
}

// title says what the context is and what it does now.
func (m *Model) title(v *view) string {
	state, color := m.stateNow(v)
	name := cut(fmt.Sprintf("%s  %s  ", v.uuid[:min(8, len(v.uuid))], clean(v.task)), m.width)
	state = cut(clean(state), m.width-term.Columns(name))
	title := cut("  "+clean(v.title), m.width-term.Columns(name)-term.Columns(state))
	return m.paint(term.Head, name) + m.paint(color, state) + title
}

// stateNow is the state with what is waited for: a model, a tool, a person, a time.
func (m *Model) stateNow(v *view) (string, term.Color) {
	if v.tl == nil {
		return "…", term.Aux
	}
	state := v.tl.Status
	if v.to != v.end || state == "" {
		state = v.state
	}
	if state == contexts.StateRunning && !v.worked && !v.tl.Over() {
		state = report.Interrupted
	}
	text := i18n.State(m.Lang, state)
	if w, ok := v.tl.Waiting(); ok && v.to == v.end && state != report.Interrupted {
		text += " · " + m.text(i18n.ID("page.waits."+w.For), clean(w.What)) + ", " + report.Age(m.Now().Sub(w.Since))
	}
	return text, colorOfState(state)
}

// figures are tokens, money and time: the sums, and a bar for each step.
func (m *Model) figures(v *view) string {
	if v.tl == nil {
		return ""
	}
	var tokens, money, times []float64
	for _, s := range v.tl.Steps {
		tokens, money, times = append(tokens, float64(s.Prompt+s.Completion)), append(money, s.CostUSD), append(times, s.Seconds+s.ToolSeconds)
	}
	t := v.tl.Total
	usd := "–"
	if t.CostUSD > 0 {
		if usd = i18n.USD(t.CostUSD); t.Unpriced > 0 {
			usd += "+"
		}
	}
	width := max((m.width-60)/3, 4)
	line := fmt.Sprintf("%s %s %d  %s %s %s  %s %s %s", m.text("tui.tokens"), spark(tokens, width), t.Prompt+t.Completion, "USD", spark(money, width), usd,
		m.text("tui.time"), spark(times, width), took(t.Seconds+t.ToolSeconds))
	if v.from > 1 || v.to < v.end {
		line += "  " + m.text("tui.part", v.from, v.to, v.end)
	}
	return m.paint(term.Aux, m.fit(line, m.width))
}

// kindWidth is how wide the words for what a row is about are.
const kindWidth = 11

// timelineLines are the rows of the timeline around the chosen one.
func (m *Model) timelineLines(width, rows int) (lines []string) {
	v := m.open
	if v.tl == nil {
		return []string{m.text("tui.loading")}
	}
	top := topOf(v.at, rows, len(v.items))
	for i := top; i < min(top+rows, len(v.items)); i++ {
		line, color := m.item(v, v.items[i], width)
		painted := m.paint(color, line)
		if i == v.at {
			line = "▶" + strings.TrimPrefix(line, " ")
			painted = m.paint("7", line+strings.Repeat(" ", max(width-term.Columns(line), 0)))
		}
		lines = append(lines, painted)
	}
	return lines
}

func (m *Model) item(v *view, it item, width int) (string, term.Color) {
	if it.head() {
		sign := "▼"
		if v.folded[it.seq] {
			sign = "▷"
		}
		text := fmt.Sprintf(" %s %s (%d)", sign, clean(i18n.Phase(m.Lang, it.phase)), it.rows)
		if it.bad > 0 {
			text += " " + m.text("tui.failed", it.bad)
		}
		return m.fit(text, width), term.Head
	}
	r := &v.tl.Rows[it.row]
	end := figuresOf(r, width >= 100)
	head := fmt.Sprintf(" %5s %s %s ", strconv.FormatUint(r.Seq, 10), r.Started.Local().Format("15:04:05"), pad(m.text(i18n.OrOther("kind.", string(r.Kind))), kindWidth))
	if m.width < roomy {
		head = fmt.Sprintf(" %5s %s ", strconv.FormatUint(r.Seq, 10), pad(m.text(i18n.OrOther("kind.", string(r.Kind))), kindWidth))
	}
	if m.width >= 60 {
		head += pad(v.stepOf(r), 5) + " "
	}
	body := clean(r.Title)
	if r.Result != "" {
		body += " → " + strings.TrimPrefix(clean(r.Result), "→ ")
	}
	room := max(width-term.Columns(head)-term.Columns(end)-3, 4)
	return cut(head+signOf(r.Status)+" "+pad(body, room)+" "+end, width), colorOfRow(r)
}

// stepOf is the number of the step that a model call begins or tries again.
func (v *view) stepOf(r *timeline.Row) string {
	if r.Kind != timeline.Model || r.Step == 0 || !v.steps {
		return ""
	}
	return "s" + strconv.Itoa(r.Step)
}

// figuresOf is what a row took, at the end of its line; the tokens where there is room.
func figuresOf(r *timeline.Row, room bool) string {
	text := ""
	if n, known := r.Tokens(); room && known {
		text = fmt.Sprintf("%d tok ", n)
	}
	if r.Kind == timeline.Model && r.Status != timeline.Open {
		text += i18n.USD(r.CostUSD) + " USD "
	}
	if r.Files > 0 {
		text = fmt.Sprintf("+%d−%d ", r.Added, r.Removed)
	}
	if r.Timed && (r.Kind == timeline.Model || r.Kind == timeline.Tool) {
		text += took(r.Seconds)
	}
	return text
}

func signOf(s timeline.Status) string {
	switch s {
	case timeline.Failed:
		return "✗"
	case timeline.Open:
		return "…"
	case timeline.Interrupted:
		return "⚠"
	case timeline.Done:
	}
	return " "
}

func colorOfRow(r *timeline.Row) term.Color {
	switch {
	case r.Status == timeline.Failed:
		return term.Bad
	case r.Status == timeline.Open, r.Status == timeline.Interrupted, r.Kind == timeline.Pause, r.Kind == timeline.Await, r.Kind == timeline.Interruption:
		return term.Waits
	case r.Kind == timeline.Model:
		return term.Name
	case r.Kind == timeline.End, r.Kind == timeline.Change:
		return term.Good
	}
	return ""
}
