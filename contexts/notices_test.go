package contexts

import (
	"os"
	"path/filepath"
	"testing"
)

// TestNotices: an event is claimed once for a receiver, whoever asks and however often a run begins; a run removes only
// its own note; nobody claims anything from a note that cannot be read.
func TestNotices(t *testing.T) {
	const id, other = "11110000-0000-4000-8000-000000000001", "11110000-0000-4000-8000-000000000002"
	dir := filepath.Join(t.TempDir(), "contexts")
	s, err := openReal(dir, Options{})
	must(t, err)
	claim := func(receiver string, seq uint64, want bool) {
		t.Helper()
		if ok, err := s.ClaimNotice(id, receiver, seq); ok != want || err != nil {
			t.Errorf("%s, seq %d: %v %v", receiver, seq, ok, err)
		}
	}
	claim("a", 1, false) // nobody follows it
	n, err := s.OpenNotices(id, "run 1", []string{"a"}, 4)
	if must(t, err); n.Told["a"] != 4 {
		t.Errorf("%+v", n)
	}
	claim("a", 4, false)
	claim("a", 7, true)
	claim("a", 7, false)
	claim("a", 6, false) // the process that claimed the later one has passed it over
	n, err = s.OpenNotices(id, "run 2", []string{"a", "b"}, 9)
	if must(t, err); n.Told["a"] != 7 || n.Told["b"] != 9 {
		t.Errorf("%+v", n)
	}
	claim("b", 9, false)
	claim("b", 10, true)
	must(t, s.CloseNotices(id, "run 1"))
	claim("a", 8, true)
	must(t, s.CloseNotices(id, "run 2"))
	claim("a", 9, false) // whoever closed it has told it
	_, err = s.OpenNotices(other, "run", []string{"a"}, 0)
	must(t, err, os.WriteFile(filepath.Join(dir, noticesFile(other)), []byte("{"), 0o600))
	if ok, err := s.ClaimNotice(other, "a", 1); ok || err == nil {
		t.Errorf("damaged: %v %v", ok, err)
	}
	all, err := s.Notified()
	if must(t, err, s.DropNotices(other)); len(all) != 1 || all[other].IsZero() {
		t.Errorf("%v", all)
	}
}
