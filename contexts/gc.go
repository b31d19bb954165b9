package contexts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"agent/forge"
	"agent/internal/fsx"
)

const (
	gcFile  = "gc.json"
	gcLock  = "gc.lock"
	maxGC   = 1 << 20 // bytes
	maxSaid = 20      // problems that a report names
)

// Retention says what becomes of contexts that have ended. 0 days is never.
type Retention struct {
	Now          time.Time
	ArchiveAfter int // days since the end
	RemoveAfter  int // days since the end
	InheritFor   int // days in which the next attempt at a task may need the newest one
	DryRun       bool
	Progress     func(done, of int) // may be nil
	Would        func(Planned)      // takes what a dry run would do; may be nil
}

// Planned is one thing that a dry run would do.
type Planned struct {
	Action  string `json:"action"` // archive | remove | remove_clone | remove_cache | remove_image | rebuild
	UUID    string `json:"uuid"`
	TaskKey string `json:"task_key,omitempty"`
	Bytes   int64  `json:"bytes,omitempty"`
}

// Plan notes what a dry run would do.
func (r *Retention) Plan(p Planned) {
	if r.DryRun && r.Would != nil {
		r.Would(p)
	}
}

// Old tells whether the working copy of a context is needed no more.
func (r *Retention) Old(i Info) bool {
	return i.Over() && (passed(r.Now, i.Ended, r.ArchiveAfter) || passed(r.Now, i.Ended, r.RemoveAfter))
}

// Collected is what [Store.Collect] did, and the content of gc.json.
type Collected struct {
	Time          time.Time `json:"time"`
	DryRun        bool      `json:"dry_run,omitempty"`
	Archived      int       `json:"archived"`
	ArchivedFrom  int64     `json:"archived_from_bytes"`
	ArchivedTo    int64     `json:"archived_to_bytes"` // 0 in a dry run
	Removed       int       `json:"removed"`
	RemovedBytes  int64     `json:"removed_bytes"`
	Inheritable   int       `json:"kept_for_inheritance"`
	Busy          int       `json:"busy"`
	Clones        int       `json:"clones"`
	CloneBytes    int64     `json:"clone_bytes"`
	Caches        int       `json:"caches"` // of repositories, and of contexts that left theirs
	CacheBytes    int64     `json:"cache_bytes"`
	Images        int       `json:"images"` // container images that were unpacked for commands
	ImageBytes    int64     `json:"image_bytes"`
	Locks         int       `json:"locks"`
	Rebuilt       int       `json:"rebuilt"` // contexts whose projection files were made again
	Problems      int       `json:"problems"`
	ProblemsNamed []string  `json:"problems_named,omitempty"` // the first 20
}

// Problem counts what could not be done with one context.
func (c *Collected) Problem(uuid string, err error) {
	if errors.Is(err, ErrBusy) {
		c.Busy++
		return
	}
	c.Problems++
	if len(c.ProblemsNamed) < maxSaid {
		c.ProblemsNamed = append(c.ProblemsNamed, fmt.Sprintf("%s: %v", uuid, err))
	}
}

// LastCollected is the latest report, or a zero one.
func (s *Store) LastCollected() Collected {
	var c Collected
	data, err := fsx.ReadFile(s.fs, gcFile, maxGC)
	if err != nil || json.Unmarshal(data, &c) != nil {
		return Collected{}
	}
	return c
}

// Collect archives and removes contexts that ended long enough ago. It never
// touches one that runs or is paused, and keeps the newest of a task that the
// next attempt may inherit from. One that is damaged or busy is left, counted, and
// does not stop the others; c is the report to add to. Two at the same time are
// ErrBusy. When ctx is done it ends after the context at hand.
func (s *Store) Collect(ctx context.Context, r Retention, c *Collected) error {
	if !r.DryRun {
		lock, err := s.lock(gcLock)
		if err != nil {
			return fmt.Errorf("collect: %w", err)
		}
		defer lock.Close()
	}
	c.Time, c.DryRun = r.Now.UTC(), r.DryRun
	if err := s.collect(ctx, r, c); err != nil {
		return fmt.Errorf("collect: %w", err)
	}
	if r.DryRun {
		return nil
	}
	data, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return err
	}
	return s.put(gcFile, append(data, '\n'), s.fs.Rename)
}

func (s *Store) collect(ctx context.Context, r Retention, c *Collected) error {
	todo, err := s.due(r, c)
	if err != nil {
		return err
	}
	for n, t := range todo {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.tidy(t, r, c); err != nil {
			c.Problem(t.uuid, err)
			if code := ExitCode(err); code == ExitTemporary || code == ExitIO {
				return err // a disk that is full or fails is no problem of one context
			}
		}
		if r.Progress != nil {
			r.Progress(n+1, len(todo))
		}
	}
	if !r.DryRun {
		if err := s.removeAnswers(func(used time.Time) bool { return r.Now.Sub(used) > answersUnused }); err != nil {
			return err
		}
		if err := s.sweepWaiting(); err != nil {
			return err
		}
	}
	return s.sweepLocks(r.DryRun, c)
}

// old is a context that something is to be done with.
type old struct {
	uuid   string
	key    string // of its task
	remove bool
	size   int64
}

// due goes through the index and finds what is old enough.
func (s *Store) due(r Retention, c *Collected) ([]old, error) {
	var todo []old
	kept := 0
	err := s.withIndex(func(x *snapshot) (err error) {
		todo, kept, err = x.due(r)
		return err
	})
	c.Inheritable += kept
	return todo, err
}

func (x *snapshot) due(r Retention) (todo []old, kept int, err error) {
	needed, err := x.needed(r)
	if err != nil {
		return nil, 0, err
	}
	for row, err := range x.rows() {
		if err != nil {
			return nil, 0, err
		}
		if !row.over() {
			continue
		}
		i, err := row.whole()
		if err != nil {
			return nil, 0, err
		}
		if passed(r.Now, i.Ended, r.RemoveAfter) {
			if needed[forge.FoldKey(i.TaskKey)].uuid != i.UUID {
				todo = append(todo, old{i.UUID, i.TaskKey, true, i.Size})
				continue
			}
			kept++
		}
		if passed(r.Now, i.Ended, r.ArchiveAfter) && !i.Archived {
			todo = append(todo, old{i.UUID, i.TaskKey, false, i.Size})
		}
	}
	return todo, kept, nil
}

func passed(now, then time.Time, days int) bool {
	return days > 0 && !then.After(now.AddDate(0, 0, -days))
}

type newest struct {
	uuid  string
	ended time.Time
}

// needed gives, for each task, the context that its next attempt would inherit from.
func (x *snapshot) needed(r Retention) (map[string]newest, error) {
	all := map[string]newest{}
	if r.RemoveAfter <= 0 {
		return all, nil
	}
	for row, err := range x.rows() {
		if err != nil {
			return nil, err
		}
		i, err := row.whole()
		if err != nil {
			return nil, err
		}
		if i.Inheritable() && !i.Ended.Before(r.Now.AddDate(0, 0, -r.InheritFor)) && i.Ended.After(all[forge.FoldKey(i.TaskKey)].ended) {
			all[forge.FoldKey(i.TaskKey)] = newest{i.UUID, i.Ended}
		}
	}
	return all, nil
}

// tidy archives or removes one context. In a dry run it only counts.
func (s *Store) tidy(t old, r Retention, c *Collected) error {
	id := t.uuid
	switch {
	case r.DryRun && t.remove:
		size, err := s.sizeOf(pathOf(Completed, id))
		c.Removed++
		c.RemovedBytes += size
		r.Plan(Planned{"remove", id, t.key, size})
		return err
	case r.DryRun:
		r.Plan(Planned{"archive", id, t.key, t.size})
		c.Archived++
		c.ArchivedFrom += t.size
		return nil
	case t.remove:
		size, err := s.Remove(id)
		if err == nil {
			c.Removed++
			c.RemovedBytes += size
		}
		return err
	}
	packed, err := s.Archive(id)
	if err == nil && packed.Before > 0 {
		c.Archived++
		c.ArchivedFrom += packed.Before
		c.ArchivedTo += packed.After
	}
	return err
}
