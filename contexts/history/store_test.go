package history

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"agent/contexts"
	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/fsx"
	"agent/projections"
)

const taskKey = "github.com/acme/widgets/issues/1"

var now = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

var everything = Rules{Plans: true, Verifications: true, Reflections: true, Patterns: true, MaxPlans: 3}

// disk is a store with contexts that tests fill, each a day younger than the one before.
type disk struct {
	*contexts.Store
	t   *testing.T
	dir string
	n   int
}

func newDisk(t *testing.T) *disk {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "contexts")
	must(t, os.Mkdir(dir, 0o700))
	fsys, err := fsx.OpenOS(dir)
	must(t, err)
	store, err := contexts.Open(fsys, contexts.Options{Dir: dir, Now: func() time.Time { return now }})
	must(t, err)
	return &disk{Store: store, t: t, dir: dir}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// add makes a context of a task with these events.
func (d *disk) add(task string, bodies ...event.Body) string {
	d.t.Helper()
	d.n++
	uuid := fmt.Sprintf("0b1c2d3e-0000-4000-8000-%012d", d.n)
	at := now.AddDate(0, 0, d.n-50)
	c, err := d.Create(&event.ContextCreated{Format: event.Format, UUID: uuid, TaskKey: task, Forge: "github.com", Kind: "issue", User: "alice", Title: "Greet"}, at)
	must(d.t, err)
	for _, b := range bodies {
		at = at.Add(time.Second)
		_, err := c.Append(event.Event{Time: at, Body: b})
		must(d.t, err)
	}
	must(d.t, c.Relocate())
	must(d.t, c.Close())
	return uuid
}

func (d *disk) path(uuid string, elem ...string) string {
	return filepath.Join(append([]string{d.dir, "completed", uuid}, elem...)...)
}

// change writes the log of a context anew.
func (d *disk) change(uuid string, how func([]byte) []byte) {
	d.t.Helper()
	name := d.path(uuid, eventlog.FileName)
	log, err := os.ReadFile(name)
	must(d.t, err)
	must(d.t, os.WriteFile(name, how(log), 0o600))
}

func summary(text string) event.Body {
	return &event.SummaryAdded{Purpose: event.FinalSummary, Text: event.T(text)}
}

var completed = &event.ContextCompleted{Reason: "done"}

// state is that of a new attempt at the task, with these events.
func (d *disk) state(bodies ...event.Body) *projections.State {
	s := projections.NewState()
	s.Apply(event.Event{Seq: 1, Time: now, Body: &event.ContextCreated{UUID: "0b1c2d3e-0000-4000-8000-ffffffffffff", TaskKey: taskKey, Forge: "github.com"}})
	s.Apply(event.Event{Seq: 2, Time: now, Body: &event.ConfigPinned{Inherit: event.Inherit{Enabled: true, ExpiryDays: 90, MaxTokens: 8000}}})
	for i, b := range bodies {
		s.Apply(event.Event{Seq: uint64(i + 3), Time: now, Body: b})
	}
	return s
}
