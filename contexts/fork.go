package contexts

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"time"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/fsx"
)

func hashOf(rec eventlog.Record) string {
	sum := sha256.Sum256(rec.Line)
	return hex.EncodeToString(sum[:])
}

// forking is a fork that is made.
type forking struct {
	from   string // the context whose log and files are copied
	first  *event.ContextForked
	events []event.Event // its own, from first on
}

// Fork makes a context of the events of another one, from, whose lines become the
// beginning of its log, byte for byte. Then come its own events, of which the first is a
// *event.ContextForked that says how many; Fork fills in its Hash. Large texts and saved
// files are copied, so that the fork does not need its origin. That may run, be paused,
// have ended or be archived; nothing of it changes. When Fork fails nothing is visible, or
// the whole fork (found at the next start).
func (s *Store) Fork(from string, own ...event.Event) error {
	first, ok := own[0].Body.(*event.ContextForked)
	if !ok {
		return fmt.Errorf("fork %s: its own events begin with %s", from, own[0].Body.Type())
	}
	if err := s.fork(forking{from, first, own}); err != nil {
		return fmt.Errorf("fork %s: %w", from, err)
	}
	return nil
}

func (s *Store) fork(f forking) error {
	first := f.first
	lock, err := s.lockContext(first.UUID)
	if err != nil {
		return err
	}
	defer lock.Close()
	found, err := s.dirsWith(first.UUID)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return fmt.Errorf("it exists in %s: %w", found[0], errTaken)
	}
	// Nobody removes the origin meanwhile. One that another process works on has not ended.
	if origin, err := s.lockContext(f.from); err == nil {
		defer origin.Close()
	} else if !errors.Is(err, ErrBusy) {
		return err
	}
	staged := stagingDir + "/" + first.UUID
	c := s.context(first.UUID, stagingDir)
	err = s.stageFork(c, staged, f)
	if err == nil {
		c.info.Size, c.info.modified, c.info.Archived, err = s.measureIn(staged)
	}
	// The index knows a context before anybody can see it.
	if err == nil {
		err = s.note(c.info, func() error { return s.move(staged, pathOf(c.want, first.UUID)) })
	}
	if err != nil && s.unmake(first.UUID) == nil {
		_ = s.fs.RemoveAll(staged) // best effort, else the next sweep does it
	}
	return err
}

// stageFork builds the directory of a fork, all of it durable.
func (s *Store) stageFork(c *Context, dir string, f forking) error {
	// What a dead process left there is nobody's: the lock is ours.
	if err := s.fs.RemoveAll(dir); err != nil {
		return err
	}
	if origin := s.digest(f.from, eventlog.Head{}); origin.Err != nil {
		return origin.Err
	}
	if err := fsx.MkdirSync(s.fs, dir); err != nil {
		return err
	}
	blobs, err := s.copyLog(dir, f)
	if err != nil {
		return err
	}
	if err := s.copyBlobs(f.from, dir, blobs); err != nil {
		return err
	}
	if err := s.copyObjects(f.from, dir); err != nil {
		return err
	}
	c.info = Info{UUID: c.uuid}
	log, torn, err := eventlog.Open(s.fs, dir, quarantineDir+"/"+c.uuid, func(r eventlog.Record) error { return c.see(r, nil) })
	if err != nil {
		return err
	}
	defer log.Close()
	if torn != nil || log.Head().Seq != f.first.Seq {
		return fmt.Errorf("%d events could be copied, not %d", log.Head().Seq, f.first.Seq)
	}
	for _, e := range f.events {
		e.Time = e.Time.UTC().Truncate(time.Microsecond)
		if err := c.stage(log, e); err != nil {
			return err
		}
	}
	return c.descent.end(dir, c.uuid)
}

// stage appends an event to a log that nobody sees yet.
func (c *Context) stage(log *eventlog.Log, e event.Event) error {
	if err := event.Spill(e.Body, eventlog.NewBlobs(c.s.fs, c.path()).Put); err != nil {
		return err
	}
	draft, err := event.Draft(e)
	if err != nil {
		return err
	}
	rec, err := log.Append(draft)
	if err != nil {
		return err
	}
	return c.see(rec, nil)
}

// copyLog writes the first lines of the origin's log as they are, and notes the hash of
// the last of them. It gives the blobs that they name.
func (s *Store) copyLog(dir string, f forking) (blobs []string, err error) {
	first := f.first
	file, err := s.fs.OpenFile(path.Join(dir, eventlog.FileName), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for rec, err := range s.Records(f.from) {
		var torn *eventlog.TornError
		if errors.As(err, &torn) || err == nil && rec.Seq > first.Seq {
			continue // to the end: a log that is damaged later is not forked, either
		}
		if err != nil {
			return nil, err
		}
		e, err := decode(f.from, rec)
		if err != nil {
			return nil, err
		}
		blobs = append(blobs, event.Blobs(e.Body)...)
		if err := writeAll(file, append(slices.Clone(rec.Line), '\n')); err != nil {
			return nil, err
		}
		if rec.Seq == first.Seq {
			first.Hash = hashOf(rec)
		}
	}
	if first.Hash == "" {
		return nil, fmt.Errorf("it has no event %d", first.Seq)
	}
	return blobs, errors.Join(file.Sync(), s.fs.SyncDir(dir))
}

func writeAll(f fsx.File, data []byte) error {
	n, err := f.Write(data)
	if err == nil && n != len(data) {
		err = io.ErrShortWrite
	}
	return err
}

// copyBlobs copies large texts. One that was forgotten is not there any more.
func (s *Store) copyBlobs(origin, dir string, hashes []string) error {
	to := eventlog.NewBlobs(s.fs, dir)
	slices.Sort(hashes)
	for _, hash := range slices.Compact(hashes) {
		data, err := s.Blob(origin, hash)
		if errors.Is(err, eventlog.ErrBlobMissing) {
			continue
		}
		if err != nil {
			return err
		}
		if _, err := to.Put(data); err != nil {
			return err
		}
	}
	return nil
}

// copyObjects copies the files that were saved. Those of later events are among them,
// as a pack may hold what an earlier tree needs.
func (s *Store) copyObjects(origin, dir string) error {
	from, to := s.Objects(origin), &Objects{s: s, at: func() (string, error) { return dir, nil }}
	names, err := from.Names()
	if err != nil || len(names) == 0 {
		return err
	}
	for _, name := range names {
		if path.Ext(name) == fsx.TempSuffix {
			continue // just being made
		}
		if err := copyObject(from, to, name); err != nil {
			return err
		}
	}
	return to.Sync()
}

// maxPack is how many bytes of a pack are copied.
const maxPack = 4 << 30

func copyObject(from, to *Objects, name string) error {
	f, err := from.Open(name)
	if err != nil {
		return err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxPack))
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return to.Keep(name, data)
}
