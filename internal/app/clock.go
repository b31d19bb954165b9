//go:build !clockstep

package app

import "time"

// now is the clock of tasks.
func now() time.Time { return time.Now() }
