package projections

import (
	"strings"
	"testing"

	"agent/eventlog/event"
)

// TestCommandIsQuoted: a command in a comment is one that can be copied to a shell.
func TestCommandIsQuoted(t *testing.T) {
	for args, want := range map[string]string{
		`{"argv":["go","test","./...","-run=A|B"]}`:                 `go test ./... '-run=A|B'`,
		`{"argv":["sh","-c","echo 'a' > b"]}`:                       `sh -c 'echo '\''a'\'' > b'`,
		`{"argv":["printf","","日本"]}`:                               `printf '' '日本'`,
		`{"argv":["rm","-rf","$HOME","a b"]}`:                       `rm -rf '$HOME' 'a b'`,
		`{"command":"make | tee log"}`:                              `make | tee log`,
		`{"path":"a b"}`:                                            `a b`,
		`{"patch":"--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n-a\n+b\n"}`: `x.go`,
		`{"patch":"*** Begin Patch\n*** Update File: a b\n*** Move to: c\n@@\n-x\n*** Add File: d\n+e\n"}`: `a b, c, d`,
		`no object`: ``,
	} {
		if got := command(args); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

// TestPatchedFilesAreNamed: who adds a file by a patch has named it, so nobody asks
// whether it belongs to the change.
func TestPatchedFilesAreNamed(t *testing.T) {
	w := Work{calling: &event.ToolRequested{Tool: "apply_patch", Args: event.T(`{"patch":"*** Begin Patch\n*** Add File: dir/new\n+` + strings.Repeat("long ", 500) + `\n"}`)}}
	w.edit()
	w.writes("dir/new")
	if s := (&State{Work: w}); !s.Named("dir/new") || len(w.Files) != 1 || w.Files[0] != "dir/new" {
		t.Errorf("named %v, files %q", w.edited, w.Files)
	}
}
