package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/handlers/engine"
	"agent/internal/app"
	"agent/internal/app/rounds"
	"agent/internal/config"
	"agent/internal/redact"
	"agent/internal/sanitize"
	"agent/projections"
)

// forking is one call of agent fork.
type forking struct {
	*cli
	f             engine.Forking
	model, prompt string
	yes           bool

	cfg   *config.Config
	store *contexts.Store
}

func (a *cli) forkCommand() *cobra.Command {
	k := &forking{cli: a}
	cmd := &cobra.Command{
		Use: "fork CONTEXT", Short: "Try again from the middle of a run", Args: cobra.ExactArgs(1),
		Long: `fork makes a new context of the first events of another one: its conversation, its plan and
its files as they were after event SEQ (agent inspect shows the numbers), or at the end. The
fork is paused; agent run UUID works on it, and nothing else does. The other context may
run, have ended, or be archived. Nothing of it changes.

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
	a.jsonFlag(cmd, "print one JSON object")
	completeFlag(cmd, "model", nil)
	return cmd
}

// forkedAnswer is what fork --json prints.
type forkedAnswer struct {
	UUID    string   `json:"uuid"`
	Origin  string   `json:"origin"`
	Seq     uint64   `json:"seq"`
	Asked   uint64   `json:"asked,omitempty"`
	Moved   string   `json:"moved,omitempty"` // why not there: open | ending
	Dropped int      `json:"dropped,omitempty"`
	Live    bool     `json:"live"`
	TaskKey string   `json:"task_key"`
	Unsaved []string `json:"not_saved"`
}

func (k *forking) run(ctx context.Context, ref string) (err error) {
	if k.f.Drop < 0 {
		return usageError{errors.New("--drop-last takes 0 turns or more")}
	}
	options := []config.Option{config.Offline()}
	if k.f.Live {
		options = nil
	}
	if k.cfg, err = k.loadConfig(options...); err != nil {
		return err
	}
	if k.store, err = k.openStore(false); err != nil {
		return err
	}
	if k.f.Origin, err = k.store.Newest(ref, k.hosts...); err != nil {
		return err
	}
	if err := k.differences(); err != nil {
		return err
	}
	k.f.UUID, k.f.Root, k.f.By = uuid.NewString(), k.cfg.WorkspacesDir, engine.Operator()
	point, err := engine.PointOf(k.store, k.f)
	if wrong := (*engine.PointError)(nil); errors.As(err, &wrong) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	if k.f.Live {
		release, err := k.takeTask(ctx, point.State.Key.String())
		if err != nil {
			return err
		}
		defer release()
	}
	forked, err := engine.Fork(k.store, redact.New(k.cfg.Secrets()), k.f, point, time.Now())
	if err != nil {
		return err
	}
	return k.say(forked, point)
}

// differences are what is to be different in the fork, beside the words.
func (k *forking) differences() (err error) {
	if k.prompt != "" {
		if k.f.Prompt, err = app.ReadPrompt(k.prompt); err == nil && strings.TrimSpace(k.f.Prompt) == "" {
			err = fmt.Errorf("%s is empty", k.prompt)
		}
		if err != nil {
			return usageError{fmt.Errorf("--system-prompt: %w", err)}
		}
	}
	if k.model == "" {
		return nil
	}
	server, model := k.cfg.LLM.Active(), k.model
	for _, p := range append(k.cfg.LLM.Others(), server) {
		if name, ok := strings.CutPrefix(k.model, p.Name+":"); ok && name != "" {
			server, model = p, name
		}
	}
	server.Model = model
	k.f.Model = event.Served{Provider: server.Name, Model: model, ContextLength: server.ContextLength, Profile: k.cfg.Profile(server)}
	return nil
}

// takeTask makes the task free for a live fork, and keeps others from beginning it until
// release is called.
func (k *forking) takeTask(ctx context.Context, task string) (release func(), err error) {
	if err := k.stopOrigin(ctx); err != nil {
		return nil, err
	}
	lock, err := k.store.LockKey(task)
	if err != nil {
		return nil, err
	}
	other, live, err := k.store.Active(task)
	if err == nil && live {
		err = fmt.Errorf("%s works on %s: a live fork would be the second one", other, task)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return func() { _ = lock.Close() }, nil
}

// stopOrigin ends the origin, if it has not ended: two must not work on one task.
func (k *forking) stopOrigin(ctx context.Context) error {
	state, err := engine.ReadState(k.store, k.f.Origin)
	if err != nil && !contexts.IsTorn(err) {
		return err
	}
	if state == nil || state.Status.Ended() || state.Simulates() {
		return nil
	}
	if !k.yes {
		if !isInput(os.Stdin) || k.asJSON {
			return usageError{fmt.Errorf("%s has not ended, and a live fork stops it: say --yes", k.f.Origin)}
		}
		if !k.agreed(os.Stdin, "fork.ask", k.f.Origin, state.Key) {
			return quietly(exitFailed)
		}
	}
	if !k.asJSON {
		fmt.Fprintln(k.err, k.text("fork.stopping", k.f.Origin))
	}
	if err := k.store.Send(k.f.Origin, contexts.Stop, []byte("a live fork goes on with the task")); err != nil {
		return err
	}
	return k.waitForEnd(ctx)
}

// stopTime is how long a process that works on the origin may take to stop it.
const stopTime = time.Minute

func (k *forking) waitForEnd(ctx context.Context) error {
	for end := time.Now().Add(stopTime); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(200 * time.Millisecond) {
		info, err := k.store.Info(k.f.Origin)
		if err != nil || info.Over() {
			return err
		}
		busy, err := k.store.Locked(k.f.Origin)
		if err != nil {
			return err
		}
		if busy {
			continue // that process stops it
		}
		quiet := &working{cli: &cli{config: k.config, contexts: k.contexts, getenv: k.getenv, out: k.err, err: k.err}, quiet: true}
		if err := quiet.do(ctx, func(r *rounds.Rounds, _ *app.App, _ rounds.Voice) (rounds.Summary, error) {
			return r.Only(ctx, []string{k.f.Origin})
		}); err != nil {
			return err
		}
	}
	if info, err := k.store.Info(k.f.Origin); err != nil || info.Over() {
		return err
	}
	return codeError{contexts.ExitTemporary, fmt.Errorf("%s has not stopped yet", k.f.Origin)}
}

// say prints what was made, and what to do with it.
func (k *forking) say(b *event.ContextForked, p engine.Point) error {
	if k.asJSON {
		return k.printLine(forkedAnswer{b.UUID, b.Origin, b.Seq, b.Asked, p.Moved, b.Dropped, b.Live, p.State.Key.String(), append([]string{}, unsaved(p.State)...)})
	}
	switch {
	case p.Moved == "open":
		k.cli.say("fork.moved.open", cmp.Or(k.f.At, b.Seq+1), p.Open)
	case p.Moved == "ending" && k.f.At != 0:
		k.cli.say("fork.moved.ending", k.f.At)
	}
	k.cli.say("fork.made", b.UUID, b.Origin, b.Seq)
	if b.Dropped > 0 {
		k.cli.say("fork.dropped", b.Dropped)
	}
	if b.Live {
		k.cli.say("fork.live", p.State.Key)
	} else {
		k.cli.say("fork.simulated")
	}
	if missing := unsaved(p.State); len(missing) > 0 {
		k.cli.say("fork.unsaved", strings.Join(missing, ", "))
	}
	k.cli.say("fork.next", b.UUID)
	k.cli.say("fork.compare", b.UUID[:8], b.Origin[:8])
	return nil
}

// unsaved are files that the copy of the fork lacks, or has as they were before.
func unsaved(s *projections.State) (paths []string) {
	for n := range s.Saved.Not {
		paths = append(paths, sanitize.Line(n.Path, 200))
	}
	slices.Sort(paths)
	return paths
}
