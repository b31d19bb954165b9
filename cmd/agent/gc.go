package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/internal/config"
	"agent/internal/i18n"
	"agent/internal/retention"
	"agent/internal/sanitize"
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
			would := a.sayPlanned
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
			a.printCollected(report)
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

func (a *cli) sayPlanned(p contexts.Planned) {
	if p.UUID == "" {
		a.say("gc.plan.cache", sanitize.Line(p.TaskKey, 200), bytesText(p.Bytes))
		return
	}
	a.say(i18n.OrOther("gc.plan.", p.Action), p.UUID, sanitize.Line(p.TaskKey, 200), bytesText(p.Bytes))
}

func (a *cli) printCollected(c contexts.Collected) {
	did := func(id i18n.ID) i18n.ID {
		if c.DryRun {
			return "gc.would." + id
		}
		return "gc.did." + id
	}
	if c.DryRun {
		a.say("gc.would.archive", c.Archived, bytesText(c.ArchivedFrom))
	} else {
		a.say("gc.did.archive", c.Archived, bytesText(c.ArchivedFrom), bytesText(c.ArchivedTo))
	}
	a.say(did("remove"), c.Removed, bytesText(c.RemovedBytes))
	a.say(did("clones"), c.Clones, bytesText(c.CloneBytes))
	if c.Caches > 0 {
		a.say(did("caches"), c.Caches, bytesText(c.CacheBytes))
	}
	a.say(did("locks"), c.Locks)
	if c.Rebuilt > 0 {
		a.say(did("rebuild"), c.Rebuilt)
	}
	if c.Inheritable > 0 {
		a.say("gc.kept", c.Inheritable)
	}
	if c.Busy > 0 {
		a.say("gc.busy", c.Busy)
	}
	for _, p := range c.ProblemsNamed {
		a.say("gc.left", sanitize.Line(p, 500))
	}
	if more := c.Problems - len(c.ProblemsNamed); more > 0 {
		a.say("gc.more", more)
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
