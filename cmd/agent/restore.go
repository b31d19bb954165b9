package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"agent/internal/app"
	"agent/internal/cli"
	"agent/internal/redact"
	"agent/internal/sanitize"
	"agent/internal/scratch"
	"agent/internal/trees"
	"agent/internal/workspace"
)

func (a *commands) restoreCommand() *cobra.Command {
	at, to := uint64(0), ""
	cmd := &cobra.Command{
		Use: "restore CONTEXT --to DIR", Short: "Write the files that a context had at an event", Args: cobra.ExactArgs(1),
		Long: `restore writes the working copy as it was at an event, the last one without --at, into a
directory that is empty or not there. What no step changed comes from the commit that the
work began on: from the clone if it is still there, else from the forge. If the commit
cannot be had, only the files that steps changed are written; restore names the others and
exits with 1. Text that looks like a secret is taken out.`,
		Example: `  agent restore 3f2a --to /tmp/restored
  agent restore 3f2a --at 42 --to /tmp/step-42`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if to == "" {
				return cli.Usage(errors.New("restore needs a directory: --to DIR"))
			}
			return a.atEvent(args[0], at, func(l view, v *trees.View, p trees.Point) error {
				return l.restore(cmd.Context(), v, p, to)
			})
		},
	}
	cmd.Flags().Uint64Var(&at, "at", 0, "at event `SEQ`")
	cmd.Flags().StringVar(&to, "to", "", "directory that the files go to")
	a.JSONFlag(cmd, "print one JSON object")
	return cmd
}

// restored is what restore --json prints.
type restored struct {
	UUID     string   `json:"uuid"`
	Seq      uint64   `json:"seq"`
	Dir      string   `json:"dir"`
	Files    int      `json:"files"`
	Missing  []string `json:"missing"`
	Redacted []string `json:"redacted"`
}

func (l view) restore(ctx context.Context, v *trees.View, p trees.Point, to string) error {
	from, remove := l.base(ctx, v)
	defer remove()
	w, err := workspace.Write(ctx, v.State, l.Store.Objects(v.UUID), p.Saved.Tree, from, to, redact.New(l.Config.Secrets()))
	if err != nil {
		return err
	}
	if l.JSON {
		if err := l.PrintLine(restored{v.UUID, p.Seq, to, w.Files, append([]string{}, w.Missing...), append([]string{}, w.Redacted...)}); err != nil {
			return err
		}
	} else {
		l.Say("restore.done", w.Files, p.Seq, to)
		l.Printer().Names("restore.redacted", w.Redacted)
		l.Printer().Names("restore.missing", w.Missing)
	}
	if len(w.Missing) > 0 {
		return cli.Quietly(cli.ExitFailed)
	}
	return nil
}

// base is a working copy with the commit that the work began on: the context's own, or a
// clone that is removed at the end. It is "" if the commit cannot be had.
func (l view) base(ctx context.Context, v *trees.View) (dir string, remove func()) {
	if s := v.State; s.Workspace != nil && (s.Saved.Base == "" || workspace.HasBase(ctx, s, s.Workspace.Dir)) {
		return s.Workspace.Dir, func() {}
	}
	base := shortened(v.Points[0].Saved.Base)
	if !l.JSON {
		fmt.Fprintln(l.Err, l.Text("restore.cloning", base))
	}
	parent, remove, err := scratch.Dir(scratch.Restore)
	if err == nil {
		err = l.cloneBase(ctx, v, filepath.Join(parent, "base"))
	} else {
		remove = func() {}
	}
	if err != nil {
		fmt.Fprintln(l.Err, "agent: "+sanitize.Terminal(l.Text("restore.nobase", base, err.Error())))
		return "", remove
	}
	return filepath.Join(parent, "base"), remove
}

// cloneBase needs the configuration with its secrets, which nothing else here does.
func (l view) cloneBase(ctx context.Context, v *trees.View, dir string) error {
	cfg, err := l.LoadConfig()
	if err != nil {
		return err
	}
	a := app.NewReadOnly(cfg, l.Store, l.Options())
	defer a.Close()
	if err := a.Connect(); err != nil {
		return err
	}
	return a.CloneBase(ctx, v.State, dir)
}
