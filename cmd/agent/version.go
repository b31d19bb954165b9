package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"agent/internal/cli"
)

func (a *commands) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "version", Short: "Show versions", Args: cobra.NoArgs, Example: "  agent version\n  agent version --json",
		RunE: func(*cobra.Command, []string) error {
			if a.JSON {
				return a.PrintLine(cli.ThisBuild())
			}
			_, err := fmt.Fprintln(a.Out, cli.ThisBuild())
			return err
		},
	}
	a.JSONFlag(cmd, "print them as one JSON object")
	return cmd
}
