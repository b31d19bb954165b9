package cluster

import (
	"time"

	"golang.org/x/sys/unix"
)

// steady is a clock that nobody sets, and that goes on while the machine sleeps.
func steady() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic(err) // since Linux 2.6.39 it cannot fail
	}
	return time.Duration(t.Nano())
}
