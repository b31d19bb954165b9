package search

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseMoment reads a day in UTC (2026-11-27), a time in RFC 3339, or an age before
// now (36h, 7d). "" is the zero time.
func ParseMoment(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 100_000 { // more is before the calendar begins
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, fmt.Errorf("%q is not a day (2026-11-27), a time (RFC 3339) or an age (36h, 7d)", s)
}
