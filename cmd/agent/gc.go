package main

import (
	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/internal/config"
	"agent/internal/retention"
)

func (a *cli) gcCommand() *cobra.Command {
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
			cfg, err := a.loadConfig(config.Offline())
			if err != nil {
				return err
			}
			store, err := a.openAs(cfg, dry)
			if err != nil {
				return err
			}
			var planned []contexts.Planned
			defer a.pageLong()()
			would := a.printer().Planned
			if a.asJSON {
				would = func(p contexts.Planned) { planned = append(planned, p) }
			}
			show := a.progress("contexts")
			report, err := retention.Collect(cmd.Context(), cfg, store, dry, show.step, would)
			show.end()
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printLine(collected{report, planned})
			}
			a.printer().Collected(report)
			return nil
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be done, and with which contexts")
	a.jsonFlag(cmd, "print the report as one JSON object")
	return cmd
}

// collected is what gc --json prints.
type collected struct {
	contexts.Collected
	Planned []contexts.Planned `json:"planned,omitempty"` // of a dry run
}
