package event

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"agent/eventlog"
	"agent/internal/fsx"
)

// logs holds whole logs. A release renames unreleased.jsonl to its version;
// from then on the file is never changed.
const logs = "testdata/golden/logs"

// Logs of every release are read to the end, every line means something, and
// what is of a current version would be written the same way today.
func TestGoldenLogs(t *testing.T) {
	if *update {
		writeGoldenLog(t)
	}
	files, err := filepath.Glob(filepath.Join(logs, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal("no golden logs", err)
	}
	for _, file := range files {
		seen := readGoldenLog(t, file)
		if filepath.Base(file) == "unreleased.jsonl" && len(seen) != len(registry) {
			t.Errorf("%s holds %d types of %d: run with -update", file, len(seen), len(registry))
		}
	}
}

func readGoldenLog(t *testing.T, file string) map[string]bool {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	seen := map[string]bool{}
	for rec, err := range eventlog.Read(f) {
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		e, err := Decode(rec)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if _, unknown := e.Body.(*Unknown); unknown {
			t.Errorf("%s: %s is gone", file, rec.Type)
		}
		seen[e.Body.Type()] = true
		draft, err := Draft(e)
		if err != nil || draft.V == rec.V && string(draft.Data) != string(rec.Data) {
			t.Errorf("%s: %s would be written as\n%s\nwas\n%s (%v)", file, rec.Type, draft.Data, rec.Data, err)
		}
	}
	return seen
}

func writeGoldenLog(t *testing.T) {
	t.Helper()
	m := fsx.NewMem()
	log, err := eventlog.Create(m, ".")
	if err != nil {
		t.Fatal(err)
	}
	kinds := append([]string{"context.created"}, Types()...) // a log begins with its creation
	for i, kind := range kinds {
		if i > 0 && kind == kinds[0] {
			continue
		}
		draft, err := Draft(Event{Time: sampleTime, Redacted: i%5 == 4, Body: sample(kind)})
		if err == nil {
			_, err = log.Append(draft)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	data, err := fsx.ReadFile(m, eventlog.FileName, 1<<20)
	err = errors.Join(err, os.MkdirAll(logs, 0o755), os.WriteFile(filepath.Join(logs, "unreleased.jsonl"), data, 0o644))
	if err != nil {
		t.Fatal(err)
	}
}
