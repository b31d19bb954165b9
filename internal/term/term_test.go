package term

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"a\n b\t c", 9, "a b c"}, {"長い題名", 8, "長い題名"}, {"長い題名", 7, "長い題…"}, {"長い題名", 6, "長い…"},
		{"\x1b[2Jx", 20, `\x1b[2Jx`}, {"", 0, ""}, {"abc", 1, "…"},
	} {
		got := Line(c.text, c.most)
		if got != c.want || Columns(got) > max(c.most, 1) {
			t.Errorf("%q in %d: %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

// Where there is no terminal, there is no colour, no pager and no width of one.
func TestNoTerminal(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	s := Of(&b)
	if s.Terminal || s.Live() || s.Width != PlainWidth || s.Paint(Bad, "x") != "x" {
		t.Errorf("%+v", s)
	}
	for _, page := range []func(Screen) (Screen, func()){Screen.Page, Screen.PageLong} {
		paged, end := page(s)
		fmt.Fprint(paged, "x")
		end()
		if paged.Gone() {
			t.Error("a pipe is gone")
		}
	}
	if b.String() != "xx" {
		t.Errorf("%q", b.String())
	}
	if again := Of(s); again.Width != s.Width || again.Terminal != s.Terminal {
		t.Errorf("a screen is not the one that it was: %+v", again)
	}
}

func TestTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 27, 12, 1, 2, 0, time.Local)
	if zone := at.Format(" MST"); Time(at) != "2026-11-27 12:01:02"+zone || Minute(at) != "2026-11-27 12:01"+zone || Time(time.Time{}) != "-" || len(Minute(time.Time{})) != len(Minute(at)) {
		t.Errorf("%s, %s, %q, %q", Time(at), Minute(at), Time(time.Time{}), Minute(time.Time{}))
	}
}

// The pager gets everything, and one that is left early is noticed. A long command
// starts it when the screen is full, and it gets what was shown already, too.
func TestPager(t *testing.T) {
	for _, c := range []struct {
		pager string
		page  func(Screen) (Screen, func())
		lines int
		want  string
	}{
		{"sed s/^/p/", Screen.Page, 3, "p0\np1\np2\n"},
		{"sed s/^/p/", Screen.PageLong, 3, "0\n1\n2\n"},
		{"sed s/^/p/", Screen.PageLong, 23, strings.Join(numbers("", 21), "") + strings.Join(numbers("p", 23), "")},
		{"head -n 1", Screen.Page, 30_000, "0\n"},
		{"cat", Screen.Page, 1, "0\n"},
		{"", Screen.Page, 1, "0\n"},
		{"no-such-pager", Screen.Page, 1, "0\n"},
	} {
		t.Setenv("AGENT_PAGER", c.pager)
		var out bytes.Buffer
		s, end := c.page(Screen{Writer: &out, Terminal: true, Width: 80})
		for i := 0; i < c.lines && !s.Gone(); i++ {
			fmt.Fprintf(s, "%d\n", i)
		}
		end()
		if got := out.String(); got != c.want {
			t.Errorf("%q, %d lines: got %q, want %q", c.pager, c.lines, got, c.want)
		}
		if s.Gone() != strings.HasPrefix(c.pager, "head") {
			t.Errorf("%q: gone: %v", c.pager, s.Gone())
		}
	}
}

func numbers(before string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("%s%d\n", before, i))
	}
	return all
}

func TestPaint(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		colors bool
		color  Color
		text   string
		want   string
	}{{true, Bad, "x", "\x1b[31mx\x1b[0m"}, {false, Bad, "x", "x"}, {true, "", "x", "x"}, {true, Bad, "", ""}} {
		if got := (Screen{Colors: c.colors}).Paint(c.color, c.text); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
