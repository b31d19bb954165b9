package projections

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"agent/eventlog"
	"agent/eventlog/event"
)

// A state depends on nothing that [event.DecodeToFold] leaves out: whoever resumes folds
// less than whoever checks.
func TestFoldsNeedNoMoreThanTheyAreGiven(t *testing.T) {
	files, err := filepath.Glob("../eventlog/event/testdata/golden/logs/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden logs", err)
	}
	long := strings.Repeat("thought ", 100)
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		whole, part := NewState(), NewState()
		for rec, err := range eventlog.Read(f) {
			if err != nil {
				t.Fatal(err)
			}
			ev, err := event.Decode(rec)
			if err != nil {
				t.Fatal(err)
			}
			if b, ok := ev.Body.(*event.LLMReplied); ok {
				b.Raw, b.Reasoning, b.Usage.Reasoning = event.T(long), event.T(long), 0
				if rec.Data, err = event.Encode(b, ev.Redacted); err != nil {
					t.Fatal(err)
				}
			}
			less, err := event.DecodeToFold(rec)
			if err != nil {
				t.Fatal(err)
			}
			whole.Apply(ev)
			part.Apply(less)
			if !reflect.DeepEqual(whole, part) {
				t.Fatalf("%s: seq %d: the states differ", file, ev.Seq)
			}
		}
	}
}
