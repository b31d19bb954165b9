package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/internal/config"
	"agent/internal/retention"
	"agent/internal/sanitize"
)

func (a *cli) gcCommand() *cobra.Command {
	dry, asJSON := false, false
	cmd := &cobra.Command{
		Use: "gc", Short: "Archive old contexts, and remove what is too old", Args: cobra.NoArgs,
		Long: `gc packs the logs of contexts that ended context_storage.archive_after_days ago (every
command still reads them), removes contexts that ended context_storage.cleanup_days ago,
lock files that nobody needs, working copies whose work is published, and those of contexts
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
			store, err := openAs(cfg, dry, func(err error) { fmt.Fprintln(a.err, "agent: warning: "+sanitize.Terminal(err.Error())) })
			if err != nil {
				return err
			}
			show := a.progress("contexts")
			report, err := retention.Collect(cmd.Context(), cfg, store, dry, show.step)
			show.end()
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(report)
			}
			a.printCollected(report)
			return nil
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be done")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return cmd
}

func (a *cli) printCollected(c contexts.Collected) {
	archived, removed, rebuilt := "archived", "removed", "rebuilt"
	if c.DryRun {
		archived, removed, rebuilt = "would archive", "would remove", "would rebuild"
	}
	fmt.Fprintf(a.out, "%s %d contexts, %s", archived, c.Archived, bytesText(c.ArchivedFrom))
	if !c.DryRun {
		fmt.Fprintf(a.out, " to %s", bytesText(c.ArchivedTo))
	}
	fmt.Fprintf(a.out, "\n%s %d contexts, %s\n", removed, c.Removed, bytesText(c.RemovedBytes))
	fmt.Fprintf(a.out, "%s %d working copies, %s\n", removed, c.Clones, bytesText(c.CloneBytes))
	fmt.Fprintf(a.out, "%s %d lock files\n", removed, c.Locks)
	if c.Rebuilt > 0 {
		fmt.Fprintf(a.out, "%s the projection files of %d contexts\n", rebuilt, c.Rebuilt)
	}
	if c.Inheritable > 0 {
		fmt.Fprintf(a.out, "kept %d contexts that the next attempt at their task inherits from\n", c.Inheritable)
	}
	if c.Busy > 0 {
		fmt.Fprintf(a.out, "left %d contexts that another process works on\n", c.Busy)
	}
	for _, p := range c.ProblemsNamed {
		fmt.Fprintln(a.out, "left "+sanitize.Line(p, 500))
	}
	if more := c.Problems - len(c.ProblemsNamed); more > 0 {
		fmt.Fprintf(a.out, "left %d more that are damaged\n", more)
	}
}

// bytesText shows a number of bytes in the largest unit that fits.
func bytesText(n int64) string {
	switch {
	case n < 10<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 10<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
