package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"agent/forge/files"
	"agent/internal/app"
	"agent/internal/app/rounds"
	"agent/internal/config"
	"agent/internal/i18n"
	"agent/internal/sanitize"
	"agent/internal/term"
	"agent/internal/try"
	"agent/internal/watch"
)

// trying is one `agent try`.
type trying struct {
	*cli
	w *working // prints

	file, resume string
	use          try.Use

	d *try.Dialog
	t *try.Try
}

func (a *cli) tryCommand() *cobra.Command {
	y := &trying{cli: a, w: &working{cli: a}}
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
	a.jsonFlag(cmd, "print one JSON object at the end")
	return cmd
}

func (y *trying) run(ctx context.Context, args []string) error {
	y.lang = i18n.FromEnv(y.getenv)
	person := isInput(os.Stdin) && term.Of(y.err).Terminal && !y.asJSON
	y.d = &try.Dialog{In: bufio.NewReader(os.Stdin), Person: person, JSON: y.asJSON, Lang: y.lang, Show: y.line, Say: func(line string) { y.w.print(y.err, line) }, Prompt: y.err,
		Patch: func(patch string) { y.w.printSafe(y.to(), sanitize.Terminal(patch)) }}
	task, err := y.task(args)
	if err != nil {
		return err
	}
	if err := y.open(ctx); err != nil {
		return err
	}
	_, configured := config.Path(y.config, y.getenv)
	model, err := try.FindModel(ctx, configured, y.getenv)
	if err == nil {
		return y.with(ctx, model, task)
	}
	if y.resume == "" {
		err = errors.Join(err, y.t.Close())
	}
	if errors.Is(err, try.ErrNoModel) {
		return codeError{config.ExitCode, errors.New(y.text("try.nomodel"))}
	}
	return err
}

// task reads what is to be done.
func (y *trying) task(args []string) (files.Task, error) {
	if y.resume != "" && (len(args) > 0 || y.file != "") {
		return files.Task{}, usageError{errors.New("--resume goes on with the task that there is: give no other")}
	}
	if y.resume != "" {
		return files.Task{}, nil
	}
	task, err := try.ReadTask(args, y.file, os.Stdin, isInput(os.Stdin))
	switch unclear := (*try.UsageError)(nil); {
	case errors.As(err, &unclear):
		return task, usageError{err}
	case err != nil:
		return task, refused(err)
	}
	return task, nil
}

// open makes the copy of the directory, or finds that of an earlier try.
func (y *trying) open(ctx context.Context) error {
	state, err := try.StateDir(y.getenv)
	if err != nil {
		return err
	}
	if y.resume != "" {
		store, err := y.openStore(true)
		if err != nil {
			return err
		}
		uuid, err := store.Find(y.resume)
		if err != nil {
			return err
		}
		first, err := store.Creation(uuid)
		if err != nil {
			return err
		}
		if y.t, err = try.Reopen(state, first.TaskKey, uuid); err != nil {
			return refused(err)
		}
		return nil
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	source, err := try.Open(ctx, here)
	if err != nil {
		return refused(err)
	}
	y.t, err = try.New(ctx, state, source)
	return err
}

// with works with a model until the task ends, or waits for what nobody here says.
func (y *trying) with(ctx context.Context, m try.Model, task files.Task) error {
	cfg, err := y.loadConfig(config.Override(y.t.Configure(m, y.use.Reviewed())))
	if err != nil {
		return y.gone(err)
	}
	fmt.Fprintln(y.err, sanitize.Terminal(m.Line(cfg, y.lang)))
	a, err := app.New(cfg, y.options())
	if err != nil {
		return y.gone(err)
	}
	defer a.Close()
	y.w.secrets = a.Redact
	voice := rounds.Voice{Say: y.line, Note: func(string) {}, Trouble: y.trouble}
	if y.d.Person {
		voice.Watch = &watch.Plain{Print: y.line, Lang: y.lang}
	}
	if err := y.t.Start(a, try.Options{Task: task, Voice: voice, Show: y.line}); err != nil {
		return y.gone(err)
	}
	summary, err := y.t.Talk(ctx, y.d)
	if err != nil {
		return err
	}
	return y.end(ctx, roundCode(summary))
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
	if y.asJSON {
		return y.err // standard output has the object alone
	}
	return y.out
}

func (y *trying) line(text string) { y.w.print(y.to(), text) }

func (y *trying) trouble(what string, err error) {
	y.w.print(y.err, y.text("run.trouble", what, err))
	if hint := hintOf(err); hint != "" {
		y.w.print(y.err, "  → "+hint)
	}
}

// end shows what became of the task, and applies it as asked.
func (y *trying) end(ctx context.Context, code int) error {
	result, err := y.t.Result(context.WithoutCancel(ctx), y.lang)
	if err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
	case result.Completed():
		if err := y.t.Use(ctx, y.d, y.use, &result); err != nil {
			result.Problem = sanitize.Line(err.Error(), 1000)
			y.w.print(y.err, y.text("try.notapplied", result.Problem))
			code = exitFailed
		}
	default:
		code = exitFailed
	}
	y.t.SayNext(ctx, y.d, result)
	if y.asJSON {
		if err := y.printLine(result); err != nil {
			return err
		}
	}
	if err := y.t.Close(); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil && interrupted(ctx):
		return quietly(exitInterrupted)
	case code != 0 || ctx.Err() != nil:
		return quietly(exitFailed)
	}
	return nil
}
