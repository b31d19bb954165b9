package term

import (
	"strings"
	"testing"
)

func TestTableColumns(t *testing.T) {
	t.Parallel()
	var tb Table
	tb.Row("リポジトリ", "トークン", "")
	tb.Row("a", "7", Bar(1, 2, 4))
	tb.Row("b\x1b[2J", "100", Bar(2, 2, 4))
	var out strings.Builder
	tb.Print(Screen{Writer: &out})
	want := "リポジトリ  トークン\n" + "a                  7  ██\n"
	if !strings.HasPrefix(out.String(), want) || strings.Contains(out.String(), "\x1b") {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	for _, c := range []struct {
		value, largest float64
		want           string
	}{{0, 5, ""}, {5, 0, ""}, {1, 1000, "▏"}, {5, 5, "████"}, {3, 8, "█▌"}} {
		if got := Bar(c.value, c.largest, 4); got != c.want {
			t.Errorf("%v of %v: %q, want %q", c.value, c.largest, got, c.want)
		}
	}
}

// A table fits the terminal: first flexible columns are cut, then rows become
// paragraphs. A pipe gets all of it.
func TestTableFits(t *testing.T) {
	t.Parallel()
	title := strings.Repeat("長い題名 ", 20)
	long := func() *Table {
		tb := &Table{Left: true, Flex: []int{1, 2}}
		tb.Row("ID", "TASK", "TITLE")
		tb.Row("3f2a1b2c", "github.com/acme/widgets/issues/12", title)
		tb.Under("https://github.com/acme/widgets/pull/13")
		return tb
	}
	for _, width := range []int{20, 30, 40, 80, 120, 200} {
		var out strings.Builder
		long().Print(Screen{Writer: &out, Width: width, Terminal: true})
		for line := range strings.Lines(out.String()) {
			link := strings.Contains(line, "https://") // is never cut
			if n := Columns(strings.TrimSuffix(line, "\n")); n > width && !link && width >= 40 {
				t.Errorf("%d of %d columns: %q", n, width, line)
			}
		}
	}
	var pipe strings.Builder
	long().Print(Screen{Writer: &pipe, Width: 80})
	if !strings.Contains(pipe.String(), strings.TrimSpace(title)) {
		t.Errorf("a pipe gets less: %q", pipe.String())
	}
	var moved strings.Builder
	two := &Table{Left: true, Flex: []int{1}}
	two.Row("KEY", "VALUE", "SOURCE")
	two.Row("a", strings.Repeat("x", 350), "line 1")
	two.Row("b", "1", "default")
	two.Print(Screen{Writer: &moved, Width: 80})
	if lines := strings.Split(moved.String(), "\n"); len(lines[1]) < 350 || lines[2] != "b    1"+strings.Repeat(" ", 61)+"default" {
		t.Errorf("a long value pads the others: %q", lines[2])
	}
	wide := &Table{}
	wide.Row("repository", "runs", "completed", "tokens")
	wide.Row("acme/widgets", "3", "2", "12345")
	var narrow strings.Builder
	wide.Print(Screen{Writer: &narrow, Width: 30, Terminal: true})
	if want := "acme/widgets\n  runs 3 · completed 2\n  tokens 12345\n"; narrow.String() != want {
		t.Errorf("got\n%swant\n%s", narrow.String(), want)
	}
}
