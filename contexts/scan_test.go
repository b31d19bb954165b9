package contexts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent/internal/fsx"
)

func sighting(n int, later time.Duration, reason string) Sighting {
	return Sighting{TaskKey: fmt.Sprintf("forge.example/o/r/issues/%d", n), Time: at.Add(later), Outcome: Skipped, Reason: reason}
}

func TestScanKeepsTheLatest(t *testing.T) {
	s, dir := realStore(t, Options{})
	failed := at.Add(time.Minute)
	must(t,
		s.Note(Scan{Round: at, Hosts: map[string]HostScan{"forge.example": {Time: at, Success: at, Found: 2}},
			Items: []Sighting{sighting(1, 2, "first"), sighting(2, 3, "second")}, Polls: map[string]Poll{idA: {1, at}}}),
		s.Note(Scan{Hosts: map[string]HostScan{"forge.example": {Time: failed, Error: "no answer"}, "other.example": {Time: at, Success: at}},
			Items: []Sighting{sighting(1, 4, "later"), sighting(2, 1, "earlier")}, Polls: map[string]Poll{idA: {2, failed}, idB: {1, at}}}),
	)
	got, err := s.Scan()
	must(t, err)
	want := Scan{Format: 1, Round: at,
		Hosts: map[string]HostScan{"forge.example": {Time: failed, Success: at, Found: 2, Error: "no answer"}, "other.example": {Time: at, Success: at}},
		Items: []Sighting{sighting(1, 4, "later"), sighting(2, 3, "second")},
		Polls: map[string]Poll{idA: {3, failed}, idB: {1, at}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if seen, ok := got.Of("forge.example/o/r/issues/2"); !ok || seen.Reason != "second" {
		t.Errorf("got %+v", seen)
	}
	if _, ok := got.Of("forge.example/o/r/issues/3"); ok {
		t.Error("an item that was never seen has an outcome")
	}
	info, err := os.Stat(filepath.Join(dir, scanFile))
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestScanIsBounded(t *testing.T) {
	s, _ := realStore(t, Options{})
	n := Scan{Polls: map[string]Poll{}}
	for i := range maxItems + 7 {
		n.Items = append(n.Items, sighting(i, time.Duration(i)*time.Second, strings.Repeat("長", 600)))
		n.Polls[fmt.Sprint(i)] = Poll{1, at.Add(time.Duration(i))}
	}
	must(t, s.Note(n))
	got, err := s.Scan()
	must(t, err)
	if len(got.Items) != maxItems || got.Items[0].TaskKey != fmt.Sprintf("forge.example/o/r/issues/%d", maxItems+6) {
		t.Errorf("%d items, the newest is %s", len(got.Items), got.Items[0].TaskKey)
	}
	if r := got.Items[0].Reason; r != strings.Repeat("長", maxReason) {
		t.Errorf("a reason of %d bytes", len(r))
	}
	if _, oldest := got.Polls["6"]; oldest || len(got.Polls) != maxItems {
		t.Errorf("%d polls, the oldest kept: %v", len(got.Polls), oldest)
	}
}

func TestDamagedScanIsBegunAnew(t *testing.T) {
	for name, content := range map[string]string{
		"empty": "", "torn": `{"format":1,"hos`, "zeros": "\x00\x00\x00\x00", "other": `[]`, "newer": `{"format":2}`, "null": "null",
		"wrong type": `{"format":1,"items":{"a":1}}`, "wrong time": `{"format":1,"round":"yesterday"}`,
	} {
		t.Run(name, func(t *testing.T) {
			var warned []error
			s, dir := realStore(t, Options{Warn: func(err error) { warned = append(warned, err) }})
			must(t, os.WriteFile(filepath.Join(dir, scanFile), []byte(content), 0o600))
			got, err := s.Scan()
			must(t, err)
			if d := cmp.Diff(emptyScan(), got); d != "" || len(warned) != 1 {
				t.Errorf("warnings %v\n%s", warned, d)
			}
			must(t, s.Note(Scan{Items: []Sighting{sighting(1, 0, "r")}}))
			if got, _ := s.Scan(); len(got.Items) != 1 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestScanNullsAreEmpty(t *testing.T) {
	s, dir := realStore(t, Options{})
	must(t, os.WriteFile(filepath.Join(dir, scanFile), []byte(`{"format":1,"hosts":null,"items":null,"polls":null}`), 0o600))
	got, err := s.Scan()
	must(t, err)
	if d := cmp.Diff(emptyScan(), got); d != "" {
		t.Error(d)
	}
}

// Several processes that end at once lose nothing of each other.
func TestNotesAtOnce(t *testing.T) {
	s, dir := realStore(t, Options{})
	var all sync.WaitGroup
	for i := range 8 {
		other, err := openReal(dir, Options{})
		must(t, err)
		all.Go(func() {
			if err := other.Note(Scan{Items: []Sighting{sighting(i, 0, "r")}, Polls: map[string]Poll{idA: {1, at}}}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got, err := s.Scan()
	must(t, err)
	if len(got.Items) != 8 || got.Polls[idA].Count != 8 {
		t.Errorf("%d items, %d polls", len(got.Items), got.Polls[idA].Count)
	}
}

func TestReadOnlyStoreWritesNoNotes(t *testing.T) {
	_, dir := realStore(t, Options{})
	s, err := openReal(dir, Options{ReadOnly: true})
	must(t, err)
	if err := s.Note(Scan{}); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
	if err := s.Spend(idA, Call{3, "2026-11-27", 1, 0}); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
	if _, _, err := s.Spent("2026-11-27"); err != nil || exists(t, filepath.Join(dir, budgetDir)) {
		t.Error("reading wrote something", err)
	}
}

// The distance of scans is learned from those that went well, and one night without
// power does not change it.
func TestScanDistance(t *testing.T) {
	s, err := Open(fsx.NewMem(), Options{})
	must(t, err)
	now := at
	for n, step := range []time.Duration{0, 300, 301, 40_000, 299, 300, 300, 300, 301} {
		now = now.Add(step * time.Second)
		must(t, s.Note(Scan{Hosts: map[string]HostScan{"h": {Time: now, Success: now}}}))
		failed := now.Add(time.Second)
		must(t, s.Note(Scan{Hosts: map[string]HostScan{"h": {Time: failed, Error: "down"}}}))
		scan, err := s.Scan()
		must(t, err)
		if got := scan.Hosts["h"]; len(got.Gaps) != min(n, maxGaps) || n > 0 && (got.Distance()-300*time.Second).Abs() > time.Second {
			t.Errorf("after %d scans: %v, distance %v", n+1, got.Gaps, got.Distance())
		}
	}
}
