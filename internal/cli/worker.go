package cli

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
	"agent/internal/sandbox"
	"agent/internal/sanitize"
	"agent/internal/startup"
	"agent/internal/term"
	"agent/internal/watch"
)

// Worker is what run, loop and try share: they work, and tell what they do.
type Worker struct {
	*Env
	Quiet, Verbose bool

	display *watch.Display // nil where nobody watches
	Secrets *redact.Redactor
	mu      sync.Mutex // of the outputs, where there is no display
}

// Do assembles the program, lets it work, and gives the error that the command ends with.
func (w *Worker) Do(ctx context.Context, work func(*rounds.Rounds, *app.App, rounds.Voice) (rounds.Summary, error)) error {
	go sandbox.Available() // trying it takes a while, and nearly all configurations ask
	cfg, err := w.LoadConfig()
	if err != nil {
		return err
	}
	o := w.Options()
	defer w.Live(&o)()
	s, err := app.New(cfg, o)
	if err != nil {
		return err
	}
	defer s.Close()
	w.Secrets = s.Redact
	defer w.SayStopping(ctx)()
	voice := w.voice()
	startup.GiveBack()
	summary, err := work(rounds.New(s, voice), s, voice)
	if Interrupted(ctx) {
		w.sayKept(summary.Left)
		return Quietly(ExitInterrupted)
	}
	return errors.Join(err, Quietly(RoundCode(summary)))
}

// Live gives each task a live line where somebody watches, until end is called.
func (w *Worker) Live(o *app.Options) (end func()) {
	screen := term.Of(w.Out)
	if !screen.Live() || w.Quiet || w.JSON {
		return func() {}
	}
	w.display = watch.NewDisplay(screen, w.Lang, time.Now)
	o.Stderr = w.display.Writer(w.Err)
	return w.display.Close
}

// Watcher is what shows the steps of tasks: the live lines, or lines that say prints.
func (w *Worker) Watcher(say func(string)) rounds.Watcher {
	if w.display != nil {
		return w.display
	}
	return &watch.Plain{Print: say, Lang: w.Lang}
}

// SayStopping says at a Ctrl-C that the work ends, until stop is called.
func (w *Worker) SayStopping(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		if Interrupted(ctx) {
			w.Print(w.Err, w.Text("watch.stopping"))
		}
	})
}

// sayKept says what a Ctrl-C left, and how to go on.
func (w *Worker) sayKept(left []string) {
	if len(left) == 0 {
		w.Print(w.Err, w.Text("watch.idle"))
		return
	}
	var short []string
	for _, uuid := range left {
		short = append(short, uuid[:8])
	}
	w.Print(w.Err, w.Text("watch.kept", strings.Join(short, " ")+w.With()))
}

// Print prints a line for people, one at a time. Nothing in it acts on the terminal.
func (w *Worker) Print(out io.Writer, line string) {
	line, _ = w.Secrets.String(line)
	w.PrintSafe(out, sanitize.Terminal(line))
}

// PrintSafe prints what has been made safe.
func (w *Worker) PrintSafe(out io.Writer, line string) {
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
func (w *Worker) voice() rounds.Voice {
	v := rounds.Voice{Say: func(line string) { w.Print(w.Out, line) }, Trouble: w.Trouble}
	v.Note = v.Say
	switch {
	case w.JSON:
		v.Note, v.Say, v.Ended = func(string) {}, func(string) {}, w.printOutcome
	case w.Quiet:
		v.Note = func(string) {}
	case w.display != nil:
		v.Watch, v.Ended = w.display, w.endLine
	case w.Verbose:
		v.Watch = w.Watcher(v.Say)
	}
	return v
}

// Trouble tells what went wrong with something, and what to do about it.
func (w *Worker) Trouble(what string, err error) {
	if w.JSON {
		w.printOutcome(rounds.Outcome{TaskKey: what, State: "error", Error: err.Error(), Attention: true})
	}
	w.Print(w.Err, w.Text("run.trouble", what, err))
	if hint := Hint(err); hint != "" {
		w.Print(w.Err, "  → "+hint)
	}
}

func (w *Worker) printOutcome(o rounds.Outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	o.Because, _ = w.Secrets.String(o.Because)
	o.Error, _ = w.Secrets.String(o.Error)
	_ = w.PrintLine(o) // the next line fails as well
}

// endLine ends a task on a terminal.
func (w *Worker) endLine(o rounds.Outcome) {
	if o.State == rounds.Skipped {
		w.Print(w.Out, o.Line(w.Lang))
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
	line := fmt.Sprintf("%s %s %s", mark, watch.Ref(o.TaskKey), i18n.State(w.Lang, o.State))
	for _, more := range []string{o.Because, o.Change} {
		if more != "" {
			line += ": " + more
		}
	}
	line += " · " + watch.Took(w.Lang, o.LLMBegun, o.Tokens, o.CostUSD, time.Duration(o.Seconds*float64(time.Second))) + " · agent inspect " + o.UUID[:8] + w.With()
	line, _ = w.Secrets.String(line)
	w.PrintSafe(w.Out, term.Of(w.Out).Paint(color, sanitize.Terminal(line)))
}

// SayNothing says that there was nothing to do, and how many tasks are paused.
func SayNothing(v rounds.Voice, s rounds.Summary, lang i18n.Lang) {
	switch {
	case s.Did > 0 || RoundCode(s) != 0:
	case s.Paused > 0:
		v.Note(i18n.Text(lang, "run.nothing.paused", s.Paused))
	default:
		v.Note(i18n.Text(lang, "run.nothing"))
	}
}
