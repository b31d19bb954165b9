package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"agent/internal/i18n"
	"agent/internal/report"
	"agent/internal/sanitize"
	"agent/internal/show"
	"agent/internal/term"
)

// Page puts what follows behind a pager, where there is a terminal. Whoever calls
// it calls end.
func (e *Env) Page() (end func()) {
	if e.JSON {
		return func() {}
	}
	e.Out, end = term.Of(e.Out).Page()
	return end
}

// PageLong is Page for a command that shows what it finds while it works.
func (e *Env) PageLong() (end func()) {
	if e.JSON {
		return func() {}
	}
	e.Out, end = term.Of(e.Out).PageLong()
	return end
}

// Text is a text in the language of this command line.
func (e *Env) Text(id i18n.ID, args ...any) string { return i18n.Text(e.Lang, id, args...) }

// Tell prints an answer: a line of JSON for programs, or a text for people.
// Nothing in it acts on a terminal.
func (e *Env) Tell(answer any, id i18n.ID, args ...any) {
	if e.JSON {
		_ = e.PrintLine(answer) // the next line fails as well
		return
	}
	e.Say(id, args...)
}

// Say prints one line; nothing in it acts on the terminal.
func (e *Env) Say(id i18n.ID, args ...any) {
	fmt.Fprintln(e.Out, sanitize.Terminal(e.Text(id, args...)))
}

// Paint prints one line in a colour.
func (e *Env) Paint(color term.Color, line string) {
	s := term.Of(e.Out)
	fmt.Fprintln(s, s.Paint(color, sanitize.Terminal(line)))
}

// PrintLine prints a value for programs on a line of its own.
func (e *Env) PrintLine(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.Out, "%s\n", sanitize.JSON(data))
	return err
}

// Problem prints what is wrong, to standard error.
func (e *Env) Problem(text string) {
	fmt.Fprintln(e.Err, "agent: "+sanitize.Terminal(text))
}

// Warning prints one about a context or the configuration.
func (e *Env) Warning(err error) { e.Problem("warning: " + err.Error()) }

// Printer prints for people what needs no context.
func (e *Env) Printer() *show.Printer {
	return &show.Printer{Source: report.Source{Lang: e.Lang}, Screen: term.Of(e.Out)}
}

// Agreed asks a person whether to go on. No answer is no.
func (e *Env) Agreed(in io.Reader, ask i18n.ID, args ...any) bool {
	fmt.Fprint(e.Err, e.Text(ask, args...))
	answer, _ := bufio.NewReader(in).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes", "はい":
		return true
	}
	fmt.Fprintln(e.Err, e.Text("forget.kept"))
	return false
}

// IsTerminal tells whether a person reads or writes there.
func IsTerminal(f *os.File) bool { return term.Of(f).Terminal }

// Report prints what a command did, as text or as one JSON object. What it could not do all of
// ends with 1.
func (e *Env) Report(err error, report any, incomplete bool, text func()) error {
	if err != nil {
		return err
	}
	if e.JSON {
		err = e.PrintLine(report)
	} else {
		text()
	}
	if err == nil && incomplete {
		err = Quietly(ExitFailed)
	}
	return err
}
