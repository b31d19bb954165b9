package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"agent/internal/app"
	"agent/internal/app/rounds"
	"agent/internal/cli"
	"agent/internal/config"
	"agent/internal/i18n"
	"agent/internal/sanitize"
	"agent/internal/term"
	"agent/internal/try"
	"agent/internal/watch"
)

// trying is one `agent try`.
type trying struct {
	*commands
	w *cli.Worker // prints

	file, resume string
	use          try.Use

	d *try.Dialog
	t *try.Try
}

func (a *commands) tryCommand() *cobra.Command {
	y := &trying{commands: a, w: &cli.Worker{Env: a.Env}}
	cmd := &cobra.Command{
		Use:   "try [TEXT]",
		Short: "Work on the directory you are in, without a forge",
		Long: `try works in a copy of the repository of the current directory, with files that are not
committed or not tracked, and without those that git ignores. A directory without git works,
too. Comments go to the terminal, where you can answer. At the end you see the diff and are
asked whether to apply it; without a terminal nothing is asked.

The model is that of the configuration. Without one it is that of the environment
(OPENAI_API_KEY, ANTHROPIC_API_KEY and the like), or of Ollama or LM Studio on this machine.

Exit codes: 0 completed, and applied as asked; 1 anything else; 2 usage; 78 configuration;
130 Ctrl-C. With --json the last line is one object: state, patch, files, tokens, cost,
evidence, context.`,
		Example: `  agent try "fix the failing test"
  agent try --file TASK.md --branch fix-test
  agent try --json --patch fix.patch < problem.txt
  agent try --resume 3f2a`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return y.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	f.StringVar(&y.file, "file", "", "read the task from this file")
	f.BoolVar(&y.use.Apply, "apply", false, "apply the change to the directory, unless its files were changed meanwhile")
	f.StringVar(&y.use.Branch, "branch", "", "make a branch with the change on top of the latest commit")
	f.StringVar(&y.use.Patch, "patch", "", "write the change to this file")
	f.StringVar(&y.resume, "resume", "", "go on with a try that was interrupted or waits: the uuid of its context, or its beginning")
	a.JSONFlag(cmd, "print one JSON object at the end")
	return cmd
}

func (y *trying) run(ctx context.Context, args []string) error {
	y.Lang = i18n.FromEnv(y.Getenv)
	person := cli.IsTerminal(os.Stdin) && term.Of(y.Err).Terminal && !y.JSON
	y.d = &try.Dialog{In: bufio.NewReader(os.Stdin), Person: person, JSON: y.JSON, Lang: y.Lang, Show: y.line, Say: func(line string) { y.w.Print(y.Err, line) }, Prompt: y.Err,
		Patch: func(patch string) { y.w.PrintSafe(y.to(), sanitize.Terminal(patch)) }}
	task, err := y.task(args)
	if err != nil {
		return err
	}
	if err := y.open(ctx); err != nil {
		return err
	}
	_, configured := config.Path(y.ConfigPath, y.Getenv)
	model, err := try.FindModel(ctx, configured, y.Getenv)
	if err == nil {
		return y.with(ctx, model, task)
	}
	if y.resume == "" {
		err = errors.Join(err, y.t.Close())
	}
	if errors.Is(err, try.ErrNoModel) {
		return cli.Coded(config.ExitCode, errors.New(y.Text("try.nomodel")))
	}
	return err
}

// task reads what is to be done.
func (y *trying) task(args []string) (try.Task, error) {
	if y.resume != "" && (len(args) > 0 || y.file != "") {
		return try.Task{}, cli.Usage(errors.New("--resume goes on with the task that there is: give no other"))
	}
	if y.resume != "" {
		return try.Task{}, nil
	}
	task, err := try.ReadTask(args, y.file, os.Stdin, cli.IsTerminal(os.Stdin))
	switch unclear := (*try.UsageError)(nil); {
	case errors.As(err, &unclear):
		return task, cli.Usage(err)
	case err != nil:
		return task, cli.Refused(err)
	}
	return task, nil
}

// open makes the copy of the directory, or finds that of an earlier try.
func (y *trying) open(ctx context.Context) error {
	state, err := try.StateDir(y.Getenv)
	if err != nil {
		return err
	}
	if y.resume != "" {
		store, err := y.OpenStore(true)
		if err != nil {
			return err
		}
		y.t, err = try.Find(state, store, y.resume)
		return refused(err)
	}
	y.t, err = try.Here(ctx, state)
	return refused(err)
}

// with works with a model until the task ends, or waits for what nobody here says.
func (y *trying) with(ctx context.Context, m try.Model, task try.Task) error {
	cfg, err := y.LoadConfig(config.Override(y.t.Configure(m, y.use.Reviewed())))
	if err != nil {
		return y.gone(err)
	}
	fmt.Fprintln(y.Err, sanitize.Terminal(m.Line(cfg, y.Lang)))
	a, err := app.New(cfg, y.Options())
	if err != nil {
		return y.gone(err)
	}
	defer a.Close()
	y.w.Secrets = a.Redact
	voice := rounds.Voice{Say: y.line, Note: func(string) {}, Trouble: y.trouble}
	if y.d.Person {
		voice.Watch = &watch.Plain{Print: y.line, Lang: y.Lang}
	}
	if err := y.t.Start(a, try.Options{Task: task, Voice: voice, Show: y.line}); err != nil {
		return y.gone(err)
	}
	summary, err := y.t.Talk(ctx, y.d)
	if err != nil {
		return err
	}
	return y.end(ctx, cli.RoundCode(summary))
}

// gone removes a copy that nothing was done with.
func (y *trying) gone(err error) error {
	if y.resume != "" {
		return err
	}
	return errors.Join(err, y.t.Discard())
}

// to is where results go to.
func (y *trying) to() io.Writer {
	if y.JSON {
		return y.Err // standard output has the object alone
	}
	return y.Out
}

func (y *trying) line(text string) { y.w.Print(y.to(), text) }

func (y *trying) trouble(what string, err error) {
	y.w.Print(y.Err, y.Text("run.trouble", what, err))
	if hint := cli.Hint(err); hint != "" {
		y.w.Print(y.Err, "  → "+hint)
	}
}

// end shows what became of the task, and applies it as asked.
func (y *trying) end(ctx context.Context, code int) error {
	result, err := y.t.Result(context.WithoutCancel(ctx), y.Lang)
	if err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
	case result.Completed():
		if err := y.t.Use(ctx, y.d, y.use, &result); err != nil {
			result.Problem = sanitize.Line(err.Error(), 1000)
			y.w.Print(y.Err, y.Text("try.notapplied", result.Problem))
			code = cli.ExitFailed
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
	if _, ok := errors.AsType[try.RefusedError](err); ok {
		return cli.Refused(err)
	}
	return err
}
