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

// buildInfo is what `agent version --json` prints.
type buildInfo struct {
	Version   string `json:"version"`
	Commit    string `json:"commit,omitempty"`       // empty if git was not asked at build time
	Committed string `json:"committed_at,omitempty"` // RFC 3339
	Modified  bool   `json:"modified,omitempty"`     // the tree had changes that were not committed
	LogFormat int    `json:"log_format"`
	Decisions int    `json:"decisions"`
	Go        string `json:"go"`
	OS        string `json:"os"`
	Arch      string `json:"arch"`
}

func newBuildInfo(settings []debug.BuildSetting) buildInfo {
	b := buildInfo{Version: release, LogFormat: event.Format, Decisions: handlers.Decisions,
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	for _, s := range settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Committed = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	if b.Commit != "" {
		b.Version += "+" + b.Commit[:min(len(b.Commit), 10)]
	}
	return b
}

func thisBuild() buildInfo {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return newBuildInfo(nil)
	}
	return newBuildInfo(info.Settings)
}

// version is the release, with the commit that it was built from.
func version() string { return thisBuild().Version }

func (b buildInfo) String() string {
	commit := ""
	if b.Commit != "" {
		commit = fmt.Sprintf("commit %s of %s", b.Commit, b.Committed)
		if b.Modified {
			commit += ", modified"
		}
		commit += "; "
	}
	return fmt.Sprintf("agent %s (%slog format %d, decisions v%d, %s %s/%s)",
		b.Version, commit, b.LogFormat, b.Decisions, b.Go, b.OS, b.Arch)
}

func (a *cli) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "version", Short: "Show versions", Args: cobra.NoArgs, Example: "  agent version\n  agent version --json",
		RunE: func(*cobra.Command, []string) error {
			if a.asJSON {
				return a.printLine(thisBuild())
			}
			_, err := fmt.Fprintln(a.out, thisBuild())
			return err
		},
	}
	a.jsonFlag(cmd, "print them as one JSON object")
	return cmd
}
