package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"agent/internal/app"
	"agent/internal/app/rounds"
	"agent/internal/i18n"
	"agent/internal/redact"
	"agent/internal/sanitize"
	"agent/internal/term"
	"agent/internal/watch"
)

// working is what run and loop share: how they tell what they do.
type working struct {
	*cli
	quiet, verbose bool

	display *watch.Display // nil where nobody watches
	secrets *redact.Redactor
	mu      sync.Mutex // of the outputs, where there is no display
}

// do assembles the program, lets it work, and gives the error that the command ends with.
func (w *working) do(ctx context.Context, work func(*rounds.Rounds, *app.App, rounds.Voice) (rounds.Summary, error)) error {
	cfg, err := w.loadConfig()
	if err != nil {
		return err
	}
	o := w.options()
	if screen := term.Of(w.out); screen.Live() && !w.quiet && !w.asJSON {
		w.display = watch.NewDisplay(screen, w.lang, time.Now)
		defer w.display.Close()
		o.Stderr = w.display.Writer(w.err)
	}
	s, err := app.New(cfg, o)
	if err != nil {
		return err
	}
	defer s.Close()
	w.secrets = s.Redact
	defer context.AfterFunc(ctx, func() {
		if interrupted(ctx) {
			w.print(w.err, w.text("watch.stopping"))
		}
	})()
	voice := w.voice()
	summary, err := work(rounds.New(s, voice), s, voice)
	if interrupted(ctx) {
		w.sayKept(summary.Left)
		return quietly(exitInterrupted)
	}
	return errors.Join(err, quietly(roundCode(summary)))
}

// sayKept says what a Ctrl-C left, and how to go on.
func (w *working) sayKept(left []string) {
	if len(left) == 0 {
		w.print(w.err, w.text("watch.idle"))
		return
	}
	var short []string
	for _, uuid := range left {
		short = append(short, uuid[:8])
	}
	w.print(w.err, w.text("watch.kept", strings.Join(short, " ")))
}

// print prints a line for people, one at a time. Nothing in it acts on the terminal.
func (w *working) print(out io.Writer, line string) {
	line, _ = w.secrets.String(line)
	w.printSafe(out, sanitize.Terminal(line))
}

func (w *working) printSafe(out io.Writer, line string) {
	if w.display != nil {
		w.display.Print(out, line)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintln(out, line)
}

// voice says what rounds have to say: to people, or with --json to programs. A quiet
// one says only what asks for attention.
func (w *working) voice() rounds.Voice {
	v := rounds.Voice{Say: func(line string) { w.print(w.out, line) }, Trouble: w.trouble}
	v.Note = v.Say
	switch {
	case w.asJSON:
		v.Note, v.Say, v.Ended = func(string) {}, func(string) {}, w.printOutcome
	case w.quiet:
		v.Note = func(string) {}
	case w.display != nil:
		v.Watch, v.Ended = w.display, w.endLine
	case w.verbose:
		v.Watch = &watch.Plain{Print: v.Say, Lang: w.lang}
	}
	return v
}

func (w *working) trouble(what string, err error) {
	if w.asJSON {
		w.printOutcome(rounds.Outcome{TaskKey: what, State: "error", Error: err.Error(), Attention: true})
	}
	w.print(w.err, w.text("run.trouble", what, err))
	if hint := hintOf(err); hint != "" {
		w.print(w.err, "  → "+hint)
	}
}

func (w *working) printOutcome(o rounds.Outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	o.Because, _ = w.secrets.String(o.Because)
	o.Error, _ = w.secrets.String(o.Error)
	_ = w.printLine(o) // the next line fails as well
}

// endLine ends a task on a terminal.
func (w *working) endLine(o rounds.Outcome) {
	if o.State == rounds.Skipped {
		w.print(w.out, o.Line(w.lang))
		return
	}
	mark, color := "✓", term.Good
	switch {
	case o.State == "failed":
		mark, color = "✗", term.Bad
	case o.State != "completed":
		mark, color = "‖", term.Waits
	case o.Attention || o.Because != "":
		mark, color = "!", term.Waits
	}
	line := fmt.Sprintf("%s %s %s", mark, watch.Ref(o.TaskKey), i18n.State(w.lang, o.State))
	for _, more := range []string{o.Because, o.Change} {
		if more != "" {
			line += ": " + more
		}
	}
	line += " · " + watch.Took(w.lang, o.LLMCalls, o.Tokens, o.CostUSD, time.Duration(o.Seconds*float64(time.Second))) + " · agent inspect " + o.UUID[:8]
	line, _ = w.secrets.String(line)
	w.printSafe(w.out, term.Of(w.out).Paint(color, sanitize.Terminal(line)))
}

// sayNothing says that there was nothing to do, and how many tasks are paused.
func sayNothing(v rounds.Voice, s rounds.Summary, lang i18n.Lang) {
	switch {
	case s.Did > 0 || roundCode(s) != 0:
	case s.Paused > 0:
		v.Note(i18n.Text(lang, "run.nothing.paused", s.Paused))
	default:
		v.Note(i18n.Text(lang, "run.nothing"))
	}
}
