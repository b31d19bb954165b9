package engine_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"agent/contexts"
	"agent/handlers/engine"
	"agent/internal/fsx"
)

// A log that is damaged far behind its beginning: the projection files are made while it
// is read, but nothing of them may be seen, and nothing half made stays.
func TestDamagedLogLeavesTheFiles(t *testing.T) {
	w := newWorld(t, correction)
	defer w.close()
	l := w.born()
	l.last = 12
	if err := l.run(); !l.dead() {
		t.Fatal("the process was not killed", err)
	}
	w.disk = w.disk.Kill()
	entries, err := w.disk.ReadDir("running")
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	uuid := entries[0].Name()
	log := "running/" + uuid + "/events.jsonl"
	data, err := fsx.ReadFile(w.disk, log, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	last := bytes.LastIndexByte(data[:len(data)-1], '\n') + 2
	data[last] ^= 1
	if err := fsx.WriteFile(w.disk, log, data); err != nil {
		t.Fatal(err)
	}
	before := contents(t, w.disk, "running/"+uuid)
	store, err := contexts.Open(w.disk, contexts.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Open(engine.Ports{Store: store, Log: slog.New(slog.DiscardHandler), Now: time.Now}, uuid); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Fatal("it was opened", err)
	}
	if after := contents(t, w.disk, "running/"+uuid); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
}

// contents are the files of a directory with what is in them.
func contents(t *testing.T, disk *fsx.Mem, dir string) (all string) {
	t.Helper()
	entries, err := disk.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		data, err := fsx.ReadFile(disk, dir+"/"+e.Name(), 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		all += e.Name() + "\n" + string(data)
	}
	return all
}
