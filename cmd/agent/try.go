package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

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

	file, branch, patch, resume string
	apply                       bool

	in     *bufio.Reader
	person bool      // somebody is there and can answer
	to     io.Writer // of what is no result
	t      *try.Try
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
	f.BoolVar(&y.apply, "apply", false, "apply the change to the directory, unless its files were changed meanwhile")
	f.StringVar(&y.branch, "branch", "", "make a branch with the change on top of the latest commit")
	f.StringVar(&y.patch, "patch", "", "write the change to this file")
	f.StringVar(&y.resume, "resume", "", "go on with a try that was interrupted or waits: the uuid of its context, or its beginning")
	a.jsonFlag(cmd, "print one JSON object at the end")
	return cmd
}

func (y *trying) run(ctx context.Context, args []string) error {
	y.in, y.to, y.lang = bufio.NewReader(os.Stdin), y.out, i18n.FromEnv(y.getenv)
	y.person = isInput(os.Stdin) && term.Of(y.err).Terminal && !y.asJSON
	if y.asJSON {
		y.to = y.err
	}
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

// task reads what is to be done: the argument, a file, or what is piped in.
func (y *trying) task(args []string) (files.Task, error) {
	var data []byte
	var err error
	switch {
	case y.resume != "" && (len(args) > 0 || y.file != ""):
		return files.Task{}, usageError{errors.New("--resume goes on with the task that there is: give no other")}
	case y.resume != "":
		return files.Task{}, nil
	case len(args) > 0 && y.file != "":
		return files.Task{}, usageError{errors.New("give a text or --file, not both")}
	case len(args) > 0:
		data = []byte(args[0])
	case y.file != "":
		if data, err = os.ReadFile(y.file); err != nil {
			return files.Task{}, refused(err)
		}
	case isInput(os.Stdin):
		return files.Task{}, usageError{errors.New("try needs a text, --file, or something on standard input")}
	default:
		if data, err = io.ReadAll(io.LimitReader(os.Stdin, 1<<20)); err != nil {
			return files.Task{}, err
		}
	}
	if strings.TrimSpace(string(data)) == "" {
		return files.Task{}, usageError{errors.New("the task is empty")}
	}
	return files.ReadTask(data), nil
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
	cfg, err := y.loadConfig(config.Override(y.t.Configure(m, !y.apply && y.branch == "")))
	if err != nil {
		return y.gone(err)
	}
	y.sayModel(m, cfg)
	a, err := app.New(cfg, y.options())
	if err != nil {
		return y.gone(err)
	}
	defer a.Close()
	y.w.secrets = a.Redact
	voice := rounds.Voice{Say: y.line, Note: func(string) {}, Trouble: y.trouble}
	if y.person {
		voice.Watch = &watch.Plain{Print: y.line, Lang: y.lang}
	}
	if err := y.t.Start(a, try.Options{Task: task, Voice: voice, Show: y.line}); err != nil {
		return y.gone(err)
	}
	summary, err := y.t.Work(ctx)
	for err == nil && ctx.Err() == nil && y.person {
		answer, asked := y.ask()
		if !asked {
			break
		}
		summary, err = y.t.Answer(ctx, answer)
	}
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

func (y *trying) line(text string) { y.w.print(y.to, text) }

func (y *trying) trouble(what string, err error) {
	y.w.print(y.err, y.text("run.trouble", what, err))
	if hint := hintOf(err); hint != "" {
		y.w.print(y.err, "  → "+hint)
	}
}

// sayModel says which model is used, and that a paid one is paid.
func (y *trying) sayModel(m try.Model, cfg *config.Config) {
	p := cfg.LLM.Active()
	from := y.text("try.from."+i18n.ID(m.From), m.Variable)
	line := y.text("try.model", p.Driver.Title, p.Model, p.URL, from)
	if try.Paid(cfg) {
		line += y.text("try.paid")
	}
	fmt.Fprintln(y.err, sanitize.Terminal(line))
}

// ask lets the person answer what the task waits for. No answer leaves it waiting.
func (y *trying) ask() (answer string, asked bool) {
	if !y.t.Asks() {
		return "", false
	}
	fmt.Fprint(y.err, y.text("try.answer"))
	answer, _ = y.in.ReadString('\n')
	answer = strings.TrimSpace(answer)
	return answer, answer != ""
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
		if err := y.use(ctx, &result); err != nil {
			result.Problem = sanitize.Line(err.Error(), 1000)
			y.w.print(y.err, y.text("try.notapplied", result.Problem))
			code = exitFailed
		}
	default:
		code = exitFailed
	}
	y.sayNext(ctx, result)
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

// sayNext says how to see more, and how to go on with what has not ended.
func (y *trying) sayNext(ctx context.Context, r try.Result) {
	switch waits, _ := y.t.Waiting(); {
	case r.Context == "":
		return
	case ctx.Err() != nil || waits || r.State == "running":
		y.w.print(y.err, y.text("try.goon", r.State, r.Reason, r.Context[:8]))
	case !r.Completed():
		y.w.print(y.err, y.text("try.failed", r.State, r.Reason))
	}
	y.w.print(y.err, y.text("try.context", r.Context, r.Context[:8]))
}

// use applies the change as the flags or the person say.
func (y *trying) use(ctx context.Context, r *try.Result) error {
	if r.Patch == "" {
		y.line(y.text("change.nothing"))
		return nil
	}
	if y.patch == "" && !y.asJSON {
		y.w.printSafe(y.to, sanitize.Terminal(r.Patch))
	}
	if y.patch != "" {
		if err := os.WriteFile(y.patch, []byte(r.Patch), 0o600); err != nil {
			return err
		}
		r.Applied = y.patch
	}
	if y.branch != "" {
		if err := y.t.Branch(ctx, y.branch, []byte(r.Patch), r.Message()); err != nil {
			return err
		}
		r.Applied = y.branch
	}
	if y.apply || y.patch == "" && y.branch == "" && y.person && y.agreedTo("try.ask") {
		if err := y.t.Apply(ctx, []byte(r.Patch)); err != nil {
			return err
		}
		r.Applied = y.t.Source.Dir
	}
	if r.Applied != "" {
		y.line(y.text("try.applied", r.Applied))
	}
	return nil
}

// agreedTo asks the person. No answer is no.
func (y *trying) agreedTo(id i18n.ID) bool {
	fmt.Fprint(y.err, y.text(id))
	answer, _ := y.in.ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes", "はい":
		return true
	}
	return false
}
