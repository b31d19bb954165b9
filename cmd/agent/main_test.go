package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain runs the tests, or, when the test binary is started under the name
// "agent", the program itself: the tests start it as a process of its own, and
// it starts its tool servers from the same file.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"agent": main})
}

// TestCommandLine plays the sessions that need no forge and no model.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireExplicitExec: true})
}
