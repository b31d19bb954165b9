package main

import (
	"strings"
	"testing"

	"agent/internal/term"
)

func TestTableColumns(t *testing.T) {
	t.Parallel()
	var tb table
	tb.row("リポジトリ", "トークン", "")
	tb.row("a", "7", bar(1, 2, 4))
	tb.row("b\x1b[2J", "100", bar(2, 2, 4))
	var out strings.Builder
	tb.print(term.Screen{Writer: &out})
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

// A table fits the terminal: first flexible columns are cut, then rows become
// paragraphs. A pipe gets all of it.
func TestTableFits(t *testing.T) {
	t.Parallel()
	title := strings.Repeat("長い題名 ", 20)
	long := func() *table {
		tb := &table{left: true, flex: []int{1, 2}}
		tb.row("ID", "TASK", "TITLE")
		tb.row("3f2a1b2c", "github.com/acme/widgets/issues/12", title)
		tb.under("https://github.com/acme/widgets/pull/13")
		return tb
	}
	for _, width := range []int{20, 30, 40, 80, 120, 200} {
		var out strings.Builder
		long().print(term.Screen{Writer: &out, Width: width, Terminal: true})
		for line := range strings.Lines(out.String()) {
			link := strings.Contains(line, "https://") // is never cut
			if n := term.Columns(strings.TrimSuffix(line, "\n")); n > width && !link && width >= 40 {
				t.Errorf("%d of %d columns: %q", n, width, line)
			}
		}
	}
	var pipe strings.Builder
	long().print(term.Screen{Writer: &pipe, Width: 80})
	if !strings.Contains(pipe.String(), strings.TrimSpace(title)) {
		t.Errorf("a pipe gets less: %q", pipe.String())
	}
	wide := &table{}
	wide.row("repository", "runs", "completed", "tokens")
	wide.row("acme/widgets", "3", "2", "12345")
	var narrow strings.Builder
	wide.print(term.Screen{Writer: &narrow, Width: 30, Terminal: true})
	if want := "acme/widgets\n  runs 3 · completed 2\n  tokens 12345\n"; narrow.String() != want {
		t.Errorf("got\n%swant\n%s", narrow.String(), want)
	}
}
