package engine_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets the sweeps, which make thousands of short-lived worlds, spend
// less of their time on collecting garbage.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
