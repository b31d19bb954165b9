package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"agent/eventlog/event"
	"agent/handlers"
)

// Release is the version of this tree; see CHANGELOG.md.
const Release = "0.1.0"

// Build is what `agent version --json` prints.
type Build struct {
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

func newBuild(settings []debug.BuildSetting) Build {
	b := Build{Version: Release, LogFormat: event.Format, Decisions: handlers.Decisions,
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

// ThisBuild is of the program that runs.
func ThisBuild() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return newBuild(nil)
	}
	return newBuild(info.Settings)
}

// Version is the release, with the commit that it was built from.
func Version() string { return ThisBuild().Version }

func (b Build) String() string {
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
