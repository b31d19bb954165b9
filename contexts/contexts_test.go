package contexts

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/internal/fsx"
)

const (
	idA = "0a1b2c3d-0000-4000-8000-000000000001"
	idB = "0a1b2c3d-0000-4000-8000-000000000002"
	idC = "ffff0000-0000-4000-8000-000000000003"
	key = "forge.example/o/r/issues/12"
)

var at = time.Date(2026, 11, 27, 20, 41, 48, 123456000, time.UTC)

func created(id string) *event.ContextCreated {
	return &event.ContextCreated{Format: event.Format, UUID: id, TaskKey: key, Kind: "issue", User: "u", Title: "t", Trigger: "label"}
}

// realStore is a store in a directory of the real file system.
func realStore(t *testing.T, o Options) (*Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "contexts")
	s, err := openReal(dir, asWorker(t, o))
	if err == nil {
		s.wait = 0 // [TestUnknownNames] waits
	}
	if err != nil {
		t.Fatal(err)
	}
	return s, dir
}

func openReal(dir string, o Options) (*Store, error) {
	fsys, err := fsx.OpenOS(dir)
	if err != nil {
		return nil, err
	}
	o.Dir = dir
	return Open(fsys, o)
}

// made is a context with its creation and further events, closed again.
func made(t *testing.T, s *Store, id string, bodies ...event.Body) {
	t.Helper()
	c, err := s.Create(created(id), at)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bodies {
		add(t, c, b)
	}
	if err := errors.Join(c.Relocate(), c.Close()); err != nil {
		t.Fatal(err)
	}
}

func add(t *testing.T, c *Context, b event.Body) event.Event {
	t.Helper()
	e, err := c.Append(event.Event{Time: at, Body: b})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func acquire(t *testing.T, s *Store, id string) (*Context, []event.Event) {
	t.Helper()
	var events []event.Event
	c, err := s.Acquire(id, func(e event.Event) error { events = append(events, e); return nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, events
}

// wantExit checks the exit code that an error maps to.
func wantExit(t *testing.T, err error, code int) {
	t.Helper()
	if got := ExitCode(err); err == nil || got != code {
		t.Fatalf("exit code %d, want %d: %v", got, code, err)
	}
}

func exists(t *testing.T, name string) bool {
	t.Helper()
	_, err := os.Lstat(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
