package git

import (
	"context"
	"strings"
	"testing"
)

// TestContents wants each file whole and in order, however many commands that takes.
func TestContents(t *testing.T) {
	ctx := context.Background()
	r := clone(t, remote(t))
	big := strings.Repeat("0123456789abcde\n", groupSize/20)
	want := []string{"", "x", "a\nb\n\n", big + "1", big + "2", "\x00\xff"}
	var names []string
	for _, content := range append(want, strings.Repeat("y", len(big)+2)) {
		put(t, r.Dir, "file", content)
		names = append(names, plain(t, r.Dir, "hash-object", "-w", "file"))
	}
	names = append([]string{strings.Repeat("0", 40), plain(t, r.Dir, "rev-parse", "HEAD^{tree}")}, names...)
	var got []string
	err := r.Contents(ctx, names, int64(len(big)+1), func(name, content string) {
		if name != names[len(got)+2] {
			t.Errorf("content %d is of %s", len(got), name)
		}
		got = append(got, content)
	})
	if err != nil || strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%d contents, %v", len(got), err)
	}
}
