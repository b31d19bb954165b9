package term

import "time"

// Minute is a time to the minute, as wide for one that is not known.
func Minute(t time.Time) string {
	if t.IsZero() {
		return "-               "
	}
	return t.Local().Format("2006-01-02 15:04")
}

// Time is a time to the second, "-" for one that is not known.
func Time(t time.Time) string {
	if t.IsZero() {
		return "-" // of a log that cannot be read
	}
	return t.Local().Format("2006-01-02 15:04:05")
}
