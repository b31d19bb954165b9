// Package startup makes processes start faster and then smaller. Nearly all of what a short command costs is the
// initialization of packages.
package startup

import (
	"os"
	"runtime/debug"
	"sync"
	"time"
)

const (
	percent = 300 // the first collection begins at 12 MiB of heap; at the usual 100 it is 4 MiB
	usual   = 100
	most    = 250 * time.Millisecond
)

// Collect lets garbage be collected as usual. It is for when a lot of memory is about to be used; soon after the
// start it comes by itself.
var Collect = func() {}

// init puts off the collection of garbage: what packages initialize lives on, and to look through it takes a sixth of
// the time of a short command. It takes effect before most packages are initialized, see package supervise. GOGC is
// the operator's.
func init() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(percent)
	Collect = sync.OnceFunc(func() { debug.SetGCPercent(usual) })
	time.AfterFunc(most, Collect)
}
