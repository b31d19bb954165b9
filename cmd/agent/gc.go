package main

import (
	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/internal/config"
	"agent/internal/retention"
)

func (a *commands) gcCommand() *cobra.Command {
	dry := false
	cmd := &cobra.Command{
		Use: "gc", Short: "Archive old contexts, and remove what is too old", Args: cobra.NoArgs,
		Long: `gc packs the logs of contexts that ended context_storage.archive_after_days ago (every
command still reads them), removes contexts that ended context_storage.cleanup_days ago,
lock files and caches that nobody needs, working copies whose work is published, and those of contexts
that ended archive_after_days ago otherwise; what these hold stays as change.patch beside
the log. It never touches a context that runs or is paused, and keeps the one that the next
attempt at its task inherits from. It makes projection files again that could not be
saved for want of room. run and loop do the same once a day.`,
		Example: `  agent gc --dry-run
  agent gc --json | jq .archived`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.LoadConfig(config.Offline())
			if err != nil {
				return err
			}
			store, err := a.OpenAs(cfg, dry)
			if err != nil {
				return err
			}
			var planned []contexts.Planned
			defer a.PageLong()()
			would := a.Printer().Planned
			if a.JSON {
				would = func(p contexts.Planned) { planned = append(planned, p) }
			}
			show := a.Progress("contexts")
			report, err := retention.Collect(cmd.Context(), cfg, store, dry, show.Step, would)
			show.End()
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintLine(collected{report, planned})
			}
			a.Printer().Collected(report)
			return nil
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be done, and with which contexts")
	a.JSONFlag(cmd, "print the report as one JSON object")
	return cmd
}

// collected is what gc --json prints.
type collected struct {
	contexts.Collected
	Planned []contexts.Planned `json:"planned,omitempty"` // of a dry run
}
