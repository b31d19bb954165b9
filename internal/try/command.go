package try

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"agent/internal/app"
	"agent/internal/app/rounds"
	"agent/internal/cli"
	"agent/internal/config"
	"agent/internal/i18n"
	"agent/internal/sanitize"
	"agent/internal/term"
)

// CommandLine is one `agent try`.
type CommandLine struct {
	*cli.Env
	File, Resume string
	Use          Use

	w *cli.Worker // prints
	d *Dialog
	t *Try
}

// Run runs one command line.
func (y *CommandLine) Run(ctx context.Context, args []string) error {
	y.w = &cli.Worker{Env: y.Env}
	y.Lang = i18n.FromEnv(y.Getenv)
	person := cli.IsTerminal(os.Stdin) && term.Of(y.Err).Terminal && !y.JSON
	y.d = &Dialog{In: bufio.NewReader(os.Stdin), Person: person, JSON: y.JSON, Lang: y.Lang, Show: y.line, Say: func(line string) { y.w.Print(y.Err, line) }, Prompt: y.Err, With: y.With(),
		Patch: func(patch string) { y.w.PrintSafe(y.to(), sanitize.Terminal(patch)) }}
	task, err := y.task(args)
	if err != nil {
		return err
	}
	if y.Use.Patch != "" {
		if y.Use.Patch, err = filepath.Abs(y.Use.Patch); err != nil {
			return err
		}
	}
	if err := y.open(ctx); err != nil {
		return err
	}
	if y.t.Ended() {
		return y.applyLater(ctx)
	}
	_, configured := config.Path(y.ConfigPath, y.Getenv)
	model, err := FindModel(ctx, configured, y.Getenv)
	if err == nil {
		return y.with(ctx, model, task)
	}
	if y.Resume == "" {
		err = errors.Join(err, y.t.Close())
	}
	if errors.Is(err, ErrNoModel) {
		return cli.Coded(config.ExitCode, errors.New(y.Text("try.nomodel")))
	}
	return err
}

// task reads what is to be done.
func (y *CommandLine) task(args []string) (Task, error) {
	if y.Resume != "" && (len(args) > 0 || y.File != "") {
		return Task{}, cli.Usage(errors.New("--resume goes on with the task that there is: give no other"))
	}
	if y.Resume != "" {
		return Task{}, nil
	}
	task, err := ReadTask(args, y.File, os.Stdin, cli.IsTerminal(os.Stdin))
	switch unclear := (*UsageError)(nil); {
	case errors.As(err, &unclear):
		return task, cli.Usage(err)
	case err != nil:
		return task, cli.Refused(err)
	}
	return task, nil
}

// open makes the copy of the directory, or finds that of an earlier try.
func (y *CommandLine) open(ctx context.Context) error {
	state, err := StateDir(y.Getenv)
	if err != nil {
		return err
	}
	if y.Resume != "" {
		store, err := y.OpenStore(true)
		if err != nil {
			return err
		}
		y.t, err = Find(state, store, y.Resume)
		if err == nil {
			y.Use, err = y.t.Wish(ctx, y.Use)
		}
		return refused(err)
	}
	y.t, err = Here(ctx, state, y.Use)
	return refused(err)
}

// with works with a model until the task ends, or waits for what nobody here says.
func (y *CommandLine) with(ctx context.Context, m Model, task Task) error {
	cfg, err := y.LoadConfig(config.Override(y.t.Configure(m, y.Use.Reviewed())))
	if err != nil {
		return y.gone(err)
	}
	fmt.Fprintln(y.Err, sanitize.Terminal(m.Line(cfg, y.Lang)))
	o := y.Options()
	defer y.w.Live(&o)()
	a, err := app.New(cfg, o)
	if err != nil {
		return y.gone(err)
	}
	defer a.Close()
	y.w.Secrets = a.Redact
	defer y.w.SayStopping(ctx)()
	voice := rounds.Voice{Say: y.line, Note: func(string) {}, Trouble: y.trouble}
	if y.d.Person || term.Of(y.Out).Live() && !y.JSON {
		voice.Watch = y.w.Watcher(y.line)
	}
	if err := y.t.Start(a, Options{Task: task, Voice: voice, Show: y.line}); err != nil {
		return y.gone(err)
	}
	summary, err := y.t.Talk(ctx, y.d)
	if err != nil {
		return err
	}
	return y.end(ctx, cli.RoundCode(summary))
}

// applyLater does with the change of an ended try what is asked for. No model is needed.
func (y *CommandLine) applyLater(ctx context.Context) error {
	lock, err := y.t.lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	result, err := y.t.Result(ctx, y.Lang)
	if err != nil {
		return err
	}
	id := result.UUID[:8]
	switch {
	case !result.Completed():
		return cli.Refused(errors.New(y.Text("try.ended", i18n.State(y.Lang, result.State))))
	case y.Use == (Use{}) && !y.d.Person:
		return cli.Refused(errors.New(y.Text("try.ended.later", id+y.With()+y.Use.flags())))
	}
	return y.finish(ctx, result, 0)
}

// gone removes a copy that nothing was done with.
func (y *CommandLine) gone(err error) error {
	if y.Resume != "" {
		return err
	}
	return errors.Join(err, y.t.Discard())
}

// to is where results go to.
func (y *CommandLine) to() io.Writer {
	if y.JSON {
		return y.Err // standard output has the object alone
	}
	return y.Out
}

func (y *CommandLine) line(text string) { y.w.Print(y.to(), text) }

func (y *CommandLine) trouble(what string, err error) {
	y.w.Print(y.Err, y.Text("run.trouble", what, err))
	if hint := cli.Hint(err); hint != "" {
		y.w.Print(y.Err, "  → "+hint)
	}
}

// end shows what became of the task, and applies it as asked.
func (y *CommandLine) end(ctx context.Context, code int) error {
	lock, err := y.t.lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	result, err := y.t.Result(context.WithoutCancel(ctx), y.Lang)
	if err != nil {
		return err
	}
	return y.finish(ctx, result, code)
}

// finish does with the change what was asked for, and says what became of the task.
func (y *CommandLine) finish(ctx context.Context, result Result, code int) error {
	switch {
	case ctx.Err() != nil:
	case result.Completed():
		if err := y.t.Use(ctx, y.d, y.Use, &result); err != nil {
			result.Problem = sanitize.Line(err.Error(), 1000)
			y.w.Print(y.Err, y.Text("try.notapplied", result.Problem))
			code = cli.ExitFailed
		}
		if result.Patch != "" && result.Applied == "" {
			y.w.Print(y.Err, y.Text("try.later", result.UUID[:8]+y.With()+y.Use.flags()))
		}
	default:
		code = cli.ExitFailed
	}
	y.t.SayNext(ctx, y.d, result)
	if y.JSON {
		if err := y.PrintLine(result); err != nil {
			return err
		}
	}
	if err := y.t.Close(); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil && cli.Interrupted(ctx):
		return cli.Quietly(cli.ExitInterrupted)
	case code != 0 || ctx.Err() != nil:
		return cli.Quietly(cli.ExitFailed)
	}
	return nil
}

// refused ends a command line that cannot be followed as one.
func refused(err error) error {
	if _, ok := errors.AsType[RefusedError](err); ok {
		return cli.Refused(err)
	}
	return err
}
