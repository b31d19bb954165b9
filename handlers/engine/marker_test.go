package engine

import (
	"strings"
	"testing"

	"agent/forge"
)

// TestMarkerIsBoundToKeyTaskAndOp: a marker that somebody made or copied is
// known as a marker, so that its comment is never input of ours, but is not
// genuine, so that its comment is never adopted.
func TestMarkerIsBoundToKeyTaskAndOp(t *testing.T) {
	const op, other = "0192f0c1-7a7e-7000-8000-000000000001:17", "0192f0c1-7a7e-7000-8000-000000000001:18"
	key := []byte("0123456789abcdef0123456789abcdef")
	task := forge.TaskKey{Host: "github.com", Project: "o/r", Kind: forge.GitHubIssue, Number: 12}
	next := task
	next.Number++
	good := marked("body", key, task, op)
	if got, valid := markerOf(good, key, task); got != op || !valid {
		t.Fatalf("%q, %v", got, valid)
	}
	forged := strings.Replace(good, mac(key, task, op), strings.Repeat("0", 32), 1)
	for name, c := range map[string]struct {
		body string
		key  []byte
		task forge.TaskKey
	}{
		"right op, wrong MAC":      {forged, key, task},
		"MAC of another op":        {strings.Replace(good, op, other, 1), key, task},
		"copied to another task":   {good, key, next},
		"made with another key":    {good, []byte("another key"), task},
		"good before a forged one": {good + "\n" + forged, key, task},
	} {
		got, valid := markerOf(c.body, c.key, c.task)
		if valid {
			t.Errorf("%s: taken as genuine", name)
		}
		if got == "" || !Marked(c.body) {
			t.Errorf("%s: not seen as a marker: %q", name, c.body)
		}
	}
}
