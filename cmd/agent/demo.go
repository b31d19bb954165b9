package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"agent/internal/cli"
	"agent/internal/demo"
	"agent/internal/i18n"
)

func (a *commands) demoCommand() *cobra.Command {
	o, lang := demo.Options{Out: a.Out, Err: a.Err}, ""
	cmd := &cobra.Command{
		Use: "demo", Short: "See the whole program at work, on this machine alone", Args: cobra.NoArgs,
		Long: `demo creates a git repository with a failing test and starts a fake forge and a scripted
model on this machine. It then runs the real agent on a labelled issue, kills it halfway
with SIGKILL, runs it again, pauses it to ask a question, and shows the result. It needs
git and go, but no network.`,
		Example: `  agent demo
  agent demo --forge gitlab
  agent demo --lang ja --dir /tmp/demo`,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			o.Lang = i18n.Lang(cmp.Or(lang, string(i18n.FromEnv(a.Getenv))))
			switch {
			case !slices.Contains(languages, string(o.Lang)):
				return cli.Usage(errors.New("--lang must be en or ja"))
			case !slices.Contains(demo.Forges(), o.Forge):
				return cli.Usage(fmt.Errorf("--forge must be one of %s", strings.Join(demo.Forges(), ", ")))
			}
			if o.Program, err = os.Executable(); err != nil {
				return err
			}
			if a.JSON {
				o.Out = a.Err // the story is for people
			}
			made, err := demo.Run(cmd.Context(), o)
			switch {
			case errors.Is(err, demo.ErrNotEmpty):
				return cli.Usage(err)
			case err != nil || !a.JSON:
				return err
			}
			return a.PrintLine(made)
		},
	}
	cmd.Flags().StringVar(&o.Dir, "dir", "", "keep all files in this directory, which must be empty or new")
	cmd.Flags().StringVar(&lang, "lang", "", "language of the demo: en or ja (default: as LANG says)")
	cmd.Flags().StringVar(&o.Forge, "forge", "github", "where the issue is: "+strings.Join(demo.Forges(), " or "))
	a.JSONFlag(cmd, "print what was made as one JSON object at the end; the story goes to standard error")
	cli.CompleteFlag(cmd, "lang", languages)
	cli.CompleteFlag(cmd, "forge", demo.Forges())
	return cmd
}

var languages = []string{string(i18n.En), string(i18n.Ja)}
