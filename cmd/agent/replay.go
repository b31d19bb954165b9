package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/handlers"
	"agent/handlers/engine"
	"agent/internal/sanitize"
)

// replayLine is the result for one context, as `replay --json` prints it.
type replayLine struct {
	UUID        string              `json:"uuid"`
	Events      int                 `json:"events"`
	Decisions   int                 `json:"decisions"`
	Requests    int                 `json:"requests"`
	Forgotten   int                 `json:"forgotten,omitempty"` // what held a text that was forgotten
	Exact       bool                `json:"exact"`
	Differences []engine.Difference `json:"differences,omitempty"`
	Files       []string            `json:"files_that_differ,omitempty"`
}

func (a *cli) replayCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "replay CONTEXT", Short: "Re-run every decision and compare it with the log", Args: cobra.ExactArgs(1),
		Long: `replay folds every prefix of the log, decides again, and compares: each decision, the
SHA-256 of each model request, and the projection files. It calls nothing outside and
writes nothing. A log that was changed is refused with the place of the change.`,
		Example: "  agent replay 3f2a",
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := a.openStore(true)
			if err != nil {
				return err
			}
			uuid, err := store.Newest(args[0], a.hosts...)
			if err != nil {
				return err
			}
			return a.replay(store, uuid, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

func (a *cli) replay(store *contexts.Store, uuid string, asJSON bool) error {
	report, files, err := engine.ReplayContext(store, uuid)
	if err != nil {
		return err
	}
	line := replayLine{UUID: uuid, Events: report.Events, Decisions: report.Decisions, Requests: report.Requests, Forgotten: report.Forgotten,
		Differences: report.Differences, Files: files}
	line.Exact = len(line.Differences) == 0 && len(line.Files) == 0
	if asJSON {
		data, err := json.Marshal(line)
		fmt.Fprintf(a.out, "%s\n", sanitize.JSON(data))
		return errors.Join(err, quietly(replayCode(line)))
	}
	a.printReplay(line)
	return quietly(replayCode(line))
}

// replayCode is 1 if something differs that this version decided or rendered.
func replayCode(l replayLine) int {
	for _, d := range l.Differences {
		if d.Decisions == handlers.Decisions {
			return exitFailed
		}
	}
	if len(l.Files) > 0 {
		return exitFailed
	}
	return 0
}

func (a *cli) printReplay(l replayLine) {
	for _, d := range l.Differences {
		if d.Decisions != handlers.Decisions {
			fmt.Fprintf(a.out, "seq %d: decided by v%d; v%d would decide otherwise\n", d.Seq, d.Decisions, handlers.Decisions)
		} else {
			fmt.Fprintf(a.out, "seq %d differs\n", d.Seq)
		}
		fmt.Fprintf(a.out, "  log: %s\n  now: %s\n", sanitize.Line(d.Recorded, 2000), sanitize.Line(d.Decided, 2000))
	}
	for _, name := range l.Files {
		fmt.Fprintf(a.out, "%s differs from the log (agent rebuild makes it again)\n", name)
	}
	if l.Forgotten > 0 {
		fmt.Fprintf(a.out, "%d messages and requests held a text that was forgotten: everything but their bytes was compared\n", l.Forgotten)
	}
	if l.Exact {
		fmt.Fprintf(a.out, "exact: %d events, %d decisions and %d model requests came out the same, and every projection file byte for byte\n",
			l.Events, l.Decisions, l.Requests)
	}
}
