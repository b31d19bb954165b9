// Package logtest makes stores with one context for tests of what reads logs.
package logtest

import (
	"path/filepath"
	"testing"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/fsx"
)

// The context of a store.
const (
	UUID    = "11110000-0000-4000-8000-000000000001"
	TaskKey = "github.com/acme/widgets/issues/12"
)

// Start is the time of its first event.
var Start = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// Store writes events, one a second, to a real log. An outcome gets the intent before it
// as its cause.
func Store(t testing.TB, title string, bodies ...event.Body) *contexts.Store {
	t.Helper()
	return StoreIn(t, t.TempDir(), title, bodies...)
}

// StoreIn is [Store] in a directory whose files the test changes.
func StoreIn(t testing.TB, dir, title string, bodies ...event.Body) *contexts.Store {
	t.Helper()
	fsys, err := fsx.OpenOS(filepath.Join(dir, "contexts"))
	must(t, err)
	store, err := contexts.Open(fsys, contexts.Options{})
	must(t, err)
	c, err := store.Create(&event.ContextCreated{Format: event.Format, UUID: UUID, TaskKey: TaskKey, Forge: "github.com",
		Kind: "github_issue", Title: title, User: "alice", Trigger: "label"}, Start)
	must(t, err)
	open := uint64(0)
	for i, b := range bodies {
		ev := event.Event{Time: Start.Add(time.Duration(i+1) * time.Second), Body: b}
		if event.RoleOf(b) == event.Outcome {
			ev.Cause = open
		}
		written, err := c.Append(ev)
		must(t, err)
		if event.RoleOf(b) == event.Intent {
			open = written.Seq
		}
	}
	must(t, c.Relocate())
	must(t, c.Close())
	return store
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
