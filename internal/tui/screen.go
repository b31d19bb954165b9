package tui

import (
	"fmt"
	"strconv"
	"strings"

	"agent/contexts"
	"agent/internal/i18n"
	"agent/internal/report"
	"agent/internal/term"
	"agent/internal/timeline"
)

// roomy is a width from which on the timeline and the detail stand beside each other.
const roomy = 120

// timed is a width from which on rows have the time of the day.
const timed = 100

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

// screenContext is one context: what it is about, its figures, its timeline, and the detail.
func (m *Model) screenContext() []string {
	v := m.open
	lines := append([]string{m.title(v), m.figures(v)}, m.damage(v)...)
	rows := m.contextRows()
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

// damage says what is wrong with the log.
func (m *Model) damage(v *view) (lines []string) {
	if v.err == nil {
		return nil
	}
	said := wrap(clean(v.err.Error()), m.width)
	for _, line := range said[:min(len(said), 3)] {
		lines = append(lines, m.paint(term.Bad, line))
	}
	return lines
}

// contextRows is how many lines a context has below its head.
func (m *Model) contextRows() int {
	return m.height - 2 - len(m.damage(m.open)) - len(m.footer())
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
	usd := i18n.USD(t.CostUSD)
	if t.CostUSD > 0 && t.Unpriced > 0 {
		usd += "+"
	}
	width := max((m.width-60)/3, 4)
	line := fmt.Sprintf("%s %s %s%s · USD %s%s · %s %s%s", m.text("tui.bysteps"), m.text("tui.tokens"), chart(tokens, width), i18n.Tokens(t.Prompt+t.Completion, t.Estimated),
		chart(money, width), usd, m.text("tui.time"), chart(times, width), took(t.Seconds+t.ToolSeconds))
	if v.from > 1 || v.to < v.end {
		line += "  " + m.text("tui.part", v.from, v.to, v.end)
	}
	return m.paint(term.Aux, m.fit(line, m.width))
}

// chart is a bar for each step and a space, if there is anything to show.
func chart(values []float64, width int) string {
	if bars := spark(values, width); strings.TrimSpace(bars) != "" {
		return bars + " "
	}
	return ""
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
	if m.width < timed {
		head = fmt.Sprintf(" %5s %s ", strconv.FormatUint(r.Seq, 10), pad(m.text(i18n.OrOther("kind.", string(r.Kind))), kindWidth))
	}
	if m.width >= 60 {
		head += pad(v.stepOf(r), 5) + " "
	}
	room := max(width-term.Columns(head)-term.Columns(end)-3, 4)
	return cut(head+signOf(r.Status)+" "+pad(bodyOf(r, room), room)+" "+end, width), colorOfRow(r)
}

// bodyOf is what a row is about and its result in so many columns. Where there is no room for
// both, names of tools lose their servers and a comment its address, and of a tool call what is
// asked is cut before the result.
func bodyOf(r *timeline.Row, room int) string {
	title, result := clean(r.Title), strings.TrimPrefix(clean(r.Result), "→ ")
	if result == "" || term.Columns(title+" → "+result) <= room {
		return strings.TrimSuffix(title+" → "+result, " → ")
	}
	switch r.Kind {
	case timeline.Tool:
		title = bareTool(title)
		title = cut(title, max(room-3-min(term.Columns(result), 20), room/3))
	case timeline.Model:
		result = bareTool(result)
	case timeline.Comment:
		if r.Status == timeline.Done {
			return title
		}
	default:
	}
	return title + " → " + result
}

// bareTool takes the server from the name of a tool that a text begins with.
func bareTool(s string) string {
	name, _, _ := strings.Cut(s, " ")
	if i := strings.LastIndex(name, "/"); i >= 0 {
		return s[i+1:]
	}
	return s
}

// stepOf is the number of the step that a row belongs to.
func (v *view) stepOf(r *timeline.Row) string {
	if r.Step == 0 || !v.steps {
		return ""
	}
	return "s" + strconv.Itoa(r.Step)
}

// figuresOf is what a row took, at the end of its line; the tokens where there is room.
func figuresOf(r *timeline.Row, room bool) string {
	text := ""
	if n, known := r.Tokens(); room && known {
		text = i18n.Tokens(n, r.Estimated) + " tok "
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
