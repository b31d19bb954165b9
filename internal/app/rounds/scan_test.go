package rounds

import (
	"errors"
	"testing"
	"time"

	"agent/contexts"
)

// A loop writes scan.json when something changed, and times and counts once a minute: it was
// replaced twice in each round. A process that does one round writes at its end.
func TestNoted(t *testing.T) {
	at := time.Now()
	look := func(found int, err error, reason string) contexts.Scan {
		at = at.Add(30 * time.Second)
		h := contexts.HostScan{Time: at, Success: at, Found: found}
		if err != nil {
			h = contexts.HostScan{Time: at, Error: err.Error()}
		}
		return contexts.Scan{Hosts: map[string]contexts.HostScan{"a": h}, Polls: map[string]contexts.Poll{"u": {Count: 1, Last: at}},
			Items: []contexts.Sighting{{TaskKey: "a/o/r/issues/1", Time: at, Outcome: contexts.Waiting, Reason: reason}}}
	}
	var n noted
	looks := 0
	write := func(what string, scan contexts.Scan, want bool) {
		t.Helper()
		looks++
		if got := n.put(scan, true); got != want {
			t.Errorf("%s: written %v, want %v", what, got, want)
		}
		if want {
			if kept := n.take(); kept.Polls["u"].Count != looks || !kept.Round.Equal(scan.Round) {
				t.Errorf("%s: %d looks were written, want %d", what, kept.Polls["u"].Count, looks)
			}
			looks = 0
		}
	}
	write("the first look", look(1, nil, "it waits"), true)
	write("the same", look(1, nil, "it waits"), false)
	write("the same again", look(1, nil, "it waits"), false)
	write("another number of items", look(2, nil, "it waits"), true)
	write("another reason", look(2, nil, "it is paused"), true)
	write("the forge is down", look(0, errors.New("down"), "it is paused"), true)
	write("it is still down", look(0, errors.New("down"), "it is paused"), false)
	write("a fault", contexts.Scan{Fault: &contexts.FaultSeen{Class: "git"}, Polls: look(0, nil, "").Polls}, true)
	write("it is over", contexts.Scan{Fault: &contexts.FaultSeen{}, Polls: look(0, nil, "").Polls}, true)
	write("it is still over", contexts.Scan{Fault: &contexts.FaultSeen{}, Polls: look(0, nil, "").Polls}, false)
	n.at = n.at.Add(-scanEvery)
	write("a minute later", look(0, errors.New("down"), "it is paused"), true)
	if !n.put(look(0, errors.New("down"), "it is paused"), false) {
		t.Error("a process that ends writes nothing")
	}
}
