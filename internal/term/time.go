package term

import (
	"fmt"
	"time"
)

// Times are in the zone of this machine, and say which one that is.
const (
	toMinute = "2006-01-02 15:04 MST"
	toSecond = "2006-01-02 15:04:05 MST"
)

// Minute is a time to the minute, as wide for one that is not known.
func Minute(t time.Time) string {
	if t.IsZero() {
		return fmt.Sprintf("%-*s", len(toMinute), "-")
	}
	return t.Local().Format(toMinute)
}

// Time is a time to the second, "-" for one that is not known.
func Time(t time.Time) string {
	if t.IsZero() {
		return "-" // of a log that cannot be read
	}
	return t.Local().Format(toSecond)
}
