package main

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/internal/cli"
	"agent/internal/control"
	"agent/internal/i18n"
	"agent/internal/report"
	"agent/internal/sanitize"
	"agent/internal/try"
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
		RunE: func(cmd *cobra.Command, refs []string) error {
			return a.signal(cmd.Context(), control.Request{Signal: contexts.Pause, Refs: refs, All: all, Dir: contexts.Running})
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
		RunE: func(cmd *cobra.Command, refs []string) error {
			return a.signal(cmd.Context(), control.Request{Signal: contexts.Resume, Refs: refs, All: all, Dir: contexts.Paused, Add: add})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "everything that is paused")
	a.JSONFlag(cmd, signalJSON)
	cmd.Flags().Float64Var(&add, "add", 0, "how much of the reached limit to grant")
	return cmd
}

func (a *commands) stopCommand() *cobra.Command {
	reason := ""
	cmd := &cobra.Command{
		Use: "stop TASK...", Short: "End tasks for good", Args: cobra.MinimumNArgs(1),
		Long: `stop leaves a signal: the task ends with a comment, its stopped label, and a summary.
No run takes a try, so stop ends it at once. If the task's forge is not configured any more,
the next run ends the task and writes nothing there.`,
		Example: `  agent stop 3f2a --reason "solved otherwise"`,
		RunE: func(cmd *cobra.Command, refs []string) error {
			return a.signal(cmd.Context(), control.Request{Signal: contexts.Stop, Refs: refs, Reason: reason})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "said on the task")
	a.JSONFlag(cmd, signalJSON)
	return cmd
}

const signalJSON = "print one JSON object a line for each context"

// signal leaves a signal for the given contexts, or for all in a directory.
func (a *commands) signal(ctx context.Context, r control.Request) error {
	if r.All == (len(r.Refs) > 0) {
		return cli.Usage(errors.New("say which tasks, or --all"))
	}
	store, err := a.OpenStore(false)
	if err != nil {
		return err
	}
	if r.Signal == contexts.Resume {
		a.signalStandsStill()
	}
	r.Hosts = a.Hosts
	r.End = func(uuid string) (bool, error) { return try.End(ctx, a.Env, store, uuid) }
	told := 0
	err = control.Send(store, r, func(answer control.Answer) { told++; a.tellSignal(answer) })
	if told == 0 && err == nil && !a.JSON {
		a.Say("signal.nothing." + i18n.ID(r.Signal))
	}
	return err
}

func (a *commands) tellSignal(r control.Answer) {
	if !r.Requested {
		a.Tell(r, "signal.ended."+i18n.ID(r.Signal), r.UUID, i18n.State(a.Lang, r.Status))
		if !r.Try {
			a.howToBeginAnew(r.State, r.Signal)
		}
		return
	}
	switch {
	case r.Status == string(projections.Stopped):
		a.Tell(r, "signal.stopped", r.UUID)
	case r.Try && r.Signal == contexts.Resume:
		a.Tell(r, "signal.try", r.UUID, r.UUID[:8]+a.With())
	default:
		a.Tell(r, "signal.requested."+i18n.ID(r.Signal), r.UUID)
	}
	if r.Try {
		return
	}
	if s := r.State; s != nil && s.Created != nil && !slices.Contains(a.Hosts, s.Created.Forge) && !a.JSON && r.Signal != contexts.Stop {
		a.Say("skip.forge", s.Created.Forge, r.UUID[:8]+a.With())
	}
	if s := r.State; s != nil && s.Fork != nil && s.Status != projections.Running && !a.JSON {
		a.Say("signal.fork", r.UUID)
	}
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
