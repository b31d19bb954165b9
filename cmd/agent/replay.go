package main

import (
	"errors"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/handlers"
	"agent/handlers/engine"
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

func (a *cli) replayCommand() *cobra.Command {
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
			return a.replay(store, uuid)
		},
	}
	a.jsonFlag(cmd, "print the result as one JSON object")
	return cmd
}

func (a *cli) replay(store *contexts.Store, uuid string) error {
	report, files, err := engine.ReplayContext(store, uuid)
	if err != nil {
		return err
	}
	line := replayLine{UUID: uuid, Events: report.Events, Decisions: report.Decisions, Requests: report.Requests, Forgotten: report.Forgotten,
		Differences: report.Differences, Files: files}
	line.Exact = len(line.Differences) == 0 && len(line.Files) == 0
	if a.asJSON {
		return errors.Join(a.printLine(line), quietly(replayCode(line)))
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
			a.say("replay.older", d.Seq, d.Decisions, handlers.Decisions)
		} else {
			a.say("replay.differs", d.Seq)
		}
		a.say("replay.both", sanitize.Line(d.Recorded, 2000), sanitize.Line(d.Decided, 2000))
	}
	for _, name := range l.Files {
		a.say("replay.file", name, l.UUID[:8])
	}
	if l.Forgotten > 0 {
		a.say("replay.forgotten", l.Forgotten)
	}
	if l.Exact {
		a.paint(term.Good, a.text("replay.exact", l.Events, l.Decisions, l.Requests))
	}
}
