package startup

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestGiveBack: code is let go, and runs again when it is called.
func TestGiveBack(t *testing.T) {
	before := codeInMemory(t)
	GiveBack()
	if after := codeInMemory(t); after >= before {
		t.Errorf("%d KiB of code are in memory, %d before", after, before)
	}
}

// codeInMemory is how many KiB of the program's code are in memory.
func codeInMemory(t *testing.T) (kib int) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	ours := false
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) > 5:
			ours = fields[1] == "r-xp" && filepath.Base(fields[5]) == filepath.Base(os.Args[0])
		case ours && fields[0] == "Rss:":
			n, err := strconv.Atoi(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			kib += n
		}
	}
	if kib == 0 {
		t.Fatal("no code was found")
	}
	return kib
}
