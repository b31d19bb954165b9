package main

import (
	"strings"
	"testing"
)

func TestTableColumns(t *testing.T) {
	t.Parallel()
	var tb table
	tb.row("リポジトリ", "トークン", "")
	tb.row("a", "7", bar(1, 2, 4))
	tb.row("b\x1b[2J", "100", bar(2, 2, 4))
	var out strings.Builder
	tb.print(&out)
	want := "リポジトリ  トークン\n" + "a                  7  ██\n"
	if !strings.HasPrefix(out.String(), want) || strings.Contains(out.String(), "\x1b") {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	for _, c := range []struct {
		value, largest float64
		want           string
	}{{0, 5, ""}, {5, 0, ""}, {1, 1000, "▏"}, {5, 5, "████"}, {3, 8, "█▌"}} {
		if got := bar(c.value, c.largest, 4); got != c.want {
			t.Errorf("%v of %v: %q, want %q", c.value, c.largest, got, c.want)
		}
	}
}
