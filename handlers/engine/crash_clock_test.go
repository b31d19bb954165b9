package engine_test

import (
	"fmt"
	"testing"
	"time"

	"agent/forge/forgetest"
)

// clocks are how far the forge's clock may be from ours.
var clocks = []time.Duration{-24 * time.Hour, -6 * time.Minute, 0, 6 * time.Minute, 24 * time.Hour}

// Whatever the forge's clock says: an answer that was lost and a process that was
// killed after a write double nothing. What we wrote is found by its marker.
func TestClocksApart(t *testing.T) {
	want := undisturbed(t, correction)
	var kills []trial
	for _, ahead := range clocks {
		lost := trial{name: fmt.Sprintf("%v, no comment is answered", ahead), most: 1, damage: func(w *world) {
			w.forge.Ahead(ahead)
			w.forge.Fault(forgetest.Fault{Method: "POST", Path: ".*/comments", Times: -1, Kind: forgetest.StoreDrop})
		}}
		if err := lost.try(t, want); err != nil { // all of them, not a sample
			t.Errorf("%s: %v", lost, err)
		}
		for n := int64(1); n <= want.contacts; n++ {
			kills = append(kills, trial{name: fmt.Sprintf("%v, killed after contact %d", ahead, n), most: 1, damage: func(w *world) {
				w.forge.Ahead(ahead)
				l := w.born()
				l.last, l.after = n, true
				_ = l.run()
				w.disk = w.disk.Kill()
			}})
		}
	}
	sweep(t, want, kills)
}
