package contexts

import (
	"errors"
	"testing"
)

func TestEmpty(t *testing.T) {
	t.Parallel()
	s, err := Empty(Options{Warn: func(err error) { t.Errorf("warning: %v", err) }})
	if err != nil {
		t.Fatal(err)
	}
	for entry, err := range s.List() {
		t.Errorf("lists %v, %v", entry, err)
	}
	for entry, err := range s.Unfinished() {
		t.Errorf("has unfinished %v, %v", entry, err)
	}
	for info, err := range s.Infos(Query{}) {
		t.Errorf("knows %v, %v", info, err)
	}
	if key, uuids, err := s.Named("github.com/acme/widgets/issues/1"); key != "github.com/acme/widgets/issues/1" || len(uuids) > 0 || err != nil {
		t.Errorf("names %s %v, %v", key, uuids, err)
	}
	for _, ref := range []string{"3f2a", "9b2c6f9e-8d7c-4a55-9a70-0a4d3a3a1f00", "github.com/acme/widgets/issues/1"} {
		if uuid, err := s.Newest(ref); !errors.Is(err, ErrUnknown) {
			t.Errorf("newest of %s: %q, %v", ref, uuid, err)
		}
		if uuid, err := s.Live(ref); !errors.Is(err, ErrUnknown) {
			t.Errorf("live of %s: %q, %v", ref, uuid, err)
		}
	}
	var wrong *RefError
	if _, err := s.Newest("https://example.com/what"); !errors.As(err, &wrong) || ExitCode(err) != ExitUsage {
		t.Errorf("an address of no item: %v", err)
	}
	scan, err := s.Scan()
	if err != nil || len(scan.Items) > 0 {
		t.Errorf("scan %+v, %v", scan, err)
	}
	if tokens, usd, err := s.Spent("2026-11-28"); tokens != 0 || usd != 0 || err != nil {
		t.Errorf("spent %d, %v, %v", tokens, usd, err)
	}
	if err := s.Send("9b2c6f9e-8d7c-4a55-9a70-0a4d3a3a1f00", Pause, nil); !errors.Is(err, ErrReadOnly) && !errors.Is(err, ErrUnknown) {
		t.Errorf("a signal: %v", err)
	}
}
