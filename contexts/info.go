package contexts

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"
	"time"

	"agent/eventlog"
	"agent/forge"
)

// Query chooses contexts. What is zero does not matter.
type Query struct {
	States     []string
	TaskKey    string
	Repository string    // what TaskKeys begin with, such as "github.com/o/r"
	Since      time.Time // of the latest event
	Until      time.Time

	Seen *Seen // what earlier queries read; may be nil
}

func (q *Query) fits(i *Info) bool {
	return q.hasState(i.State) &&
		(q.TaskKey == "" || i.at(q.TaskKey)) &&
		(q.Repository == "" || i.in(q.Repository)) &&
		(q.Since.IsZero() || !i.Updated.Before(q.Since)) && (q.Until.IsZero() || !i.Updated.After(q.Until))
}

// in tells whether the task is, or was when the context began, in a repository.
func (i *Info) in(repository string) bool {
	begins := forge.FoldKey(strings.TrimSuffix(repository, "/") + "/")
	return strings.HasPrefix(forge.FoldKey(i.TaskKey), begins) || strings.HasPrefix(forge.FoldKey(i.Moved), begins)
}

func (q *Query) hasState(state string) bool {
	return len(q.States) == 0 || slices.Contains(q.States, state)
}

// Info gives what a list shows of one context.
func (s *Store) Info(uuid string) (Info, error) {
	if err := checkUUID(uuid); err != nil {
		return Info{}, err
	}
	known, err := s.recorded(uuid)
	if err != nil {
		return Info{}, err
	}
	if known.Over() && s.unchanged(&known) {
		return known, nil
	}
	i := s.digest(uuid, known.Head)
	if errors.Is(i.Err, ErrUnknown) {
		return Info{}, i.Err
	}
	return i, nil
}

// InfoUpTo is [Store.Info] without reading a log of more than most bytes: of such
// a one that has not ended it gives what the index knows, or what begins it.
func (s *Store) InfoUpTo(uuid string, most int64) (Info, error) {
	size, _, _, err := s.measure(uuid)
	if err != nil || size <= most {
		return s.Info(uuid)
	}
	known, err := s.recorded(uuid)
	if err != nil || known.UUID != "" {
		return known, err
	}
	first, err := s.Creation(uuid)
	if err != nil {
		return Info{}, err
	}
	return Info{UUID: uuid, TaskKey: first.TaskKey, Title: first.Title, State: StateRunning}, nil
}

// recorded is what the index says of a context; zero if nothing.
func (s *Store) recorded(uuid string) (i Info, err error) {
	x, err := s.load()
	if err == nil {
		defer x.Close()
		if first, firstErr := s.Creation(uuid); firstErr == nil {
			i, _, err = x.get(first.TaskKey, uuid)
		} else {
			i, err = x.byUUID(uuid)
		}
	}
	if errors.Is(err, errIndex) {
		err = nil
	}
	return i, err
}

// looksAtFiles is up to how many contexts [Store.Infos] looks at the file of
// each log that ended.
const looksAtFiles = 20_000

// Infos yields what a list shows of the contexts, without reading the logs of
// those that ended: first the others by state and uuid, then those by task and uuid. A
// context whose log cannot be read has Err, what is no context goes to
// Options.Warn. While there are no more than 20,000, the log of one that ended is
// read if its file is not the one that the index remembers, so that damage is
// seen; of more, only [Store.Events] tells.
func (s *Store) Infos(q Query) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		err := s.warnOfOthers()
		var x *snapshot
		if err == nil {
			x, err = s.whole()
		}
		if err != nil {
			yield(Info{}, fmt.Errorf("list: %w", err))
			return
		}
		l := lister{s: s, q: q, yield: yield, check: x.trailer.Contexts+len(x.tail) <= looksAtFiles}
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

// warnOfOthers names what lies among the contexts that live and is none.
func (s *Store) warnOfOthers() error {
	for _, p := range []Dir{Running, Paused} {
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
	begun bool // the unfinished ones were yielded
	last  row  // the latest of those that ended
	over  bool
}

func (l *lister) list(x *snapshot) error {
	if !l.begun {
		unfinished, err := l.unfinished(x)
		if err != nil {
			return err
		}
		l.begun = true
		for _, i := range unfinished {
			if l.say(i); l.over {
				return nil
			}
		}
	}
	for r, err := range x.rows() {
		if err != nil {
			return err
		}
		if !r.over() || !l.check && !l.q.hasState(r.State) || l.last.UUID != "" && compareRows(r, l.last) <= 0 {
			continue
		}
		i, err := r.whole()
		if err != nil {
			return err
		}
		l.last = r
		if l.say(l.ended(i)); l.over {
			return nil
		}
	}
	return nil
}

func (l *lister) say(i Info) {
	if i.UUID != "" && l.q.fits(&i) {
		l.over = !l.yield(i, nil)
	}
}

// unfinished folds the contexts that did not end, as far as the index knows.
func (l *lister) unfinished(x *snapshot) ([]Info, error) {
	var all []Info
	for r, err := range x.rows() {
		if err != nil {
			return nil, err
		}
		if r.over() {
			continue
		}
		known, err := r.whole()
		if err != nil {
			return nil, err
		}
		all = append(all, known)
	}
	inParallel(len(all), func(n int) { all[n] = l.q.Seen.again(l.s, all[n]) })
	all = slices.DeleteFunc(all, func(i Info) bool { return i.UUID == "" })
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
func (l *lister) ended(i Info) Info {
	if !l.check || l.s.unchanged(&i) {
		return i
	}
	return l.s.again(i)
}

// again reads a context again and compares it with what the index knows. It is
// zero for one that is not there (a process was killed while it made it).
func (s *Store) again(known Info) Info {
	i := s.digest(known.UUID, known.Head)
	if errors.Is(i.Err, ErrUnknown) {
		return Info{}
	}
	if i.Err != nil {
		i.Waits = ""
		i.Fork, i.ForkSeq, i.Live = cmp.Or(i.Fork, known.Fork), cmp.Or(i.ForkSeq, known.ForkSeq), i.Live || known.Live
		i.TaskKey, i.Title, i.Created = cmp.Or(i.TaskKey, known.TaskKey), cmp.Or(i.Title, known.Title), cmp.Or(i.Created, known.Created)
	}
	return i
}

// OfTask gives all contexts of a task by an address that it has or had, the latest first, but not those of the
// given UUIDs, whose logs it does not read.
func (s *Store) OfTask(taskKey string, except ...string) ([]Info, error) {
	known, err := s.ofTask(taskKey)
	return s.attempts(taskKey, known, except, err)
}

// Attempts is [Store.OfTask] for who must not wait until all logs are read that the index lacks: of those only the
// beginnings are. A context that came to this address later is missing until then.
func (s *Store) Attempts(taskKey string, except ...string) ([]Info, error) {
	known, err := s.knownOfTask(taskKey)
	return s.attempts(taskKey, known, except, err)
}

func (s *Store) attempts(taskKey string, known []Info, except []string, err error) ([]Info, error) {
	if err != nil {
		return nil, fmt.Errorf("contexts of %s: %w", taskKey, err)
	}
	var all []Info
	for _, i := range known {
		if slices.Contains(except, i.UUID) {
			continue
		}
		if !i.Over() || !s.unchanged(&i) {
			i = s.again(i)
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
	size, modified, archived, err := s.measureIn(pathOf(Completed, i.UUID)) // where it belongs
	if isMissing(err) {
		size, modified, archived, err = s.measure(i.UUID)
	}
	return err == nil && size == i.Size && modified == i.modified && archived == i.Archived
}

func (s *Store) ofTask(taskKey string) (known []Info, err error) {
	err = s.withIndex(func(x *snapshot) error {
		unread, err := x.ofTask("") // damaged when the index was written, and perhaps not any more
		if err == nil {
			known, err = x.atAddress(taskKey)
		}
		for _, i := range unread {
			if i = s.again(i); taskKey != "" && i.at(taskKey) {
				known = append(known, i)
			}
		}
		return err
	})
	return known, err
}

// knownOfTask is ofTask by what the index knows and by the beginnings of the logs that it lacks.
func (s *Store) knownOfTask(taskKey string) ([]Info, error) {
	x, err := s.snapshot()
	if errors.Is(err, errIndex) {
		x, err = &snapshot{tail: map[string]Info{}}, nil
	}
	if err != nil {
		return nil, err
	}
	defer x.Close()
	if x.complete {
		return s.ofTask(taskKey)
	}
	seen, err := s.listed()
	if err != nil {
		return nil, err
	}
	stale, _, err := x.compare(seen)
	if errors.Is(err, errIndex) { // a bit of it flipped
		x = &snapshot{tail: map[string]Info{}}
		stale, _, err = x.compare(seen)
	}
	if err != nil {
		return nil, err
	}
	for _, id := range stale {
		first, err := s.Creation(id)
		if err != nil || forge.CompareKeys(first.TaskKey, taskKey) != 0 {
			continue
		}
		if _, known, err := x.get(taskKey, id); err == nil && !known {
			x.tail[id] = Info{UUID: id, TaskKey: first.TaskKey} // it has not ended, as far as this says
		}
	}
	return x.atAddress(taskKey)
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
		size, modified, archived, err = s.measureIn(pathOf(p, uuid))
		if isMissing(err) && try >= 3 {
			err = &DamageError{Name: pathOf(p, uuid), Reason: "it has no log"}
		}
		if !isMissing(err) {
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
