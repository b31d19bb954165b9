package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/handlers/engine"
	"agent/internal/app"
	"agent/internal/app/rounds"
	"agent/internal/cli"
	"agent/internal/config"
	"agent/internal/fork"
	"agent/internal/try"
)

// forking is one call of agent fork.
type forking struct {
	*commands
	f             engine.Forking
	model, prompt string
	yes           bool

	store *contexts.Store
}

func (a *commands) forkCommand() *cobra.Command {
	k := &forking{commands: a}
	cmd := &cobra.Command{
		Use: "fork CONTEXT", Short: "Try again from the middle of a run", Args: cobra.ExactArgs(1),
		Long: `fork makes a new context of the first events of another one: its conversation, its plan and
its files as they were after event SEQ (agent inspect shows the numbers), or at the end. The
fork is paused, and only agent run UUID works on it, or of a try agent try --resume UUID. The
other context may run, have ended, or be archived. Nothing of it changes.

A fork begins where no step is open and the end has not begun. If SEQ is no such event, it
begins at the nearest one before it. --drop-last N leaves out the last N turns of the model
before SEQ: their replies, their tool calls, and what those did to the files.

Comments, labels and pushes of a fork are not done. What the other context did as well has
the outcome that it recorded. Tools run for real, in a working copy of the fork's own.
With --live all is done for real, on the same task: the other context must have ended, or
is stopped first.`,
		Example: `  agent fork 3f2a --at 42
  agent fork 3f2a --at 42 --say "Use the standard library only."
  agent fork 3f2a --drop-last 3 --model gpt-4.1
  agent fork 3f2a --at 12 --system-prompt strict.md
  agent fork 3f2a --at 42 --live --say "Keep the old API."
  agent run $(agent fork 3f2a --at 42 --json | jq -r .uuid)`,
		RunE: func(cmd *cobra.Command, args []string) error { return k.run(cmd.Context(), args[0]) },
	}
	flags := cmd.Flags()
	flags.Uint64Var(&k.f.At, "at", 0, "begin after event `SEQ` (default: the latest)")
	flags.IntVar(&k.f.Drop, "drop-last", 0, "leave out the last `N` turns of the model before that")
	flags.StringVar(&k.model, "model", "", "ask this `MODEL` from there on; PROVIDER:MODEL for one of llm.fallback")
	flags.StringVar(&k.prompt, "system-prompt", "", "take the system prompt from `FILE` from there on")
	flags.StringVar(&k.f.Say, "say", "", "`TEXT` that the model reads as a comment")
	flags.BoolVar(&k.f.Live, "live", false, "write to the task for real")
	flags.BoolVar(&k.yes, "yes", false, "with --live: do not ask before the other context is stopped")
	a.JSONFlag(cmd, "print one JSON object")
	cli.CompleteFlag(cmd, "model", nil)
	return cmd
}

func (k *forking) run(ctx context.Context, ref string) (err error) {
	options := []config.Option{config.Offline()}
	if k.f.Live {
		options = nil
	}
	m := fork.Maker{Free: k.free, Now: time.Now}
	if m.Config, err = k.LoadConfig(options...); err != nil {
		return err
	}
	if m.Store, err = k.OpenStore(false); err != nil {
		return err
	}
	if k.f.Origin, err = m.Store.Newest(ref, k.Hosts...); err != nil {
		return err
	}
	k.store = m.Store
	forked, point, err := m.Make(ctx, k.f, k.model, k.prompt)
	if wrong := (*fork.RequestError)(nil); errors.As(err, &wrong) {
		return cli.Usage(err)
	}
	if err != nil {
		return err
	}
	return k.tell(forked, point)
}

// free ends the origin of a live fork, if the person agrees.
func (k *forking) free(ctx context.Context, task string) error {
	if !k.yes {
		if !cli.IsTerminal(os.Stdin) || k.JSON {
			return cli.Usage(fmt.Errorf("%s has not ended, and a live fork stops it: say --yes", k.f.Origin))
		}
		if !k.Agreed(os.Stdin, "fork.ask", k.f.Origin, task) {
			return cli.Quietly(cli.ExitFailed)
		}
	}
	if !k.JSON {
		fmt.Fprintln(k.Err, k.Text("fork.stopping", k.f.Origin))
	}
	return fork.StopOrigin(ctx, k.store, k.f.Origin, func(ctx context.Context) error {
		quiet := &cli.Worker{Env: &cli.Env{ConfigPath: k.ConfigPath, ContextsDir: k.ContextsDir, Getenv: k.Getenv, Out: k.Err, Err: k.Err}, Quiet: true}
		return quiet.Do(ctx, func(r *rounds.Rounds, _ *app.App, _ rounds.Voice) (rounds.Summary, error) {
			return r.Only(ctx, []string{k.f.Origin})
		})
	})
}

// tell prints what was made, and what to do with it.
func (k *forking) tell(b *event.ContextForked, p engine.Point) error {
	if k.JSON {
		return k.PrintLine(fork.AnswerOf(b, p))
	}
	switch {
	case p.Moved == "open":
		k.Say("fork.moved.open", cmp.Or(k.f.At, b.Seq+1), p.Open)
	case p.Moved == "ending" && k.f.At != 0:
		k.Say("fork.moved.ending", k.f.At)
	}
	k.Say("fork.made", b.UUID, b.Origin, b.Seq)
	if b.Dropped > 0 {
		k.Say("fork.dropped", b.Dropped)
	}
	if b.Live {
		k.Say("fork.live", p.State.Key)
	} else {
		k.Say("fork.simulated")
	}
	if missing := fork.Unsaved(p.State); len(missing) > 0 {
		k.Say("fork.unsaved", strings.Join(missing, ", "))
	}
	if try.Is(p.State) {
		k.Say("fork.next.try", b.UUID)
	} else {
		k.Say("fork.next", b.UUID)
	}
	k.Say("fork.compare", b.UUID[:8], b.Origin[:8])
	return nil
}
