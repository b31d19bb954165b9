package workspace_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers/engine"
	"agent/internal/fsx"
	"agent/internal/workspace"
	"agent/projections"
)

// repository is a forge that is asked for nothing but where the repository is.
type repository struct {
	forge.Client
	url string
}

func (r repository) Repository(context.Context, forge.TaskKey) (forge.Repository, error) {
	return forge.Repository{CloneURL: r.url, DefaultBranch: "main"}, nil
}

// A clone that nobody has worked in yet is made again after a crash. The first one was left
// beside it, and the next run took that for a copy that was being made again: it did so once
// more, without what had been pushed.
func TestCloneIsMadeAgainOnce(t *testing.T) {
	dir := t.TempDir()
	from := filepath.Join(dir, "origin")
	origin(t, from)
	store, err := contexts.Open(fsx.NewMem(), contexts.Options{})
	if err != nil {
		t.Fatal(err)
	}
	first := &event.ContextCreated{Format: event.Format, UUID: "0a1b2c3d-0000-4000-8000-000000000001", TaskKey: "forge.example/o/r/issues/1", Kind: "issue", User: "u", Title: "t", Trigger: "label"}
	log, err := store.Create(first, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	w := workspace.New(workspace.Config{Root: filepath.Join(dir, "workspaces"), Needed: true, Forge: repository{url: from},
		Token: func(context.Context) (string, error) { return "", nil }})
	s := projections.NewState()
	for i, body := range []event.Body{first, &event.ConfigPinned{}, &event.TaskFetched{Title: "t"}} {
		s.Apply(event.Event{Seq: uint64(i + 1), Body: body})
	}
	prepared, err := w.Prepare(t.Context(), s)
	if err != nil || prepared.Error != "" {
		t.Fatal(prepared.Error, err)
	}
	s.Apply(event.Event{Seq: 4, Body: &prepared})
	body, err := w.Open(t.Context(), s, log.Objects(), engine.Opening{Crashed: true})
	if err != nil {
		t.Fatal(err)
	}
	saved, ok := body.(*event.WorkspaceSaved)
	if !ok {
		t.Fatalf("it gives %T", body)
	}
	s.Apply(event.Event{Seq: 5, Body: saved})
	if left, err := os.ReadDir(filepath.Join(dir, "workspaces")); err != nil || len(left) != 1 {
		t.Errorf("left beside the copy: %v, %v", left, err)
	}
	if body, err := w.Open(t.Context(), s, log.Objects(), engine.Opening{}); err != nil || body != nil {
		t.Errorf("opened again it gives %+v, %v", body, err)
	}
}
