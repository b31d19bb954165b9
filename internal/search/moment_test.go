package search

import (
	"testing"
	"time"
)

func TestParseMoment(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	for s, want := range map[string]time.Time{
		"": {}, "2d": now.AddDate(0, 0, -2), "90m": now.Add(-90 * time.Minute),
		"2026-11-26T13:00:00+01:00": now.AddDate(0, 0, -1), "2026-11-01": time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
	} {
		if got, err := ParseMoment(s, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"-1d", "d", "soon", "-3h", "2026-13-01", "99999999999d", "9999999999h"} {
		if got, err := ParseMoment(s, now); err == nil {
			t.Errorf("%q: %v", s, got)
		}
	}
}
