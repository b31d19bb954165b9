package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"agent/eventlog/event"
	"agent/handlers"
)

// release is the version of this tree; see CHANGELOG.md.
const release = "0.1.0"

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return release
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return release + "+" + s.Value[:min(len(s.Value), 10)]
		}
	}
	return release
}

func (a *cli) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show versions", Args: cobra.NoArgs, Example: "  agent version",
		Run: func(*cobra.Command, []string) {
			fmt.Fprintf(a.out, "agent %s (log format %d, decisions v%d, %s %s/%s)\n",
				version(), event.Format, handlers.Decisions, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
}
