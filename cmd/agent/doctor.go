package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/internal/doctor"
	"agent/internal/i18n"
)

func (a *cli) doctorCommand() *cobra.Command {
	asJSON, noCall := false, false
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check everything that a run needs", Args: cobra.NoArgs,
		Long: `doctor checks the configuration, files, disk, contexts, forges, model, tool servers, git and
sandbox, and says how to fix each problem. It exits with 0 if it finds no problem (warnings,
marked !, do not count), else with 78. It changes nothing. To find out whether the model can
call tools it makes one very short call, unless --no-model-call is given.`,
		Example: `  agent doctor
  agent doctor --no-model-call --json | jq -r '.[] | select(.result!="ok").todo'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			show := a.showFinding
			if asJSON {
				show = func(doctor.Finding) {}
			}
			r := doctor.Run(cmd.Context(), doctor.Options{ConfigPath: a.config, ContextsDir: a.contexts, Version: version(),
				NoModelCall: noCall, Getenv: a.getenv, Show: show})
			code, summary := 0, i18n.ID("doctor.fine")
			if r.Count(doctor.Failed) > 0 {
				code, summary = contexts.ExitConfig, "doctor.unwell"
			}
			if asJSON {
				return errors.Join(a.printJSON(r.Findings), quietly(code))
			}
			fmt.Fprintln(a.out, "\n"+i18n.Text(r.Lang, summary, r.Count(doctor.Failed), r.Count(doctor.Warning)))
			return quietly(code)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON")
	cmd.Flags().BoolVar(&noCall, "no-model-call", false, "do not call the model")
	return cmd
}

var marks = map[doctor.Result]string{doctor.OK: "✓", doctor.Warning: "!", doctor.Failed: "✗"}

func (a *cli) showFinding(f doctor.Finding) {
	fmt.Fprintf(a.out, "%s %s: %s\n", marks[f.Result], f.Check, f.Text)
	if f.Todo != "" {
		fmt.Fprintln(a.out, "    → "+f.Todo)
	}
}
