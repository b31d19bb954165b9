package watch

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{-time.Hour: "0.0s", 940 * time.Millisecond: "0.9s", 5675 * time.Millisecond: "5.7s", 9940 * time.Millisecond: "9.9s",
		9960 * time.Millisecond: "10s", 12600 * time.Millisecond: "13s", 59600 * time.Millisecond: "1m00s", 62 * time.Second: "1m02s", time.Hour - time.Millisecond: "1h00m",
		3*time.Hour + 4*time.Minute + 31*time.Second: "3h05m"} {
		if got := Duration(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
