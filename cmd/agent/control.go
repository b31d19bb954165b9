package main

import (
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/handlers/engine"
	"agent/internal/cli"
	"agent/internal/i18n"
	"agent/internal/report"
	"agent/internal/sanitize"
	"agent/projections"
)

func (a *commands) pauseCommand() *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use: "pause [--all | TASK...]", Short: "Pause tasks",
		Long: `pause leaves a signal: the agent that works on the task finishes the tool call in
flight, says so on the task, and pauses it until agent resume.`,
		Example: `  agent pause 3f2a
  agent pause https://github.com/owner/repo/issues/12
  agent pause --all`,
		RunE: func(_ *cobra.Command, refs []string) error {
			return a.signal(refs, all, contexts.Pause, contexts.Running, nil)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "everything that is being worked on")
	a.JSONFlag(cmd, signalJSON)
	return cmd
}

func (a *commands) resumeCommand() *cobra.Command {
	all, add := false, 0.0
	cmd := &cobra.Command{
		Use: "resume [--all | TASK...]", Short: "Let paused tasks go on at the next run",
		Long: `resume leaves a signal that the next run or the running loop takes. Where a limit was
reached it grants the same amount once more, or what --add says.`,
		Example: `  agent resume 3f2a
  agent resume 3f2a --add 50000`,
		RunE: func(_ *cobra.Command, refs []string) error {
			return a.signal(refs, all, contexts.Resume, contexts.Paused, resumePayload(add))
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "everything that is paused")
	a.JSONFlag(cmd, signalJSON)
	cmd.Flags().Float64Var(&add, "add", 0, "how much of the reached limit to grant")
	return cmd
}

// resumePayload says who resumes, and how much of a reached limit is granted.
func resumePayload(add float64) []byte {
	payload, _ := json.Marshal(engine.ResumePayload{Add: add, By: engine.Operator()}) // of a number and a name
	return payload
}

func (a *commands) stopCommand() *cobra.Command {
	reason := ""
	cmd := &cobra.Command{
		Use: "stop TASK...", Short: "End tasks for good", Args: cobra.MinimumNArgs(1),
		Long:    `stop leaves a signal: the task ends with a comment, its stopped label, and a summary.`,
		Example: `  agent stop 3f2a --reason "solved otherwise"`,
		RunE: func(_ *cobra.Command, refs []string) error {
			return a.signal(refs, false, contexts.Stop, "", []byte(reason))
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "said on the task")
	a.JSONFlag(cmd, signalJSON)
	return cmd
}

const signalJSON = "print one JSON object a line for each context"

// requested is what became of a request to one context, as --json prints it.
type requested struct {
	UUID      string          `json:"uuid"`
	Signal    contexts.Signal `json:"signal"`
	Requested bool            `json:"requested"` // false: the context has ended
	State     string          `json:"state"`
}

// signal leaves a signal for the given contexts, or for all in a directory.
func (a *commands) signal(refs []string, all bool, sig contexts.Signal, dir contexts.Dir, payload []byte) error {
	if all == (len(refs) > 0) {
		return cli.Usage(errors.New("say which tasks, or --all"))
	}
	store, err := a.OpenStore(false)
	if err != nil {
		return err
	}
	uuids, err := a.targets(store, refs, dir)
	if err != nil {
		return err
	}
	if all && len(uuids) == 0 && !a.JSON {
		a.Say("signal.nothing." + i18n.ID(sig))
	}
	if sig == contexts.Resume {
		a.signalStandsStill()
	}
	var damaged error
	for _, uuid := range uuids {
		state, err := engine.ReadState(store, uuid)
		if err == nil && state.Status.Ended() {
			a.Tell(requested{uuid, sig, false, string(state.Status)}, "signal.ended."+i18n.ID(sig), uuid, i18n.State(a.Lang, string(state.Status)))
			a.howToBeginAnew(state, sig)
			continue
		}
		if err := store.Send(uuid, sig, payload); err != nil { // also to a damaged one, for after its repair
			return err
		}
		a.Tell(requested{uuid, sig, true, statusOf(state)}, "signal.requested."+i18n.ID(sig), uuid)
		if state != nil && state.Fork != nil && state.Status != projections.Running && !a.JSON {
			a.Say("signal.fork", uuid)
		}
		if cli.ExitCode(err) == contexts.ExitDamage && !contexts.IsTorn(err) {
			damaged = errors.Join(damaged, err)
		}
	}
	return damaged
}

// statusOf is the state by the log; none can be read of one that is damaged.
func statusOf(s *projections.State) string {
	if s == nil || s.Created == nil {
		return contexts.StateDamaged
	}
	return string(s.Status)
}

// howToBeginAnew says what leads on where a context has ended that was to be resumed.
func (a *commands) howToBeginAnew(s *projections.State, sig contexts.Signal) {
	if sig != contexts.Resume || s.Task == nil || a.JSON {
		return
	}
	a.Say("signal.again", sanitize.Line(s.Task.URL, 300))
	if work := report.Work(s, a.Lang); work != "" {
		a.Say("signal.from", work)
	}
}

// signalStandsStill warns that a resume comes to nothing for what the signal keeps.
func (a *commands) signalStandsStill() {
	if a.SignalFile != "" && !a.JSON {
		a.Say("signal.still", a.SignalFile)
	}
}

func (a *commands) targets(store *contexts.Store, refs []string, dir contexts.Dir) ([]string, error) {
	var uuids []string
	for _, ref := range refs {
		uuid, err := store.Live(ref, a.Hosts...)
		if err != nil {
			return nil, err
		}
		uuids = append(uuids, uuid)
	}
	if len(refs) > 0 {
		return uuids, nil
	}
	for entry, err := range store.Unfinished() {
		if fork, _ := store.ForkOf(entry.UUID); fork != nil {
			continue // no round takes it
		}
		if err == nil && entry.Dir == dir {
			uuids = append(uuids, entry.UUID)
		}
	}
	return uuids, nil
}
