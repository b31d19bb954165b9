package main

import (
	"strings"
	"testing"
	"time"
)

func TestSpans(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	for s, want := range map[string]time.Time{
		"": {}, "2d": now.AddDate(0, 0, -2), "90m": now.Add(-90 * time.Minute), "2026-11-01": time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
	} {
		if got, err := sinceTime(s, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"-1d", "d", "soon", "-3h", "2026-13-01", "99999999999d"} {
		if got, err := sinceTime(s, now); err == nil {
			t.Errorf("%q: %v", s, got)
		}
	}
	for d, want := range map[time.Duration]string{-time.Hour: "0s", 59 * time.Second: "59s", 61 * time.Second: "1m", 47 * time.Hour: "47h", 49 * time.Hour: "2d"} {
		if got := age(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

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
