package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/forge"
	"agent/handlers/engine"
	"agent/internal/app"
	"agent/internal/config"
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
			uuids, err := endedOf(store, refs[0], app.Hosts(cfg))
			if err != nil {
				return err
			}
			for _, uuid := range uuids {
				if err := a.forget(cfg, store, uuid); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// endedOf gives the contexts of a task, the oldest last, or the one that ref names.
func endedOf(store *contexts.Store, ref string, hosts []string) ([]string, error) {
	key, err := forge.ParseTaskKey(ref, hosts...)
	if err != nil {
		uuid, err := store.Find(ref)
		return []string{uuid}, err
	}
	all, err := store.OfTask(key.String())
	if err != nil {
		return nil, err
	}
	var uuids []string
	for _, info := range all {
		if !info.Over() && info.Err == nil {
			return nil, usageError{fmt.Errorf("%s: %w (agent stop ends it)", info.UUID, contexts.ErrNotEnded)}
		}
		uuids = append(uuids, info.UUID)
	}
	if len(uuids) == 0 {
		return nil, fmt.Errorf("%s: %w", key, contexts.ErrUnknown)
	}
	return uuids, nil
}

func (a *cli) forget(cfg *config.Config, store *contexts.Store, uuid string) error {
	done, err := store.Forget(uuid, "command", time.Now(), func(c *contexts.Context) error { return engine.Rebuild(store, c) })
	if errors.Is(err, contexts.ErrBusy) {
		return codeError{contexts.ExitTemporary, err} // a person asked, and it was not done
	}
	if err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(cfg.WorkspacesDir, uuid)); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s  forgotten, %s\n", uuid, bytesText(done.Bytes))
	for _, heir := range done.Heirs {
		fmt.Fprintf(a.out, "%s  lost what it had from it\n", heir)
	}
	return nil
}
