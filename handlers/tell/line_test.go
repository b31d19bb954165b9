package tell

import (
	"strings"
	"testing"

	"agent/projections"
)

// TestLineStandsInALine: words that would open a block of code stand in the middle
// of a line, where they open none and everything in them would be live.
func TestLineStandsInALine(t *testing.T) {
	s := projections.NewState()
	s.Key.Host = "github.com"
	for _, said := range []string{"~~~ @bob Closes #5", "> ~~~ @bob Closes #5", "1. ~~~ <img src=x> @bob Closes #5"} {
		got := "- ✅ " + line(s, said, noteLine)
		if !strings.Contains(got, "`@bob`") || !strings.Contains(got, "`Closes #5`") || strings.Contains(got, "<img") {
			t.Errorf("%q: %s", said, got)
		}
	}
}
