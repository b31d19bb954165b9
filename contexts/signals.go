package contexts

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"agent/internal/fsx"
)

// Signal is a wish of a command to the process that holds a context.
type Signal string

// The signals.
const (
	Pause  Signal = "pause"
	Resume Signal = "resume"
	Stop   Signal = "stop"
)

var signals = []Signal{Pause, Resume, Stop}

// maxSignal is the largest payload of a signal in bytes.
const maxSignal = 64 << 10

func (g Signal) file(uuid string) string { return fmt.Sprintf("%s/%s.%s", controlDir, uuid, string(g)) }

var opposite = map[Signal]Signal{Pause: Resume, Resume: Pause}

// Send leaves a signal for a context, durably. One that is pending already gets
// the new payload, and its opposite, if nobody has taken that yet, is withdrawn: the last word
// counts. Whether the context is in a state for it is not looked at.
func (s *Store) Send(uuid string, g Signal, payload []byte) error {
	if _, err := s.locate(uuid); err != nil {
		return err
	}
	if len(payload) > maxSignal {
		return fmt.Errorf("%s %s: %w", g, uuid, fsx.ErrTooLarge)
	}
	if other, ok := opposite[g]; ok {
		s.seen.Delete(other.file(uuid)) // whatever its payload is by now
		if err := s.Clear(uuid, other); err != nil {
			return fmt.Errorf("withdraw %s %s: %w", other, uuid, err)
		}
	}
	if err := s.put(g.file(uuid), payload, s.fs.Rename); err != nil {
		return fmt.Errorf("%s %s: %w", g, uuid, err)
	}
	return s.shareSignal(uuid, g, payload)
}

// Pending returns the payloads of the signals that wait for a context.
func (s *Store) Pending(uuid string) (map[Signal][]byte, error) {
	if err := checkUUID(uuid); err != nil {
		return nil, err
	}
	pending := map[Signal][]byte{}
	var problems error
	for _, g := range signals {
		payload, err := fsx.ReadFile(s.fs, g.file(uuid), maxSignal)
		switch {
		case isMissing(err):
			s.seen.Delete(g.file(uuid)) // another process has cleared it
		case err != nil:
			problems = errors.Join(problems, err)
		default:
			pending[g] = payload
			s.seen.Store(g.file(uuid), payload)
		}
	}
	return pending, problems
}

// Clear removes a signal. It is called when the signal's event is durable; to
// clear one that is not there is no error. A signal that was sent again with
// another payload since [Store.Pending] returned it stays.
func (s *Store) Clear(uuid string, g Signal) error {
	if err := checkUUID(uuid); err != nil {
		return err
	}
	payload, again := s.sentAgain(g.file(uuid))
	if again {
		return nil
	}
	if err := s.unshareSignal(uuid, g, payload); err != nil {
		return err
	}
	err := s.fs.Remove(g.file(uuid))
	if isMissing(err) {
		_, err = s.fs.Lstat(controlDir)
		return err
	}
	if err != nil {
		return err
	}
	return s.fs.SyncDir(controlDir)
}

// ClearLate removes signals that came when their context had ended, as from a machine that did
// not know that yet. Nobody takes them any more.
func (s *Store) ClearLate() error {
	entries, err := s.fs.ReadDir(controlDir)
	if err != nil {
		return err
	}
	var problems error
	for _, e := range entries {
		uuid, name, _ := strings.Cut(e.Name(), ".")
		if !canonical(uuid) || !slices.Contains(signals, Signal(name)) {
			continue
		}
		if found, err := s.dirsWith(uuid); err == nil && slices.Equal(found, []Dir{Completed}) {
			problems = errors.Join(problems, s.Clear(uuid, Signal(name)))
		}
	}
	return problems
}

// sentAgain compares a signal with what [Store.Pending] returned, nil if it did not.
func (s *Store) sentAgain(file string) (payload []byte, again bool) {
	seen, ok := s.seen.LoadAndDelete(file)
	if !ok {
		return nil, false
	}
	payload = seen.([]byte)
	now, err := fsx.ReadFile(s.fs, file, maxSignal)
	return payload, err == nil && !bytes.Equal(now, payload)
}
