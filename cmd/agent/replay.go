package main

import (
	"errors"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/handlers"
	"agent/handlers/engine"
	"agent/internal/cli"
	"agent/internal/sanitize"
	"agent/internal/term"
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

func (a *commands) replayCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "replay CONTEXT", Short: "Re-run every decision and compare it with the log", Args: cobra.ExactArgs(1),
		Long: `replay folds every prefix of the log, decides again, and compares: each decision, the
SHA-256 of each model request, and the projection files. It calls nothing outside and
writes nothing. A log that was changed is refused with the place of the change.`,
		Example: "  agent replay 3f2a",
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := a.OpenStore(true)
			if err != nil {
				return err
			}
			uuid, err := store.Newest(args[0], a.Hosts...)
			if err != nil {
				return err
			}
			return a.replay(store, uuid)
		},
	}
	a.JSONFlag(cmd, "print the result as one JSON object")
	return cmd
}

func (a *commands) replay(store *contexts.Store, uuid string) error {
	report, files, err := engine.ReplayContext(store, uuid)
	if err != nil {
		return err
	}
	line := replayLine{UUID: uuid, Events: report.Events, Decisions: report.Decisions, Requests: report.Requests, Forgotten: report.Forgotten,
		Differences: report.Differences, Files: files}
	line.Exact = len(line.Differences) == 0 && len(line.Files) == 0
	if a.JSON {
		return errors.Join(a.PrintLine(line), cli.Quietly(replayCode(line)))
	}
	a.printReplay(line)
	return cli.Quietly(replayCode(line))
}

// replayCode is 1 if something differs that this version decided or rendered.
func replayCode(l replayLine) int {
	for _, d := range l.Differences {
		if d.Decisions == handlers.Decisions {
			return cli.ExitFailed
		}
	}
	if len(l.Files) > 0 {
		return cli.ExitFailed
	}
	return 0
}

func (a *commands) printReplay(l replayLine) {
	for _, d := range l.Differences {
		if d.Decisions != handlers.Decisions {
			a.Say("replay.older", d.Seq, d.Decisions, handlers.Decisions)
		} else {
			a.Say("replay.differs", d.Seq)
		}
		a.Say("replay.both", sanitize.Line(d.Recorded, 2000), sanitize.Line(d.Decided, 2000))
	}
	for _, name := range l.Files {
		a.Say("replay.file", name, l.UUID[:8])
	}
	if l.Forgotten > 0 {
		a.Say("replay.forgotten", l.Forgotten)
	}
	if l.Exact {
		a.Paint(term.Good, a.Text("replay.exact", l.Events, l.Decisions, l.Requests))
	}
}
