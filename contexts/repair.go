package contexts

import (
	"fmt"
	"path"
	"time"

	"agent/eventlog"
	"agent/eventlog/event"
)

// Repair makes a damaged context usable again and gives up what cannot be read:
// a person asked for it. It takes the lock (ErrBusy), keeps the valid start of
// the log, copies the original to quarantine, records the loss as
// process.recovered, and moves the directory to where the rest of the log sends
// it. For a context with nothing wrong Lost.Lines is 0 and nothing is recorded;
// for a log that is whole but misses events that the index saw, Lost.Bytes is.
// Lost.Reason says what was wrong, also if it was only the directory.
// A log without its first event, and one with events that this release does not
// understand, are beyond repair and stay as they are.
func (s *Store) Repair(uuid string, at time.Time) (eventlog.Lost, error) {
	lock, err := s.lockContext(uuid)
	if err != nil {
		return eventlog.Lost{}, fmt.Errorf("repair %s: %w", uuid, err)
	}
	defer lock.Close()
	lost, err := s.repair(uuid, at)
	if err != nil {
		return lost, fmt.Errorf("repair %s: %w", uuid, err)
	}
	return lost, nil
}

func (s *Store) repair(uuid string, at time.Time) (eventlog.Lost, error) {
	dir, err := s.keepLongest(uuid)
	if err != nil {
		return eventlog.Lost{}, err
	}
	c := s.context(uuid, dir)
	if err := c.worthRepair(); err != nil {
		return eventlog.Lost{}, err
	}
	if err := c.unpackForRepair(); err != nil {
		return eventlog.Lost{}, err
	}
	lost, err := eventlog.Salvage(s.fs, c.path(), quarantineDir+"/"+uuid)
	if isMissing(err) {
		err = c.vanished(err)
	}
	if err != nil {
		return lost, err
	}
	if err := c.open(nil); err != nil {
		return lost, err
	}
	defer func() { c.closeLog() }() // Relocate opens another one
	if c.info.held() != nil && lost.Bytes == 0 {
		lost.Lines = max(1, int64(c.info.watch.Seq)-int64(c.info.Head.Seq))
		lost.Reason = c.info.held().Error()
	}
	c.stale = true
	if c.ahead() && lost.Lines == 0 {
		lost.Reason = "it lay in completed/, but its log has not ended"
	}
	if lost.Lines > 0 || c.ahead() {
		note := &event.ProcessRecovered{GivenUp: lost.Bytes, Quarantine: lost.Copy}
		if _, err := c.Append(event.Event{Time: at, Body: note}); err != nil {
			return lost, err
		}
	}
	return lost, c.Relocate()
}

// unpackForRepair makes an archive a log again, as far as it can be read. One
// with nothing wrong stays as it is: then nothing is given up.
func (c *Context) unpackForRepair() error {
	_, err := c.s.fs.Lstat(path.Join(c.path(), eventlog.FileName))
	if !isMissing(err) {
		return err
	}
	err = eventlog.Unpack(c.s.fs, c.path())
	if ExitCode(err) == ExitDamage {
		return eventlog.SalvageArchive(c.s.fs, c.path(), quarantineDir+"/"+c.uuid)
	}
	if isMissing(err) {
		return nil // neither log nor archive: that is said below
	}
	return err
}

// worthRepair looks at the valid start of the log before anything is given up.
func (c *Context) worthRepair() error {
	for rec, err := range eventlog.ReadFile(c.s.fs, c.path()) {
		if err != nil {
			break // what Salvage is for
		}
		if err := c.see(rec, nil); err != nil {
			return err
		}
	}
	if c.descent.uuid != c.uuid && c.descent.uuid != "" {
		return &DamageError{Name: c.path(), Reason: "what can be read of its log are events of its origin " + c.descent.uuid + ", which can be forked again"}
	}
	return nil
}
