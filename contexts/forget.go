package contexts

import (
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"agent/eventlog"
	"agent/eventlog/event"
)

// Forgotten is what [Store.Forget] did.
type Forgotten struct {
	UUID  string   `json:"uuid"`
	Bytes int64    `json:"bytes"`           // of its files
	Heirs []string `json:"heirs,omitempty"` // contexts that had taken something over from it
	Forks []Copied `json:"forks,omitempty"` // contexts that begin with its events, and stay
}

// Copied is a fork that holds the texts of a context up to an event.
type Copied struct {
	UUID string `json:"uuid"`
	Seq  uint64 `json:"seq"`
}

// forksOf lists the forks of a context, and forks of those.
func forksOf(of []Info, uuid string) (forks []Copied) {
	upTo := map[string]uint64{uuid: math.MaxUint64}
	for found := true; found; {
		found = false
		for _, i := range of {
			most, descends := upTo[i.Fork]
			if _, known := upTo[i.UUID]; !descends || known {
				continue
			}
			found = true
			upTo[i.UUID] = min(most, i.ForkSeq)
			forks = append(forks, Copied{i.UUID, upTo[i.UUID]})
		}
	}
	return forks
}

// Forget removes a context that has ended, and what later ones of its task have
// from it: every text whose sources it is among (inherited text, what the tool
// history showed, summaries and their drafts), also where it came by way of other
// contexts. Those texts are in blobs; the blobs go, and a blob.forgotten in the
// log says so, which keeps the chain valid. The kept answers of forges go, too. What a later attempt said and did in its
// own turns is its own and stays. refresh makes the projection files of an heir
// anew, while it is held. A context that is busy or has not ended is an error,
// and then it is not removed; what was begun can be begun again.
func (s *Store) Forget(uuid, by string, at time.Time, refresh func(*Context) error) (Forgotten, error) {
	done, err := s.forget(uuid, by, at, refresh)
	if err == nil {
		err = s.forgetAnswers()
	}
	if err != nil {
		return done, fmt.Errorf("forget %s: %w", uuid, err)
	}
	return done, nil
}

func (s *Store) forget(uuid, by string, at time.Time, refresh func(*Context) error) (Forgotten, error) {
	done := Forgotten{UUID: uuid}
	first, err := s.Creation(uuid)
	var lost *LostError
	if errors.As(err, &lost) {
		known, err := s.lost(uuid)
		if err != nil {
			return done, err
		}
		return s.forgetLost(known, by, at, refresh)
	}
	if err != nil {
		return done, err
	}
	if info := s.digest(uuid, eventlog.Head{}); info.Err != nil || !info.Removable() {
		return done, errors.Join(info.Err, ErrNotEnded)
	}
	if err := s.forgetHeirs(first.TaskKey, by, at, refresh, &done); err != nil {
		return done, err
	}
	if err := s.forgetEverywhere(uuid); err != nil {
		return done, err
	}
	if done.Bytes, err = s.Remove(uuid); err != nil {
		return done, err
	}
	return done, s.forgetQuarantine(uuid)
}

// WouldForget says what [Store.Forget] would do with a context that has ended.
func (s *Store) WouldForget(uuid string) (Forgotten, error) {
	would := Forgotten{UUID: uuid}
	first, err := s.Creation(uuid)
	var lost *LostError
	if errors.As(err, &lost) {
		return would, nil
	}
	if err != nil {
		return would, err
	}
	of, err := s.ofTask(first.TaskKey)
	if err != nil {
		return would, err
	}
	would.Forks = forksOf(of, uuid)
	for _, i := range of {
		if i.UUID == uuid {
			continue
		}
		if inherits, err := s.inherits(i.UUID, uuid); err == nil && inherits {
			would.Heirs = append(would.Heirs, i.UUID)
		}
	}
	dir, err := s.locate(uuid)
	if err == nil {
		would.Bytes, err = s.sizeOf(pathOf(dir, uuid))
	}
	return would, err
}

// forgetHeirs takes what the later contexts of a task have from done.UUID.
func (s *Store) forgetHeirs(taskKey, by string, at time.Time, refresh func(*Context) error, done *Forgotten) error {
	of, err := s.ofTask(taskKey)
	if err != nil {
		return err
	}
	done.Forks = forksOf(of, done.UUID)
	for _, i := range of {
		heir := i.UUID
		if heir == done.UUID {
			continue
		}
		took, err := s.disinherit(heir, done.UUID, by, at, refresh)
		var lost *LostError
		if err != nil && !errors.Is(err, ErrUnknown) && !errors.As(err, &lost) {
			return err
		}
		if took {
			done.Heirs = append(done.Heirs, heir)
		}
	}
	return nil
}

// disinherit takes from one context what it has from another.
func (s *Store) disinherit(heir, from, by string, at time.Time, refresh func(*Context) error) (took bool, err error) {
	if inherits, err := s.inherits(heir, from); !inherits || err != nil {
		return false, err
	}
	words := words{from: from, blobs: map[string]bool{}}
	c, err := s.Acquire(heir, words.visit)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	for hash, noted := range words.blobs {
		// The event first: a blob that is missing without one is damage.
		if !noted {
			if _, err := c.Append(event.Event{Time: at, Body: &event.BlobForgotten{Blob: hash, By: by}}); err != nil {
				return false, err
			}
		}
		if err := c.removeBlob(hash); err != nil {
			return false, err
		}
	}
	if err := refresh(c); err != nil {
		return false, err
	}
	return true, errors.Join(c.SyncFiles(), c.Relocate(), s.forgetQuarantine(heir))
}

// words finds the blobs of a log that may hold words of an earlier context.
type words struct {
	from  string
	took  bool            // the text of the inherited message is one of them
	blobs map[string]bool // true once a blob.forgotten is in the log
}

func (w *words) visit(e event.Event) error {
	switch b := e.Body.(type) {
	case *event.ContextInherited:
		w.took = w.of(b.Sources)
	case *event.BlobForgotten:
		w.blobs[b.Blob] = true
		return nil
	}
	if message, ok := e.Body.(*event.MessageAdded); w.of(sources(e.Body)) || ok && w.took && message.Purpose == event.InheritedMessage {
		for _, hash := range event.Blobs(e.Body) {
			if !w.blobs[hash] {
				w.blobs[hash] = false
			}
		}
	}
	return nil
}

func (w *words) of(sources []string) bool { return slices.Contains(sources, w.from) }

// sources are the earlier contexts that an event has words of.
func sources(b event.Body) []string {
	switch b := b.(type) {
	case *event.ContextInherited:
		return b.Sources
	case *event.ToolReplied:
		return b.Sources
	case *event.LLMReplied:
		return b.Sources
	case *event.SummaryAdded:
		return b.Sources
	}
	return nil
}

// inherits tells whether a context has words of another. It holds no lock, and
// looks only at where words come in.
func (s *Store) inherits(heir, from string) (bool, error) {
	for rec, err := range s.Records(heir) {
		if err != nil {
			return false, err
		}
		if kind := string(rec.Type); kind != "context.inherited" && kind != "tool.replied" {
			continue
		}
		e, err := decode(heir, rec)
		if err != nil {
			return false, err
		}
		if slices.Contains(sources(e.Body), from) {
			return true, nil
		}
	}
	return false, nil
}

func (c *Context) removeBlob(hash string) error {
	dir := path.Join(c.path(), eventlog.BlobDir)
	if err := c.s.unshare(c.uuid, eventlog.BlobDir, hash); err != nil {
		return err
	}
	err := c.s.fs.Remove(path.Join(dir, hash))
	if isMissing(err) {
		return nil
	}
	return errors.Join(err, c.s.fs.SyncDir(dir))
}

// forgetQuarantine removes what was set aside of a context.
func (s *Store) forgetQuarantine(uuid string) error {
	entries, err := s.fs.ReadDir(quarantineDir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), uuid) {
			if err := s.fs.RemoveAll(quarantineDir + "/" + e.Name()); err != nil {
				return err
			}
		}
	}
	return s.fs.SyncDir(quarantineDir)
}
