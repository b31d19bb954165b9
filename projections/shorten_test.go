package projections

import (
	"fmt"
	"strings"
	"testing"
)

// TestNumberedLinesAreCutAtTheEnd: a small window sees fewer lines of a file, and is
// told which; what is no list of numbered lines keeps its head and tail.
func TestNumberedLinesAreCutAtTheEnd(t *testing.T) {
	var b strings.Builder
	for i := 1000; i <= 4000; i++ {
		fmt.Fprintf(&b, "%d\tline %d\n", i, i)
	}
	lines := b.String()
	for text, want := range map[string][2]string{
		"[lines 1000 to 4000 of 9000; Windows-1252]\n" + lines: {"[lines 1000 to 1124 of 9000; cut here to fit: read on with start_line 1125]\n1000\tline 1000\n", "\n1124\tline 1124"},
		lines:                    {"[lines 1000 to 1127; cut here to fit: read on with start_line 1128]\n1000\tline 1000\n", "\n1127\tline 1127"},
		"exit code: 0\n" + lines: {"exit code: 0\n1000\t", "line 4000\n"},
		"[lines 1 to 1 of 1]\n1\t" + strings.Repeat("x", 3000): {"[lines 1 to 1 of 1]\n1\txx", "xx"},
	} {
		got := shortenResult(text, 2000)
		if !strings.HasPrefix(got, want[0]) || !strings.HasSuffix(got, want[1]) || len(got) > 2060 {
			t.Errorf("%d bytes: %.90q … %q", len(got), got, got[len(got)-30:])
		}
	}
	if got := shortenResult("1\tshort", 2000); got != "1\tshort" {
		t.Error(got)
	}
}
