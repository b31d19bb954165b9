package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/internal/cli"
	"agent/internal/doctor"
	"agent/internal/i18n"
)

func (a *commands) doctorCommand() *cobra.Command {
	noCall, labels := false, false
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check everything that a run needs", Args: cobra.NoArgs,
		Long: `doctor checks the configuration, files, disk, contexts, forges, model, tool servers, git and
sandbox, and says how to fix each problem. It exits with 0 if it finds no problem (warnings,
marked !, do not count), else with 78. It changes nothing, unless --create-labels is given.
To find out whether the model can call tools it makes a very short conversation, unless
--no-model-call is given.`,
		Example: `  agent doctor
  agent doctor --create-labels         # those that the projects lack
  agent doctor --no-model-call --json | jq -r 'select(.result!="ok").todo'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			defer a.PageLong()()
			show := a.Printer().Findings()
			if a.JSON {
				show = func(f doctor.Finding) { _ = a.PrintLine(f) }
			}
			r := doctor.Run(cmd.Context(), doctor.Options{ConfigPath: a.ConfigPath, ContextsDir: a.ContextsDir, Version: cli.Version(),
				NoModelCall: noCall, Labels: labels, Getenv: a.Getenv, Show: show})
			code, summary := 0, i18n.ID("doctor.fine")
			if r.Count(doctor.Failed) > 0 {
				code, summary = contexts.ExitConfig, "doctor.unwell"
			}
			if a.JSON {
				return cli.Quietly(code)
			}
			fmt.Fprintln(a.Out, "\n"+i18n.Text(r.Lang, summary, r.Count(doctor.Failed), r.Count(doctor.Warning)))
			return cli.Quietly(code)
		},
	}
	a.JSONFlag(cmd, "print one JSON object a line for each finding")
	cmd.Flags().BoolVar(&labels, "create-labels", false, "create the labels that the projects lack")
	cmd.Flags().BoolVar(&noCall, "no-model-call", false, "do not call the model")
	return cmd
}
