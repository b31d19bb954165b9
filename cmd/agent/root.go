package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"agent/internal/cli"
)

// commands are those of one command line.
type commands struct{ *cli.Env }

// execute runs one command line and gives the exit code.
func execute(ctx context.Context, args []string, getenv func(string) string, out, errOut io.Writer) int {
	a := &commands{&cli.Env{Getenv: getenv, Out: out, Err: errOut}}
	return a.Execute(ctx, a.root(), args)
}

func (a *commands) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "agent",
		Short: "A coding agent whose log is the product",
		Long: `agent picks up labelled issues, talks to a model and to MCP tool servers, and
reports back. Every step is an event in an append-only log, so that a run survives
kill -9, can be replayed, and shows what happened and why.

Exit codes: 0 done or nothing to do; 1 a task failed or a replay differs; 2 usage;
65 damaged data; 69 written by a newer release; 74 input or output failed; 75 later;
78 configuration or machine; 130 Ctrl-C.`,
		Example: `  agent demo                                       see the whole thing work, on your machine alone
  agent run                                        work on what is labelled, then end (for cron)
  agent run https://github.com/owner/repo/issues/12
  agent loop                                       the same, every 30 seconds
  agent list                                       what there is
  agent inspect 3f2a                               what happened, and why`,
		Version: cli.Version(),
	}
	root.AddCommand(a.runCommand(), a.loopCommand(), a.tryCommand(), a.forkCommand(), a.listCommand(), a.inspectCommand(), a.uiCommand(), a.diffCommand(), a.filesCommand(), a.restoreCommand(), a.replayCommand(),
		a.verifyCommand(), a.repairCommand(), a.rebuildCommand(), a.pauseCommand(), a.resumeCommand(), a.stopCommand(),
		a.gcCommand(), a.clusterCommand(), a.searchCommand(), a.exportCommand(), a.forgetCommand(), a.statusCommand(), a.whyCommand(), a.statsCommand(), a.doctorCommand(), a.initCommand(), a.configCommand(), a.notifyCommand(),
		a.mcpCommand(), a.demoCommand(), a.versionCommand(), a.docsCommand())
	a.Finish(root, groups)
	return root
}

// groups are the headings under which help lists the commands.
var groups = []cli.Group{
	{ID: "work", Title: "Work:", Commands: "run loop try fork pause resume stop"},
	{ID: "look", Title: "See what happened:", Commands: "list status why inspect ui diff files restore search export stats replay"},
	{ID: "store", Title: "Look after the contexts:", Commands: "verify repair rebuild gc forget cluster"},
	{ID: "setup", Title: "Set up:", Commands: "init config doctor notify demo mcp docs version completion help"},
}
