package contexts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"time"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/cluster"
)

// Context is a context held for work. It is used by one goroutine at a time.
type Context struct {
	s       *Store
	uuid    string
	at      Dir           // where the directory is
	want    Dir           // where the log sends it
	ended   bool          // the log holds an event that ends the task
	log     *eventlog.Log // nil while the log is archived
	info    Info          // folded so far
	descent descent       // whose log it is so far
	known   Info          // what the index had when the context was taken
	stale   bool          // the index does not know it as it is, or is to know its head
	torn    *eventlog.TornError
	lock    io.Closer
	bad     error // an I/O error after which nothing is done any more
	dirty   map[string]bool
	replica *replica // nil: the machine is alone, or nothing is to be appended
	healed  int      // events that the cluster's history had lost
}

func (s *Store) context(uuid string, p Dir) *Context {
	return &Context{s: s, uuid: uuid, at: p, dirty: map[string]bool{}}
}

// UUID names the context.
func (c *Context) UUID() string { return c.uuid }

// Dir is where the directory lies.
func (c *Context) Dir() Dir { return c.at }

// Torn describes the tail that was cut when the log was opened, or is nil. Its
// Copy is the name of the bytes in quarantine.
func (c *Context) Torn() *eventlog.TornError { return c.torn }

// Head names the last acknowledged event.
func (c *Context) Head() eventlog.Head { return c.info.Head }

func (c *Context) path() string { return pathOf(c.at, c.uuid) }

// Guard is for an effect outside, which only the owner of a context may have: the context
// that it gives ends before another worker may take over.
func (c *Context) Guard(ctx context.Context) (context.Context, context.CancelFunc, error) {
	lock, ok := c.lock.(both)
	if !ok {
		return ctx, func() {}, nil
	}
	owned, release, err := lock.shared.Guard(ctx)
	if errors.Is(err, cluster.ErrLost) {
		err = fmt.Errorf("%w: %w", ErrBusy, err)
	}
	return owned, release, err
}

// Healed is how many acknowledged events the cluster's history had lost.
func (c *Context) Healed() int { return c.healed }

// Append makes an event durable: with a nil error it is acknowledged. Large
// texts of its body go to blobs first. The event is returned as it will be read
// back, with its seq. After an I/O error nothing more is accepted.
func (c *Context) Append(e event.Event) (event.Event, error) { return c.AppendEncoded(e, nil) }

// AppendEncoded is Append for a body whose encoding is known; it may be changed.
func (c *Context) AppendEncoded(e event.Event, data []byte) (event.Event, error) {
	if c.bad != nil {
		return event.Event{}, fmt.Errorf("context %s: %w", c.uuid, eventlog.ErrPoisoned)
	}
	if err := c.append(&e, data); err != nil {
		return event.Event{}, fmt.Errorf("context %s: %s: %w", c.uuid, e.Body.Type(), err)
	}
	return e, nil
}

func (c *Context) append(e *event.Event, data []byte) error {
	if err := c.unpack(); err != nil {
		return c.fail(err)
	}
	data, err := event.SpillEncoded(e.Body, data, c.putBlob)
	if err != nil {
		return err
	}
	e.Time = e.Time.UTC().Truncate(time.Microsecond)
	draft, err := event.DraftEncoded(*e, data)
	if err != nil {
		return err
	}
	rec, err := c.log.Append(draft)
	if errors.Is(err, eventlog.ErrDraft) || errors.Is(err, eventlog.ErrTooLong) {
		return err // nothing was written
	}
	if err != nil {
		return c.fail(err)
	}
	// Writes to a file whose name is gone succeed, but nobody will read them.
	if _, err := c.s.fs.Lstat(path.Join(c.path(), eventlog.FileName)); err != nil {
		return c.fail(err)
	}
	e.Seq = rec.Seq
	over := c.info.Over()
	c.follow(*e)
	c.info.Head = c.log.Head()
	_, ended := e.Body.(*event.ProcessEnded)
	c.stale = c.stale || over || ended || lifecycle(e.Body)
	return nil
}

// Blob returns a text that was too large for a line, checked against its hash.
func (c *Context) Blob(hash string) ([]byte, error) { return c.s.blobOf(c.uuid, c.path(), hash) }

// Relocate moves the directory to where the last lifecycle event sends it. It may
// be called at any time; nil means that it is there, durably.
func (c *Context) Relocate() error {
	if c.bad != nil {
		return fmt.Errorf("context %s: %w", c.uuid, eventlog.ErrPoisoned)
	}
	if c.at == c.want && !c.stale {
		return nil
	}
	if err := c.measure(); err != nil {
		return c.fail(err)
	}
	if c.at == c.want {
		if err := c.s.note(c.info, nil); err != nil {
			return c.fail(err)
		}
		c.stale = false
		return nil
	}
	err := c.s.note(c.info, func() error { return c.s.move(c.path(), pathOf(c.want, c.uuid)) })
	if errors.Is(err, errTaken) {
		return &DamageError{Name: c.path(), Reason: fmt.Sprintf("something of its name is in %s", c.want)}
	}
	if err != nil {
		return c.fail(fmt.Errorf("move %s to %s: %w", c.path(), c.want, err))
	}
	c.at, c.stale = c.want, false
	return c.reopen()
}

// measure looks at the file of the log, for the index.
func (c *Context) measure() (err error) {
	c.info.Size, c.info.modified, c.info.Archived, err = c.s.measureIn(c.path())
	return err
}

// reopen gives the log its new directory, see package eventlog on what it
// leaves beside the file after a failed sync.
func (c *Context) reopen() error {
	if c.log == nil {
		return nil
	}
	if err := c.log.Close(); err != nil {
		return c.fail(err)
	}
	if err := c.log.Reopen(c.path()); err != nil {
		return c.fail(err)
	}
	return nil
}

func (c *Context) fail(err error) error {
	c.bad = err
	return err
}

// Close ends the work and releases the lock. Everything acknowledged is durable already.
func (c *Context) Close() error { return errors.Join(c.closeLog(), c.lock.Close()) }

func (c *Context) closeLog() error {
	if c.log == nil {
		return nil
	}
	return c.log.Close()
}
