package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/internal/cli"
	"agent/internal/i18n"
	"agent/internal/integrity"
	"agent/internal/report"
	"agent/internal/sanitize"
	"agent/projections"
)

func (a *commands) repairCommand() *cobra.Command {
	accept := false
	cmd := &cobra.Command{
		Use: "repair CONTEXT --accept-loss", Short: "Keep what is valid of a damaged log", Args: cobra.ExactArgs(1),
		Long: `repair keeps the events before the damage, sets the damaged log aside whole, and records
what was given up. Saved files that cannot be read are given up alone, and every event is kept.
It does nothing to a context that is not damaged.`,
		Example: "  agent repair 3f2a --accept-loss",
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := a.OpenStore(!accept)
			if err != nil {
				return err
			}
			uuid, err := store.Newest(args[0], a.Hosts...)
			if contexts.ExitCode(err) == contexts.ExitDamage {
				return cli.BeyondRepair(err)
			}
			if err != nil {
				return err
			}
			if !accept {
				return cli.Usage(errors.New("repair gives up the events after the damage. If that is right: agent repair " + uuid + " --accept-loss"))
			}
			return a.repair(store, uuid)
		},
	}
	a.JSONFlag(cmd, "print the result as one JSON object")
	cmd.Flags().BoolVar(&accept, "accept-loss", false, "give up what cannot be read")
	return cmd
}

func (a *commands) repair(store *contexts.Store, uuid string) error {
	done, err := integrity.Repair(store, uuid, time.Now())
	switch {
	case contexts.ExitCode(err) == contexts.ExitDamage:
		return cli.BeyondRepair(err)
	case err != nil:
		return err
	case done.State == nil:
		a.Tell(done, "repair.whole", uuid)
		return nil
	case a.JSON:
		return a.PrintLine(done)
	case done.Lines > 0:
		a.Say("repair.did", uuid, done.Bytes, done.Lines)
		a.Say("rebuild.did", uuid)
	case done.Reason != "":
		a.Say("repair.moved", uuid, done.Reason)
	}
	if done.Saves > 0 {
		a.Say("repair.saves", uuid, done.Saves)
	}
	a.sayNext(uuid, done.State)
	return nil
}

// sayNext says when a repaired context goes on.
func (a *commands) sayNext(uuid string, s *projections.State) {
	switch reason, until := report.WaitsFor(s); {
	case s.Status.Ended():
		a.Say("repair.next.ended", uuid, i18n.State(a.Lang, string(s.Status)))
	case until == "person":
		a.Say("repair.next.person", uuid, reason, uuid[:8])
	case until != "":
		a.Say("repair.next.waits", uuid, i18n.State(a.Lang, string(s.Status)), i18n.Until(a.Lang, until))
	default:
		a.Say("repair.next.runs", uuid)
	}
}

func (a *commands) rebuildCommand() *cobra.Command {
	all, index := false, false
	cmd := &cobra.Command{
		Use: "rebuild [--all | --index | CONTEXT...]", Short: "Rebuild the projection files from the logs",
		Example: `  agent rebuild --all
  agent rebuild --index
  agent rebuild 3f2a`,
		RunE: func(_ *cobra.Command, refs []string) error {
			if chosen := len(refs) > 0; all && chosen || !all && !index && !chosen {
				return cli.Usage(errors.New("say which contexts, --all or --index"))
			}
			store, err := a.OpenStore(false)
			if err != nil {
				return err
			}
			if index {
				if err := a.rebuildIndex(store); err != nil || !all && len(refs) == 0 {
					return err
				}
			}
			code, err := a.Each(store, refs, func(uuid string) error { return a.rebuild(store, uuid) })
			return errors.Join(err, cli.Quietly(code))
		},
	}
	a.JSONFlag(cmd, "print one JSON object a line for each context")
	cmd.Flags().BoolVar(&all, "all", false, "all contexts")
	cmd.Flags().BoolVar(&index, "index", false, "the index of the contexts")
	return cmd
}

// indexed is what rebuild --index --json prints.
type indexed struct {
	Contexts int `json:"contexts"`
}

func (a *commands) rebuildIndex(store *contexts.Store) error {
	show := a.Progress("reading logs")
	lost, err := store.RebuildIndex(show.Step)
	show.End()
	if err != nil {
		return err
	}
	for _, i := range lost {
		a.Warning(errors.New(a.Text("rebuild.lost", i.UUID, sanitize.Line(i.TaskKey, 500))))
	}
	counts, err := store.Counts()
	if err != nil {
		return err
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	a.Tell(indexed{total}, "rebuild.index", total)
	return nil
}

func (a *commands) rebuild(store *contexts.Store, uuid string) error {
	if err := integrity.Rebuild(store, uuid); err != nil {
		return err
	}
	a.Tell(rebuilt{uuid, true}, "rebuild.did", uuid)
	return nil
}

// rebuilt is a context whose files were made again, as rebuild --json prints it.
type rebuilt struct {
	UUID string `json:"uuid"`
	OK   bool   `json:"ok"`
}
