package report

import (
	"testing"
	"time"
)

func TestAge(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{-time.Hour: "0s", 59 * time.Second: "59s", 61 * time.Second: "1m", 47 * time.Hour: "47h", 49 * time.Hour: "2d"} {
		if got := Age(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
