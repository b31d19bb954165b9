package workspace

import (
	"os"
	"time"
)

// A server of a test keeps the processes of its commands, and reports progress more
// often, if its environment says so.
func init() {
	keepProcesses = os.Getenv("TEST_KEEP_PROCESSES") != ""
	if every, err := time.ParseDuration(os.Getenv("TEST_PROGRESS_EVERY")); err == nil {
		progressEvery = every
	}
}
