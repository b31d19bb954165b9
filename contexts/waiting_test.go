package contexts

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/fsx"
)

// A note about a waiting context counts for the log that it was made from, and for no
// other. It goes with its context, and when that waits no longer.
func TestWaiting(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(log, note string, s *Store) error
		kept bool
	}{
		"nothing":           {func(string, string, *Store) error { return nil }, true},
		"the log is longer": {func(log, _ string, _ *Store) error { return appendTo(log, "x") }, false},
		"the log is shorter": {func(log, _ string, _ *Store) error {
			data, err := os.ReadFile(log)
			if err != nil {
				return err
			}
			return os.WriteFile(log, data[:len(data)-1], 0o600)
		}, false},
		"the log was touched": {func(log, _ string, _ *Store) error { return os.Chtimes(log, at, at) }, false},
		"another last line": {func(log, _ string, _ *Store) error {
			info, err := os.Stat(log)
			must(t, err)
			data, err := os.ReadFile(log)
			must(t, err)
			data[len(data)-2] ^= 1
			must(t, os.WriteFile(log, data, 0o600))
			return os.Chtimes(log, info.ModTime(), info.ModTime())
		}, false},
		"the note is harmed": {func(_, note string, _ *Store) error {
			data, err := os.ReadFile(note)
			must(t, err)
			data[len(data)-1] ^= 1
			return os.WriteFile(note, data, 0o600)
		}, false},
		"the note is empty":    {func(_, note string, _ *Store) error { return os.WriteFile(note, nil, 0o600) }, false},
		"no note":              {func(_, note string, _ *Store) error { return os.Remove(note) }, false},
		"swept while it waits": {func(_, _ string, s *Store) error { return s.sweepWaiting() }, true},
	} {
		dir := t.TempDir()
		must(t, os.Chmod(dir, 0o700))
		fsys, err := fsx.OpenOS(dir)
		must(t, err)
		s := aged(t, fsys)
		id := numbered(6) // paused
		m, err := s.MarkOf(id)
		must(t, err)
		if m.Head.Seq != 3 {
			t.Fatalf("the last line is %d", m.Head.Seq)
		}
		must(t, s.NoteWaiting(id, m, []byte("note")), s.CheckOwn())
		note := filepath.Join(dir, waitingFile(id))
		must(t, c.harm(filepath.Join(dir, "paused", id, eventlog.FileName), note, s))
		if got := string(s.Waiting(id)); (got == "note") != c.kept {
			t.Errorf("%s: %q", name, got)
		}
	}
	s := aged(t, fsx.NewMem())
	id := numbered(6)
	must(t, s.NoteWaiting(id, Mark{}, nil))
	c, err := s.Acquire(id, nil)
	must(t, err)
	_, err = c.Append(event.Event{Time: time.Now(), Body: &event.ContextStopped{}})
	must(t, err, c.Relocate(), c.Close(), s.sweepWaiting())
	if _, err := s.fs.Lstat(waitingFile(id)); !isMissing(err) {
		t.Errorf("a note about a context that ended: %v", err)
	}
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(text)
	return err
}
