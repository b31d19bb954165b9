//go:build !linux

package cluster

import "time"

var began = time.Now()

// steady is a clock that nobody sets. While the machine sleeps it may stand still.
func steady() time.Duration { return time.Since(began) }
