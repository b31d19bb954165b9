package contexts

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"sync"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/fsx"
)

// Records yields the lines of a log as they are, and at the end at most one
// error, as [eventlog.Read] does. It is the one reader of whole logs: a log that
// is empty, that lacks events which the index saw, or that cannot be that of its
// directory ends with a [DamageError].
func (s *Store) Records(uuid string) iter.Seq2[eventlog.Record, error] {
	return s.recordsWith(uuid, eventlog.Head{})
}

// recordsWith is Records for who has looked up the head that the index knows.
func (s *Store) recordsWith(uuid string, known eventlog.Head) iter.Seq2[eventlog.Record, error] {
	return func(yield func(eventlog.Record, error) bool) {
		for rec, err := range s.records(uuid, known) {
			if err != nil {
				err = fmt.Errorf("context %s: %w", uuid, err)
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// Check reads a whole log and returns what is wrong with it. A torn tail is not:
// it is an event that is just being written, or one that never was acknowledged.
func (s *Store) Check(uuid string) error {
	for _, err := range s.Records(uuid) {
		var torn *eventlog.TornError
		if err != nil && !errors.As(err, &torn) {
			return err
		}
	}
	return nil
}

// records reads a log without a lock. The directory may move between looking
// and opening; once the file is open that does not matter.
func (s *Store) records(uuid string, known eventlog.Head) iter.Seq2[eventlog.Record, error] {
	return func(yield func(eventlog.Record, error) bool) {
		for try := 0; ; try++ {
			at, err := s.locate(uuid)
			if err != nil {
				yield(eventlog.Record{}, err)
				return
			}
			c := check{s: s, at: at, info: Info{UUID: uuid, watch: known}}
			if c.read(try < 3, yield) {
				return
			}
		}
	}
}

// check follows a log that is read, for what its lines alone do not tell.
type check struct {
	s     *Store
	at    Dir
	info  Info // UUID and heads
	ended bool
}

// read reports false if the log was not there and another try is wanted.
func (c *check) read(again bool, yield func(eventlog.Record, error) bool) bool {
	dir := pathOf(c.at, c.info.UUID)
	for rec, err := range eventlog.ReadFile(c.s.fs, dir) {
		if isMissing(err) {
			if again {
				return false
			}
			err = &DamageError{Name: dir, Reason: "it has no log"}
		}
		if err == nil {
			c.see(rec)
		}
		var torn *eventlog.TornError
		if errors.As(err, &torn) {
			err = cmp.Or(c.end(), err)
		}
		if !yield(rec, err) || err != nil {
			return true
		}
	}
	if err := c.end(); err != nil {
		yield(eventlog.Record{}, err)
	}
	return true
}

func (c *check) see(rec eventlog.Record) {
	if rec.Seq == 1 && c.info.watch == (eventlog.Head{}) {
		c.info.watch = c.s.knownHead(rec, c.info.UUID)
	}
	c.info.saw(eventlog.HeadOf(rec))
	switch string(rec.Type) {
	case "context.completed", "context.stopped", "context.failed":
		c.ended = true
	}
}

// end is what is wrong with a log that could be read to its end.
func (c *check) end() error {
	if c.info.Head.Seq == 0 {
		return &DamageError{Name: pathOf(c.at, c.info.UUID), Reason: "its log holds no event"}
	}
	if err := c.info.held(); err != nil {
		return err
	}
	if c.at == Completed && !c.ended {
		return &DamageError{Name: pathOf(c.at, c.info.UUID), Reason: "it lies in completed/, but its log has not ended"}
	}
	return nil
}

// knownHead is the head that the index knows of a context whose log begins with first;
// zero if it knows none.
func (s *Store) knownHead(first eventlog.Record, uuid string) eventlog.Head {
	e, err := event.Decode(first)
	created, ok := e.Body.(*event.ContextCreated)
	if err != nil || !ok {
		return eventlog.Head{}
	}
	s.cache.Lock()
	defer s.cache.Unlock()
	if x := s.cachedIndex(); x != nil {
		known, _, _ := x.get(created.TaskKey, uuid) // zero if it cannot be read
		return known.Head
	}
	return eventlog.Head{}
}

// cache is the index that was loaded last, for those who read many logs.
type cache struct {
	sync.Mutex
	x     *snapshot
	files [4]int64 // size and modification time of the two files that x came from
}

// cachedIndex is nil if there is no index that can be used.
func (s *Store) cachedIndex() *snapshot {
	var files [4]int64
	for n, name := range []string{indexFile, tailFile} {
		if info, err := s.fs.Lstat(name); err == nil {
			files[2*n], files[2*n+1] = info.Size(), info.ModTime().UnixNano()
		}
	}
	if s.cache.x != nil && s.cache.files == files {
		return s.cache.x
	}
	if s.cache.x != nil {
		s.cache.x.Close()
	}
	s.cache.x, s.cache.files = nil, files
	if x, err := s.load(); err == nil {
		x.steps = map[int64]probed{}
		s.cache.x = x
	}
	return s.cache.x
}

// Line is one line of a log, good or bad.
type Line = eventlog.Line

// Record is a valid line.
type Record = eventlog.Record

// Lines yields every line of a log, good or bad, for those who look around
// damage, as [eventlog.ReadAll] does.
func (s *Store) Lines(uuid string) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		f, err := s.Stream(uuid)
		if err != nil {
			yield(eventlog.Line{}, fmt.Errorf("context %s: %w", uuid, err))
			return
		}
		defer f.Close()
		eventlog.ReadAll(f)(yield)
	}
}

// LinesFrom is [Store.Lines] without the lines at the beginning for which before
// is true. It finds the others by bisection; an archived log is read from its start.
func (s *Store) LinesFrom(uuid string, before func(eventlog.Record) bool) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		lines, end, err := s.linesFrom(uuid, before)
		if err != nil {
			yield(eventlog.Line{}, fmt.Errorf("context %s: %w", uuid, err))
			return
		}
		defer end()
		found := false
		for line, err := range lines {
			found = found || err != nil || line.Record.Line == nil || !before(line.Record)
			if found && !yield(line, err) {
				return
			}
		}
	}
}

func (s *Store) linesFrom(uuid string, before func(eventlog.Record) bool) (lines iter.Seq2[Line, error], end func(), err error) {
	f, err := s.Stream(uuid)
	if err != nil {
		return nil, nil, err
	}
	file, ok := f.(fsx.File)
	if !ok {
		return eventlog.ReadAll(f), func() { f.Close() }, nil
	}
	info, err := file.Stat()
	if err == nil {
		var at int64
		if at, err = eventlog.Search(file, info.Size(), before); err == nil {
			return eventlog.ReadAllFrom(io.NewSectionReader(file, at, math.MaxInt64-at), at), func() { f.Close() }, nil
		}
	}
	f.Close()
	return nil, nil, err
}

// StreamOf is [Store.Stream] for a context whose end the index knows of: it
// lies where those lie that ended.
func (s *Store) StreamOf(i *Info) (io.ReadCloser, error) {
	if i.Over() {
		if f, err := eventlog.OpenRead(s.fs, pathOf(Completed, i.UUID)); !isMissing(err) {
			return f, err
		}
	}
	return s.Stream(i.UUID)
}

// Stream opens the bytes of a log, archived or not.
func (s *Store) Stream(uuid string) (io.ReadCloser, error) {
	for try := 0; ; try++ {
		at, err := s.locate(uuid)
		if err != nil {
			return nil, err
		}
		f, err := eventlog.OpenRead(s.fs, pathOf(at, uuid))
		if isMissing(err) && try >= 3 {
			err = &DamageError{Name: pathOf(at, uuid), Reason: "it has no log"}
		}
		if !isMissing(err) {
			return f, err
		}
	}
}

// Events yields the events of a log. An event of a newer release or one that
// cannot be decoded comes as an error with its seq and time, and the rest
// follows; damage of the log ends it.
func (s *Store) Events(uuid string) iter.Seq2[event.Event, error] { return s.events(uuid, decode) }

// ToFold is Events for folds, see [event.DecodeToFold].
func (s *Store) ToFold(uuid string) iter.Seq2[event.Event, error] { return s.events(uuid, toFold) }

func (s *Store) events(uuid string, decode func(string, eventlog.Record) (event.Event, error)) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for rec, err := range s.Records(uuid) {
			if err != nil {
				yield(event.Event{}, err)
				return
			}
			e, err := decode(uuid, rec)
			if err == nil {
				event.Fetch(e.Body, func(hash string) ([]byte, error) { return s.Blob(uuid, hash) })
			} else {
				e = event.Event{Seq: rec.Seq, Time: rec.When(), Cause: rec.Cause}
				err = fmt.Errorf("context %s: %w", uuid, err)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// Blob returns a text of a context that was too large for a line.
func (s *Store) Blob(uuid, hash string) ([]byte, error) {
	for try := 0; ; try++ {
		at, err := s.locate(uuid)
		if err != nil {
			return nil, err
		}
		dir := pathOf(at, uuid)
		data, err := s.blobOf(uuid, dir, hash)
		if errors.Is(err, eventlog.ErrBlobMissing) && try < 3 {
			continue // or it has just moved
		}
		return data, err
	}
}

func (s *Store) blobOf(uuid, dir, hash string) ([]byte, error) {
	data, err := s.blob(uuid, dir, hash)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return data, nil
}

// ReadFile reads a projection file of a context that is not held. One that was
// never written is fs.ErrNotExist.
func (s *Store) ReadFile(uuid, name string) ([]byte, error) {
	at, err := s.locate(uuid)
	if err != nil {
		return nil, err
	}
	return s.context(uuid, at).ReadFile(name)
}

// DirOf is where a context lies now. It may move while its log is read.
func (s *Store) DirOf(uuid string) (Dir, error) { return s.locate(uuid) }

// CheckDir is damage if a directory cannot be that of its log: one whose log
// does not begin with its creation, or one that lay in completed/ before a log
// was read that has not ended.
func CheckDir(uuid string, before Dir, first *event.ContextCreated, ended bool) error {
	switch {
	case first == nil || first.UUID != uuid:
		return &DamageError{Name: pathOf(before, uuid), Reason: "its log does not begin with its creation"}
	case before == Completed && !ended:
		return &DamageError{Name: pathOf(before, uuid), Reason: "it lies in completed/, but its log has not ended"}
	}
	return nil
}

// LogFile is the name of a log in the directory of its context.
const LogFile = eventlog.FileName
