package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/internal/cli"
	"agent/internal/config"
	"agent/internal/i18n"
	"agent/internal/retention"
	"agent/internal/show"
)

func (a *commands) forgetCommand() *cobra.Command {
	f := forgetting{}
	cmd := &cobra.Command{
		Use: "forget TASK", Short: "Remove a context, and what later ones have from it", Args: cobra.ExactArgs(1),
		Long: `forget removes a context that has ended, or a paused fork (the uuid or the beginning of one), or all those
of a task (a URL), with everything in it. From the later contexts of its task it removes
every text that was made of its words: what they inherited from it, directly or by way of
others, what they looked up in its history, and their own summaries since then, so that
they pass nothing on. Their logs stay valid, and say that a text was forgotten.

What it leaves: a later context's own turns (replies of the model, calls and what tools
answered, comments, plans), which may repeat words; what was posted on the forge; and the
program's own log. A fork of it holds the same texts and stays; it is named. To remove these turns too, forget the later contexts, or the task.

On a terminal it says what it would remove and asks; --yes does not ask.`,
		Example: `  agent forget 3f2a
  agent forget 3f2a --dry-run
  agent forget --yes https://github.com/owner/repo/issues/12`,
		RunE: func(_ *cobra.Command, refs []string) error {
			cfg, err := a.LoadConfig(config.Offline())
			if err != nil {
				return err
			}
			store, err := a.OpenStore(f.dry)
			if err != nil {
				return err
			}
			_, uuids, err := store.Named(refs[0], a.Hosts...)
			if err == nil && len(uuids) == 0 {
				err = fmt.Errorf("%s: %w", refs[0], contexts.ErrUnknown)
			}
			if err != nil {
				return err
			}
			return a.forget(cfg, store, uuids, f)
		},
	}
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "only say what would be removed")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	a.JSONFlag(cmd, "print one JSON object a line for each context")
	return cmd
}

// forgetting are the flags of agent forget.
type forgetting struct{ dry, yes bool }

// forgotten is what was done with one context, as forget --json prints it.
type forgotten struct {
	contexts.Forgotten
	DryRun bool `json:"dry_run,omitempty"`
}

func (a *commands) forget(cfg *config.Config, store *contexts.Store, uuids []string, f forgetting) error {
	if f.dry || !f.yes && cli.IsTerminal(os.Stdin) {
		would, err := retention.WouldForget(store, uuids)
		if err != nil {
			return err
		}
		for _, w := range would {
			a.sayForgotten(forgotten{w, true}, uuids, "forget.would", "forget.would.heir")
		}
		if f.dry {
			return nil
		}
		if !a.Agreed(os.Stdin, "forget.ask") {
			return cli.Quietly(cli.ExitFailed)
		}
	}
	err := retention.Forget(cfg, store, uuids, time.Now(), func(done contexts.Forgotten) {
		a.sayForgotten(forgotten{done, false}, uuids, "forget.did", "forget.heir")
	})
	if errors.Is(err, contexts.ErrBusy) {
		return cli.Coded(contexts.ExitTemporary, err) // a person asked, and it was not done
	}
	return err
}

func (a *commands) sayForgotten(f forgotten, all []string, did, lost i18n.ID) {
	f.Forks = slices.DeleteFunc(f.Forks, func(c contexts.Copied) bool { return slices.Contains(all, c.UUID) })
	a.Tell(f, did, f.UUID, show.Bytes(f.Bytes))
	for _, fork := range f.Forks {
		if !a.JSON {
			a.Say("forget.fork", fork.UUID, fork.Seq)
		}
	}
	for _, heir := range f.Heirs {
		if !a.JSON {
			a.Say(lost, heir)
		}
	}
}
