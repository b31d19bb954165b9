package engine

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"

	"agent/contexts"
	"agent/eventlog"
	"agent/eventlog/event"
	"agent/projections"
)

// Verified is what [Verify] has checked. Torn is the tail that the next run cuts off, nil if there is none.
type Verified struct {
	Events int
	Blobs  int
	Torn   *eventlog.TornError
}

// Verify checks every byte of a context's log, its hash chain, its end against the
// index, every blob that was not forgotten, that its directory fits its state, and
// that nobody else may read or change its files.
// Errors are those of package contexts.
func Verify(store *contexts.Store, uuid string) (v Verified, err error) {
	forgotten, err := forgottenBlobs(store, uuid)
	if err != nil {
		return v, err
	}
	dir, err := store.DirOf(uuid)
	if err != nil {
		return v, err
	}
	state := projections.NewState()
	for ev, err := range store.Events(uuid) {
		if errors.As(err, &v.Torn) {
			break
		}
		if err != nil {
			return v, err
		}
		v.Events++
		state.Apply(ev)
		for _, hash := range event.Blobs(ev.Body) {
			if forgotten[hash] {
				continue
			}
			if _, err := store.Blob(uuid, hash); err != nil {
				return v, fmt.Errorf("seq %d: %w", ev.Seq, err)
			}
			v.Blobs++
		}
	}
	if err := contexts.CheckDir(uuid, dir, state.Created, state.Status.Ended()); err != nil {
		return v, err
	}
	return v, store.CheckFiles(uuid)
}

// forgottenBlobs are those that were removed because a person asked for it.
func forgottenBlobs(store *contexts.Store, uuid string) (map[string]bool, error) {
	forgotten := map[string]bool{}
	for rec, err := range store.Records(uuid) {
		if err != nil || string(rec.Type) != "blob.forgotten" {
			continue // what is wrong is said when the events are read
		}
		ev, err := event.Decode(rec)
		if err != nil {
			return nil, err
		}
		if b, ok := ev.Body.(*event.BlobForgotten); ok {
			forgotten[b.Blob] = true
		}
	}
	return forgotten, nil
}

// HeadError means that a log does not have the event that a comment names.
type HeadError struct{ text string }

func (e *HeadError) Error() string { return e.text }

// VerifyHead checks that the line of event seq has a SHA-256. Errors are
// *[HeadError] and those of package contexts.
func VerifyHead(store *contexts.Store, uuid string, seq uint64, want []byte) error {
	last := uint64(0)
	for rec, err := range store.Records(uuid) {
		if err != nil {
			return err
		}
		if last = rec.Seq; last != seq {
			continue
		}
		if sum := sha256.Sum256(rec.Line); !bytes.Equal(sum[:], want) {
			return &HeadError{fmt.Sprintf("event %d is not the one that was named: it has another SHA-256", seq)}
		}
		return nil
	}
	return &HeadError{fmt.Sprintf("event %d was named, but the log ends at event %d", seq, last)}
}

// ReplayContext replays the log of a context and names the projection files that
// differ from it. A torn tail is no error.
func ReplayContext(store *contexts.Store, uuid string) (report Report, files []string, err error) {
	report, err = Replay(store.Events(uuid))
	var torn *eventlog.TornError
	if err != nil && !errors.As(err, &torn) {
		return report, nil, err
	}
	for _, name := range projections.FileNames(uuid) {
		stored, err := store.ReadFile(uuid, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return report, nil, err
		}
		if !bytes.Equal(stored, report.Files[name]) {
			files = append(files, name)
		}
	}
	return report, files, nil
}
