package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/internal/config"
	"agent/internal/retention"
)

func (a *cli) forgetCommand() *cobra.Command {
	return &cobra.Command{
		Use: "forget TASK", Short: "Remove a context, and what later ones have from it", Args: cobra.ExactArgs(1),
		Long: `forget removes a context that has ended (the uuid or the beginning of one), or all those
of a task (a URL), with everything in it. From the later contexts of its task it removes
every text that was made of its words: what they inherited from it, directly or by way of
others, what they looked up in its history, and their own summaries since then, so that
they pass nothing on. Their logs stay valid, and say that a text was forgotten.

What it leaves: a later context's own turns (replies of the model, calls and what tools
answered, comments, plans), which may repeat words; what was posted on the forge; and the
program's own log. To remove these turns too, forget the later contexts, or the task.`,
		Example: `  agent forget 3f2a
  agent forget https://github.com/owner/repo/issues/12`,
		RunE: func(_ *cobra.Command, refs []string) error {
			cfg, err := a.loadConfig(config.Offline())
			if err != nil {
				return err
			}
			store, err := a.openStore(false)
			if err != nil {
				return err
			}
			_, uuids, err := store.Named(refs[0], a.hosts...)
			if err == nil && len(uuids) == 0 {
				err = fmt.Errorf("%s: %w", refs[0], contexts.ErrUnknown)
			}
			if err != nil {
				return err
			}
			return a.forget(cfg, store, uuids)
		},
	}
}

func (a *cli) forget(cfg *config.Config, store *contexts.Store, uuids []string) error {
	err := retention.Forget(cfg, store, uuids, time.Now(), func(done contexts.Forgotten) {
		fmt.Fprintf(a.out, "%s  forgotten, %s\n", done.UUID, bytesText(done.Bytes))
		for _, heir := range done.Heirs {
			fmt.Fprintf(a.out, "%s  lost what it had from it\n", heir)
		}
	})
	if errors.Is(err, contexts.ErrBusy) {
		return codeError{contexts.ExitTemporary, err} // a person asked, and it was not done
	}
	return err
}
