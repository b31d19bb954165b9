package main

import (
	"github.com/spf13/cobra"

	"agent/internal/app"
	"agent/internal/config"
)

func (a *commands) clusterCommand() *cobra.Command {
	group := &cobra.Command{Use: "cluster", Short: "Bring contexts into a cluster, or out of it", Example: "  agent cluster import\n  agent cluster export /var/backups/agent"}
	in := &cobra.Command{
		Use: "import [DIR]", Short: "Give the cluster the contexts of a machine that worked alone", Args: cobra.MaximumNArgs(1),
		Long: `import gives the cluster the contexts of DIR, the contexts_dir of another machine, or those of
this machine: the paused ones, which go on in the cluster, and those that have ended. One that
runs, is damaged, or was commented with another key than the cluster's is left out and
named; the exit code is 1 then. Nothing in DIR changes, and to import it again is no harm.`,
		Example: "  agent cluster import\n  agent cluster import /mnt/old/contexts\n  agent cluster import --json | jq .skipped",
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := a.LoadConfig(config.Offline())
			if err != nil {
				return err
			}
			show := a.Progress("contexts")
			report, err := app.Import(cmd.Context(), cfg, append(args, "")[0], a.Warning, show.Step)
			show.End()
			return a.Report(err, report, len(report.Skipped) > 0, func() { a.Printer().Imported(report) })
		},
	}
	out := &cobra.Command{
		Use: "export DIR", Short: "Write the contexts of the cluster into a directory", Args: cobra.ExactArgs(1),
		Long: `export writes what the cluster has into DIR: all logs, the texts and files that they name, and
the key of the comments. It is a backup, which export brings up to date when it is called again, and
a contexts_dir with which one machine can go on alone. Stop all workers before it does.`,
		Example: "  agent cluster export /var/backups/agent\n  agent verify --contexts /var/backups/agent",
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := a.LoadConfig(config.Offline())
			if err != nil {
				return err
			}
			show := a.Progress("contexts")
			report, err := app.Export(cmd.Context(), cfg, args[0], a.Warning, show.Step)
			show.End()
			return a.Report(err, report, len(report.Skipped) > 0, func() { a.Printer().Exported(report, args[0]) })
		},
	}
	for _, cmd := range []*cobra.Command{in, out} {
		a.JSONFlag(cmd, "print the report as one JSON object")
	}
	group.AddCommand(in, out)
	return group
}
