package try

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"agent/forge/files"
	"agent/internal/app/rounds"
	"agent/internal/cli"
	"agent/internal/config"
	"agent/internal/i18n"
	"agent/projections"
)

// Dialog is how a try talks with whoever started it.
type Dialog struct {
	In     *bufio.Reader
	Person bool // somebody is there and can answer
	JSON   bool // the result is for a program
	Lang   i18n.Lang
	With   string             // flags that commands for the same contexts have to repeat
	Show   func(line string)  // prints a line of the result
	Say    func(line string)  // prints a line about it
	Patch  func(patch string) // prints a patch
	Prompt io.Writer          // of questions
}

func (d *Dialog) text(id i18n.ID, args ...any) string { return i18n.Text(d.Lang, id, args...) }

// agreed asks the person. No answer is no.
func (d *Dialog) agreed(id i18n.ID) bool {
	switch strings.ToLower(d.ask(id)) {
	case "y", "yes", "はい":
		return true
	}
	return false
}

func (d *Dialog) ask(id i18n.ID) string {
	fmt.Fprint(d.Prompt, d.text(id))
	answer, _ := d.In.ReadString('\n')
	return strings.TrimSpace(answer)
}

// UsageError is a command line that cannot be understood.
type UsageError struct{ text string }

func (e *UsageError) Error() string { return e.text }

// mostPiped is how much of a task is read from a pipe.
const mostPiped = 1 << 20

// Task is what is to be done.
type Task = files.Task

// ReadTask reads what is to be done: the argument, a file, or what is piped in.
func ReadTask(args []string, file string, in io.Reader, terminal bool) (files.Task, error) {
	var data []byte
	var err error
	switch {
	case len(args) > 0 && file != "":
		err = &UsageError{"give a text or --file, not both"}
	case len(args) > 0:
		data = []byte(args[0])
	case file != "":
		data, err = os.ReadFile(file)
	case terminal:
		err = &UsageError{"try needs a text, --file, or something on standard input"}
	default:
		data, err = io.ReadAll(io.LimitReader(in, mostPiped))
	}
	if err == nil && strings.TrimSpace(string(data)) == "" {
		err = &UsageError{"the task is empty"}
	}
	if err != nil {
		return files.Task{}, err
	}
	return files.ReadTask(data), nil
}

// Line says which model is used, and that a paid one is paid.
func (m Model) Line(cfg *config.Config, lang i18n.Lang) string {
	p := cfg.LLM.Active()
	from := i18n.Text(lang, "try.from."+i18n.ID(m.From), m.Variable)
	line := i18n.Text(lang, "try.model", p.Driver.Title, p.Model, p.URL, from)
	if Paid(cfg) {
		line += i18n.Text(lang, "try.paid")
	}
	return line
}

// Talk works until the task ends, or waits for what nobody here says.
func (t *Try) Talk(ctx context.Context, d *Dialog) (rounds.Summary, error) {
	summary, err := t.Work(ctx)
	for err == nil && ctx.Err() == nil && d.Person && t.Asks() {
		answer := d.ask("try.answer")
		if answer == "" {
			break
		}
		summary, err = t.Answer(ctx, answer)
	}
	return summary, err
}

// SayNext says how to see more, and how to go on with what has not ended.
func (t *Try) SayNext(ctx context.Context, d *Dialog, r Result) {
	switch waits, _ := t.Waiting(); {
	case r.UUID == "":
		return
	case r.State == string(projections.Running):
		d.Say(d.text("try.kepton", r.UUID[:8]+d.With))
	case waits || ctx.Err() != nil && !r.ended():
		d.Say(d.text("try.goon", i18n.State(d.Lang, r.State), r.Reason, r.UUID[:8]+d.With))
	case !r.Completed():
		d.Say(d.text("try.failed", i18n.State(d.Lang, r.State), r.Reason))
	}
	d.Say(d.text("try.context", r.UUID, r.UUID[:8]+d.With))
}

// Use is what is done with a change. With nothing chosen the person is asked.
type Use struct {
	Patch  string // absolute path of a file that it is written to
	Branch string // that is made with it
	Apply  bool   // to the directory
}

// flags are those that ask for it.
func (u Use) flags() (flags string) {
	if u.Branch != "" {
		flags += " --branch " + cli.Quoted(u.Branch)
	}
	if u.Patch != "" {
		flags += " --patch " + cli.Quoted(u.Patch)
	}
	if u.Apply || u == (Use{}) {
		flags += " --apply"
	}
	return flags
}

// Reviewed reports whether a person sees the change before it goes anywhere.
func (u Use) Reviewed() bool { return !u.Apply && u.Branch == "" }

// Use applies the change of a result, which says where to.
func (t *Try) Use(ctx context.Context, d *Dialog, u Use, r *Result) error {
	if r.Patch == "" {
		d.Show(d.text("try.nothing"))
		return nil
	}
	if u.Patch == "" && !d.JSON {
		d.Patch(r.Patch)
	}
	if u.Patch != "" {
		if err := os.WriteFile(u.Patch, []byte(r.Patch), 0o600); err != nil {
			return err
		}
		r.Applied = u.Patch
	}
	if u.Branch != "" {
		if err := t.Branch(ctx, u.Branch, []byte(r.Patch), r.Message()); err != nil {
			return err
		}
		r.Applied = u.Branch
	}
	if u.Apply || u == (Use{}) && d.Person && d.agreed("try.ask") {
		if err := t.Apply(ctx, []byte(r.Patch)); err != nil {
			return err
		}
		r.Applied = t.Source.Dir
	}
	if r.Applied == "" {
		return nil
	}
	d.Show(d.text("try.applied", r.Applied))
	return save(t.wishFile(), wish{u, true})
}
