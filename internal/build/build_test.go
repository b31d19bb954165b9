package build

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersionNamesTheCommit(t *testing.T) {
	b := newBuild([]debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"},
		{Key: "vcs.time", Value: "2026-11-28T08:00:00Z"}, {Key: "vcs.modified", Value: "true"}})
	if want := "agent " + Release + "+0123456789 (commit 0123456789abcdef of 2026-11-28T08:00:00Z, modified; log format "; !strings.HasPrefix(b.String(), want) {
		t.Errorf("%s\nmust begin with %s", b, want)
	}
	if b := newBuild(nil); b.Version != Release || strings.Contains(b.String(), "commit") {
		t.Errorf("a build without git is %s", b)
	}
}
