// Package build says which build of the program this is.
package build

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"agent/eventlog/versions"
)

// init answers `agent version` at once, since it needs nothing of the program: Go initializes
// packages in the order of their paths as soon as what they import is ready, and what comes
// after this one takes most of the time of a start.
func init() {
	if len(os.Args) == 2 && os.Args[1] == "version" {
		if _, err := fmt.Println(This()); err != nil {
			os.Exit(exitIO)
		}
		os.Exit(0)
	}
}

// exitIO is the exit code where output fails.
const exitIO = 74

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
	b := Build{Version: Release, LogFormat: versions.Format, Decisions: versions.Decisions,
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

// This is the build of the program that runs.
func This() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return newBuild(nil)
	}
	return newBuild(info.Settings)
}

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
