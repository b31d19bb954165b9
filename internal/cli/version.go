package cli

import "agent/internal/build"

// Release is the version of this tree; see CHANGELOG.md.
const Release = build.Release

// Build is what `agent version --json` prints.
type Build = build.Build

// ThisBuild is of the program that runs.
func ThisBuild() Build { return build.This() }

// Version is the release, with the commit that it was built from.
func Version() string { return ThisBuild().Version }
