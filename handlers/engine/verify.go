package engine

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"strings"

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
// that nobody else may read or change its files, and of a fork that its first events are
// those of its origin. Errors are those of package
// contexts, and *[StaleError] if that is all.
func Verify(store *contexts.Store, uuid string) (v Verified, err error) {
	if err := store.Provenance(uuid); err != nil {
		return v, err
	}
	forgotten, err := forgottenBlobs(store, uuid)
	if err != nil {
		return v, err
	}
	dir, err := store.DirOf(uuid)
	if err != nil {
		return v, err
	}
	state, files := projections.NewState(), fileSums{}
	for ev, err := range store.Events(uuid) {
		if errors.As(err, &v.Torn) {
			break
		}
		if err != nil {
			return v, err
		}
		v.Events++
		state.Apply(ev)
		files.apply(state, ev)
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
	if err := store.CheckFiles(uuid); err != nil {
		return v, err
	}
	if state.Status == projections.Running && !state.EndedProperly || v.Torn != nil {
		return v, nil // a process works on it, or the next one makes the files again
	}
	stale, err := files.stale(store, uuid)
	if err == nil && len(stale) > 0 && unmoved(store, uuid, dir, v.Events) {
		err = &StaleError{uuid, stale}
	}
	return v, err
}

// StaleError names projection files that are not what the log says.
type StaleError struct {
	UUID  string
	Files []string
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("not what the log says: %s (agent rebuild %s makes them again)", strings.Join(e.Files, ", "), e.UUID)
}

// fileSums folds the projection files of a log into their SHA-256.
type fileSums struct {
	files projections.Files
	sums  map[string]hash.Hash
}

func (f *fileSums) apply(s *projections.State, ev event.Event) {
	if f.sums == nil {
		f.sums = map[string]hash.Hash{}
	}
	for _, c := range f.files.Apply(s, ev) {
		if c.Replace || f.sums[c.Name] == nil {
			f.sums[c.Name] = sha256.New()
		}
		f.sums[c.Name].Write(c.Data)
	}
}

// stale names the files on the disk that differ. One that is missing is empty.
func (f *fileSums) stale(store *contexts.Store, uuid string) (names []string, err error) {
	for _, name := range projections.FileNames(uuid) {
		stored, dropped, err := storedFile(store, uuid, name)
		switch {
		case err != nil:
			return nil, err
		case dropped:
			continue
		}
		want := f.sums[name]
		if want == nil {
			want = sha256.New()
		}
		if sum := sha256.Sum256(stored); !bytes.Equal(sum[:], want.Sum(nil)) {
			names = append(names, name)
		}
	}
	return names, nil
}

// storedFile reads a projection file. One that is missing is empty, or dropped if its
// context is archived: then only the log is kept.
func storedFile(store *contexts.Store, uuid, name string) (stored []byte, dropped bool, err error) {
	stored, err = store.ReadFile(uuid, name)
	if !errors.Is(err, fs.ErrNotExist) {
		return stored, false, err
	}
	dropped, err = store.Archived(uuid)
	return nil, dropped, err
}

// unmoved tells whether nobody worked on a context since its events were counted.
func unmoved(store *contexts.Store, uuid string, dir contexts.Dir, events int) bool {
	now, err := store.DirOf(uuid)
	n := 0
	for _, readErr := range store.Records(uuid) {
		if n++; readErr != nil {
			return false
		}
	}
	return err == nil && now == dir && n == events
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
		stored, dropped, err := storedFile(store, uuid, name)
		if err != nil {
			return report, nil, err
		}
		if !dropped && !bytes.Equal(stored, report.Files[name]) {
			files = append(files, name)
		}
	}
	return report, files, nil
}
