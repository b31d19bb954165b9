package contexts

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"time"

	"agent/eventlog"
	"agent/internal/fsx"
)

// Query chooses contexts. What is zero does not matter.
type Query struct {
	States     []string
	TaskKey    string
	Repository string    // what TaskKeys begin with, such as "github.com/o/r"
	Since      time.Time // of the latest event
	Until      time.Time
	Unread     bool // the caller reads the logs: need not be told which of those that ended have changed
}

func (q *Query) fits(i *Info) bool {
	return (len(q.States) == 0 || slices.Contains(q.States, i.State)) &&
		(q.TaskKey == "" || q.TaskKey == i.TaskKey) &&
		(q.Repository == "" || strings.HasPrefix(i.TaskKey, strings.TrimSuffix(q.Repository, "/")+"/")) &&
		(q.Since.IsZero() || !i.Updated.Before(q.Since)) && (q.Until.IsZero() || !i.Updated.After(q.Until))
}

// mayFit looks at what a record says by itself of a context that ended.
func (q *Query) mayFit(r *record) bool {
	updated := getTime(r[56:])
	return (len(q.States) == 0 || slices.Contains(q.States, states[r[116]])) &&
		(q.TaskKey == "" || hashKey(q.TaskKey) == r.key()) &&
		(q.Since.IsZero() || !updated.Before(q.Since)) && (q.Until.IsZero() || !updated.After(q.Until))
}

// Info gives what a list shows of one context.
func (s *Store) Info(uuid string) (Info, error) {
	if err := checkUUID(uuid); err != nil {
		return Info{}, err
	}
	known := entry{}
	x, err := s.load(stamp{})
	if err == nil {
		known, _, err = x.get(idOf(uuid))
		x.Close()
	}
	if err != nil && !errors.Is(err, errIndex) {
		return Info{}, err
	}
	if i := known.info(); known.rec.over() && s.unchanged(&i) {
		return i, nil
	}
	i := s.digest(uuid, known.rec.head())
	if errors.Is(i.Err, ErrUnknown) {
		return Info{}, i.Err
	}
	return i, nil
}

// looksAtFiles is up to how many contexts [Store.Infos] looks at the file of
// each log that ended.
const looksAtFiles = 20_000

// Infos yields what a list shows of the contexts, without reading the logs of
// those that ended: first the others by place and uuid, then those by uuid. A
// context whose log cannot be read has Err, what is no context goes to
// Options.Warn. While there are no more than 20,000, the log of one that ended is
// read if its file is not the one that the index remembers, so that damage is
// seen; of more, only [Store.Events] tells.
func (s *Store) Infos(q Query) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		err := s.warnOfStrangers()
		var x *snapshot
		if err == nil {
			x, err = s.whole()
		}
		if err != nil {
			yield(Info{}, fmt.Errorf("list: %w", err))
			return
		}
		l := lister{s: s, q: q, yield: yield, check: !q.Unread && x.h.n+int64(len(x.tail)) <= looksAtFiles}
		err = l.list(x)
		x.Close()
		if errors.Is(err, errIndex) { // a bit of it flipped: what was not said yet comes from the logs
			if x, err = s.fromLogs(); err == nil {
				err = l.list(x)
			}
		}
		if err != nil && !l.over {
			yield(Info{}, fmt.Errorf("list: %w", err))
		}
	}
}

// warnOfStrangers names what lies among the contexts that live and is none.
func (s *Store) warnOfStrangers() error {
	for _, p := range []Place{Running, Paused} {
		if _, err := s.names(p, s.o.Warn); err != nil {
			return err
		}
	}
	return nil
}

type lister struct {
	s     *Store
	q     Query
	yield func(Info, error) bool
	check bool
	begun bool // the living ones were yielded
	last  id16 // of those that ended
	over  bool
}

func (l *lister) list(x *snapshot) error {
	if !l.begun {
		living, err := l.living(x)
		if err != nil {
			return err
		}
		l.begun = true
		for _, i := range living {
			if l.say(i); l.over {
				return nil
			}
		}
	}
	w := x.walk(true)
	for {
		e, err := w.next()
		if err != nil || e == nil {
			return err
		}
		id := e.rec.uuid()
		if !e.rec.over() || compareIDs(id, l.last) <= 0 {
			continue
		}
		if !l.check && !l.q.mayFit(&e.rec) {
			continue // without its strings
		}
		if err := w.strings(e); err != nil {
			return err
		}
		l.last = id
		if l.say(l.ended(e)); l.over {
			return nil
		}
	}
}

func (l *lister) say(i Info) {
	if i.UUID != "" && l.q.fits(&i) {
		l.over = !l.yield(i, nil)
	}
}

// living folds the contexts that did not end, as far as the index knows.
func (l *lister) living(x *snapshot) ([]Info, error) {
	var all []Info
	w := x.walk(true)
	for {
		e, err := w.next()
		if err != nil {
			return nil, err
		}
		if e == nil {
			break
		}
		if e.rec.over() {
			continue
		}
		if err := w.strings(e); err != nil {
			return nil, err
		}
		if i := l.s.again(e); i.UUID != "" {
			all = append(all, i)
		}
	}
	slices.SortStableFunc(all, func(a, b Info) int {
		return cmp.Or(cmp.Compare(rank(a.State), rank(b.State)), strings.Compare(a.UUID, b.UUID))
	})
	return all, nil
}

func rank(state string) int {
	switch state {
	case StateRunning:
		return 0
	case StatePaused, StateAwaiting:
		return 1
	}
	return 2
}

// ended gives a context that ended as the index knows it, if its file has not changed.
func (l *lister) ended(e *entry) Info {
	i := e.info()
	if !l.check || l.s.unchanged(&i) {
		return i
	}
	return l.s.again(e)
}

// again reads a context again and holds it against what the index knows. It is
// zero for one that is not there (a process was killed while it made it).
func (s *Store) again(e *entry) Info {
	i := s.digest(e.rec.uuid().String(), e.rec.head())
	if errors.Is(i.Err, ErrUnknown) {
		return Info{}
	}
	if i.Err != nil {
		known := e.info()
		i.Waits = ""
		i.TaskKey, i.Title, i.Created = cmp.Or(i.TaskKey, known.TaskKey), cmp.Or(i.Title, known.Title), cmp.Or(i.Created, known.Created)
	}
	return i
}

// OfTask gives all contexts of a TaskKey, the latest first, but not those of the
// given UUIDs, whose logs it does not read.
func (s *Store) OfTask(taskKey string, except ...string) ([]Info, error) {
	entries, err := s.ofTask(taskKey)
	if err != nil {
		return nil, fmt.Errorf("contexts of %s: %w", taskKey, err)
	}
	var all []Info
	for _, e := range entries {
		i := e.info()
		if slices.Contains(except, i.UUID) {
			continue
		}
		if !e.rec.over() || !s.unchanged(&i) {
			i = s.again(&e)
		}
		if i.UUID != "" {
			all = append(all, i)
		}
	}
	slices.SortFunc(all, func(a, b Info) int {
		return cmp.Or(b.Created.Compare(a.Created), strings.Compare(a.UUID, b.UUID))
	})
	return all, nil
}

// unchanged tells whether the log of a context that ended is the one that the index remembers.
func (s *Store) unchanged(i *Info) bool {
	size, modified, archived, err := s.measureIn(dirOf(Completed, i.UUID)) // where it belongs
	if isMissing(err) {
		size, modified, archived, err = s.measure(i.UUID)
	}
	return err == nil && size == i.Size && modified == i.modified && archived == i.Archived
}

func (s *Store) ofTask(taskKey string) ([]entry, error) {
	x, err := s.whole()
	if err != nil {
		return nil, err
	}
	entries, err := x.ofKey(taskKey)
	x.Close()
	if errors.Is(err, errIndex) {
		if x, err = s.fromLogs(); err == nil {
			entries, err = x.ofKey(taskKey)
		}
	}
	return entries, err
}

// Counts gives the number of contexts by state.
func (s *Store) Counts() (map[string]int, error) {
	counts := map[string]int{}
	for i, err := range s.Infos(Query{}) {
		if err != nil {
			return nil, err
		}
		counts[i.State]++
	}
	return counts, nil
}

// measure looks at the file that holds a log.
func (s *Store) measure(uuid string) (size, modified int64, archived bool, err error) {
	for try := 0; ; try++ {
		p, err := s.locate(uuid)
		if err != nil {
			return 0, 0, false, err
		}
		size, modified, archived, err = s.measureIn(dirOf(p, uuid))
		if !isMissing(err) || try >= 3 {
			return size, modified, archived, err
		}
	}
}

func (s *Store) measureIn(dir string) (size, modified int64, archived bool, err error) {
	info, err := s.fs.Lstat(path.Join(dir, eventlog.FileName))
	if isMissing(err) {
		archived = true
		info, err = s.fs.Lstat(path.Join(dir, eventlog.ArchiveName))
	}
	if err != nil {
		return 0, 0, false, err
	}
	return info.Size(), info.ModTime().UnixNano(), archived, nil
}

// noFile is the file of an index that is in memory only.
type noFile struct{ fsx.File }

func (noFile) ReadAt([]byte, int64) (int, error) { return 0, io.EOF }
func (noFile) Stat() (fs.FileInfo, error)        { return nil, fs.ErrInvalid }
func (noFile) Close() error                      { return nil }
