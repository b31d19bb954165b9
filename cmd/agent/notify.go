package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"agent/internal/app"
	"agent/internal/cli"
	"agent/internal/i18n"
	"agent/internal/notify"
)

func (a *commands) notifyCommand() *cobra.Command {
	group := &cobra.Command{Use: "notify", Short: "Try how people are told of tasks", Example: "  agent notify test"}
	test := &cobra.Command{
		Use: "test", Short: "Send a message to every receiver of the section notify", Args: cobra.NoArgs,
		Long: `test sends one message to each receiver that the configuration has in notify, whatever it is
told of otherwise, and says what went wrong. It exits with 74 if one did not take it.`,
		Example: `  agent notify test
  agent notify test --json | jq -r 'select(.error).receiver'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.LoadConfig()
			if err != nil {
				return err
			}
			lang, code := app.Language(cfg), 0
			if len(cfg.Notify) == 0 && !a.JSON {
				fmt.Fprintln(a.Out, i18n.Text(lang, "notify.none"))
			}
			for r := range notify.Try(cmd.Context(), cfg, lang, cli.Version()) {
				if r.Error != "" {
					code = 74
				}
				if a.JSON {
					err = a.PrintLine(r)
				} else {
					_, err = fmt.Fprintln(a.Out, r.Line(lang))
				}
				if err != nil {
					return err
				}
			}
			return cli.Quietly(code)
		},
	}
	a.JSONFlag(test, "print one JSON object a line for each receiver")
	group.AddCommand(test)
	return group
}
