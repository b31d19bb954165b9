package contexts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"agent/internal/fsx"
)

const (
	checksFile   = "checks.json"
	checksLock   = "checks.lock"
	checksPause  = 5 * time.Minute  // between two parts
	checksWithin = 20 * time.Hour   // all contexts that ended are checked once in it
	checksLong   = 10 * time.Second // about the longest time of one part
)

// checks says how far the logs of contexts that ended were checked.
type checks struct {
	At     time.Time `json:"at"`     // of the latest part
	Cursor string    `json:"cursor"` // the last uuid of it
}

// CheckPart reads the logs of a part of the contexts that ended, such that all are read
// within a day. What is damaged is noted in the index, where [Store.Ended] finds it.
// Another process that does the same is no error.
func (s *Store) CheckPart(ctx context.Context, now time.Time) error {
	var c checks
	if data, err := fsx.ReadFile(s.fs, checksFile, maxGC); err == nil {
		_ = json.Unmarshal(data, &c) // a damaged note begins anew
	}
	if since := now.Sub(c.At); since >= 0 && since < checksPause {
		return nil
	}
	lock, err := s.lock(checksLock)
	if errors.Is(err, ErrBusy) {
		return nil
	}
	if err == nil {
		defer lock.Close()
		err = s.checkPart(ctx, now, c)
	}
	if err != nil {
		return fmt.Errorf("check contexts that ended: %w", err)
	}
	return nil
}

func (s *Store) checkPart(ctx context.Context, now time.Time, c checks) error {
	names, err := s.names(Completed, func(error) {}) // a list names what is no context
	if err != nil {
		return err
	}
	begin := time.Now()
	for _, id := range part(names, c, now) {
		if ctx.Err() != nil || time.Since(begin) > checksLong {
			break
		}
		if _, err := s.NoteDamage(id); err != nil {
			return err
		}
		c.Cursor = id
	}
	c.At = now.UTC()
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return s.put(checksFile, append(data, '\n'), s.fs.Rename)
}

// part is what is to be checked now of all names, which are sorted. After a long time
// without a round that is not everything at once.
func part(names []string, c checks, now time.Time) []string {
	since := min(max(now.Sub(c.At), checksPause), time.Hour)
	n := int(int64(len(names))*int64(since)/int64(checksWithin)) + 1
	from, found := slices.BinarySearch(names, c.Cursor)
	if found {
		from++
	}
	return slices.Concat(names[from:], names[:from])[:min(n, len(names))]
}

// NoteDamage reads a log whole, and notes in the index if it is damaged, or is no more.
func (s *Store) NoteDamage(uuid string) (damage, err error) {
	known, err := s.recorded(uuid)
	if err != nil {
		return nil, err
	}
	i := s.again(known)
	if known.UUID == "" || i.UUID == "" || i.Err == nil && known.State != StateDamaged || i.Err != nil && ExitCode(i.Err) != ExitDamage {
		return i.Err, nil
	}
	if i.Err != nil {
		i.Head = known.Head // how far it had come is still known
	}
	return i.Err, s.putAll([]Info{i})
}
