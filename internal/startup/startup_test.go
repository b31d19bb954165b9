package startup

import (
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"testing"
)

// TestMain is also a process that has started.
func TestMain(m *testing.M) {
	if os.Getenv("STARTUP_STARTED") == "" {
		os.Exit(m.Run())
	}
	Collect()
	fmt.Print(debug.SetGCPercent(usual))
}

// TestCollect: garbage is collected in the end as it would be without all this.
func TestCollect(t *testing.T) {
	for gogc, want := range map[string]string{"": "100", "50": "50", "off": "-1"} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = []string{"STARTUP_STARTED=1", "GOGC=" + gogc}
		if out, err := cmd.Output(); err != nil || string(out) != want {
			t.Errorf("GOGC=%s: %s, want %s, %v", gogc, out, want, err)
		}
	}
}
