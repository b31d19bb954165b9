package export

import (
	"fmt"
	"io"
	"strings"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/internal/report"
	"agent/internal/sanitize"
	"agent/internal/viewer"
	"agent/projections"
)

// markdown writes what the context is about, and its conversation. Words of others
// stand in fences that they cannot close, so that nothing of them is rendered.
func (s Source) markdown(w io.Writer) (damage error) {
	state := projections.NewState()
	why := map[uint64]string{}
	for ev := range s.events(&damage) {
		state.Apply(ev)
		switch ev.Body.(type) {
		case *event.ContextPaused, *event.ContextAwaiting:
			if state.Config != nil {
				why[ev.Seq] = report.Because(state, s.Lang)
			}
		}
	}
	s.summary(w, state)
	messages := viewer.Conversation{Blob: s.blob, Lang: s.Lang}
	for line, err := range s.Store.Lines(s.UUID) {
		if err != nil {
			return err
		}
		if line.Record.Line == nil {
			continue
		}
		m, ok := messages.Add(line.Record)
		if !ok {
			continue
		}
		if m.Role == viewer.RoleMark {
			m = viewer.Message{Seq: m.Seq, Role: m.Mark(s.Lang, why[m.Seq])}
		}
		if _, err := io.WriteString(w, s.message(m, line.Record.When())); err != nil {
			return err
		}
	}
	return damage
}

func (s Source) text(id i18n.ID, args ...any) string { return i18n.Text(s.Lang, id, args...) }

// summary is the head of the document.
func (s Source) summary(w io.Writer, state *projections.State) {
	if state.Created == nil {
		return
	}
	title := sanitize.Inline(s.clean(state.Created.Title), nil)
	fmt.Fprintf(w, "# %s\n\n", title)
	rows := [][2]string{
		{s.text("export.task"), fenced(state.Key.String())},
		{s.text("export.context"), fenced(s.UUID)},
		{s.text("export.state"), i18n.State(s.Lang, report.StateOf(s.Store, contexts.Info{UUID: s.UUID, State: string(state.Status)}))},
		{s.text("export.time"), state.Started.UTC().Format(time.RFC3339) + " – " + state.Now.UTC().Format(time.RFC3339)},
		{s.text("export.calls"), report.Calls(s.Lang, state.Usage.Calls()) + " · " + s.text("calls.tools", state.Usage.ToolCalls)},
		{s.text("export.tokens"), i18n.Tokens(state.Usage.Prompt, state.Usage.Estimated) + fmt.Sprintf(" / %d", state.Usage.Completion)},
		{s.text("export.cost"), i18n.Cost(state.Usage.CostUSD)},
	}
	if c := state.Config; c != nil {
		rows = append(rows, [2]string{s.text("export.model"), fenced(c.Provider + " " + c.Model)})
	}
	if work := report.Work(state, s.Lang); work != "" {
		rows = append(rows, [2]string{s.text("export.work"), sanitize.Inline(s.clean(work), nil)})
	}
	fmt.Fprint(w, "| | |\n|---|---|\n")
	for _, row := range rows {
		fmt.Fprintf(w, "| %s | %s |\n", row[0], strings.ReplaceAll(s.clean(row[1]), "|", `\|`))
	}
	fmt.Fprintln(w)
}

// fenced is a word as code.
func fenced(word string) string {
	return "`" + strings.ReplaceAll(sanitize.Line(word, 300), "`", "'") + "`"
}

func (s Source) message(m viewer.Message, at time.Time) string {
	head := m.Role
	if m.Purpose != "" {
		head += " · " + m.Purpose
	}
	head = sanitize.Inline(sanitize.Line(s.clean(head), 200), nil)
	text := strings.Trim(sanitize.Terminal(s.clean(m.Text)), "\n")
	block := ""
	if text != "" {
		fence := fenceFor(text)
		block = fence + "\n" + text + "\n" + fence + "\n\n"
	}
	return fmt.Sprintf("## %d · %s\n\n%s\n\n%s", m.Seq, head, at.UTC().Format(time.RFC3339), block)
}

// fenceFor is a fence that a text does not close.
func fenceFor(text string) string {
	longest, run := 2, 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}
