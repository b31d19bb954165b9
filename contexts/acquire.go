package contexts

import (
	"errors"
	"fmt"

	"agent/eventlog"
	"agent/eventlog/event"
)

// Acquire takes a context for work, see [Store.Hold], and moves its directory to
// where the log says.
func (s *Store) Acquire(uuid string, visit func(event.Event) error) (*Context, error) {
	c, err := s.Hold(uuid, visit)
	if err != nil {
		return nil, err
	}
	if err := c.Settle(); err != nil {
		return nil, errors.Join(fmt.Errorf("context %s: %w", uuid, err), c.Close())
	}
	return c, nil
}

// Hold takes a context for work and leaves its directory where it is, for those
// who have to put it in order before it goes where nobody looks again: it takes
// the lock (ErrBusy), finds the directory, opens the log with recovery of a torn
// tail, and calls visit for every event in order (nil visits none). Damage, an
// event of a newer release (event.ErrNewer) and an error of visit leave
// everything as it is.
func (s *Store) Hold(uuid string, visit func(event.Event) error) (*Context, error) {
	lock, err := s.lockContext(uuid)
	if err != nil {
		return nil, fmt.Errorf("context %s: %w", uuid, err)
	}
	c, err := s.hold(uuid, visit)
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("context %s: %w", uuid, err)
	}
	c.lock = lock
	return c, nil
}

func (s *Store) hold(uuid string, visit func(event.Event) error) (*Context, error) {
	place, err := s.unite(uuid)
	if err != nil {
		return nil, err
	}
	c := s.context(uuid, place)
	if err := c.open(visit); err != nil {
		return nil, err
	}
	if c.ahead() {
		c.log.Close()
		return nil, &DamageError{Name: c.dir(), Reason: "its log does not end the task"}
	}
	// A move by a process that was killed is seen but perhaps not durable. What
	// is acknowledged from now on must not go back to .staging/ with the directory.
	if err := s.fs.SyncDir(string(place)); err != nil {
		c.log.Close()
		return nil, err
	}
	return c, nil
}

// ahead tells whether the directory lies where its log never sent it.
// Directories move after the log is durable, so the end of the log is lost.
func (c *Context) ahead() bool { return c.place == Completed && !c.ended }

// open opens the log and folds from it where the context belongs.
func (c *Context) open(visit func(event.Event) error) error {
	c.want, c.ended = "", false
	log, torn, err := eventlog.Open(c.s.fs, c.dir(), quarantineDir+"/"+c.uuid, func(r eventlog.Record) error {
		return c.see(r, visit)
	})
	if isMissing(err) {
		return c.vanished(err)
	}
	if err != nil {
		return err
	}
	if c.want == "" {
		log.Close()
		return &DamageError{Name: c.dir(), Reason: "its log holds no event"}
	}
	c.log = log
	if torn != nil {
		c.torn = torn
	}
	return nil
}

// vanished tells a context without a log, which is damage, from a store that
// was removed under our feet.
func (c *Context) vanished(err error) error {
	if _, statErr := c.s.fs.Lstat(c.dir()); statErr == nil {
		return &DamageError{Name: c.dir(), Reason: "it has no log"}
	}
	return err
}

func (c *Context) see(r eventlog.Record, visit func(event.Event) error) error {
	e, err := decode(c.dir(), r)
	if err != nil {
		return err
	}
	if created, ok := e.Body.(*event.ContextCreated); ok != (e.Seq == 1) || ok && created.UUID != c.uuid {
		return &DamageError{Name: c.dir(), Reason: fmt.Sprintf("seq %d: a log begins with the creation of its own context", e.Seq)}
	}
	c.follow(e.Body)
	if visit == nil {
		return nil
	}
	return visit(e)
}

// decode reads a record. What this release should understand and does not is damage.
func decode(name string, r eventlog.Record) (event.Event, error) {
	e, err := event.Decode(r)
	if err != nil && !errors.Is(err, event.ErrNewer) {
		return e, &DamageError{Name: name, Reason: err.Error()}
	}
	return e, err
}

// follow keeps track of where the events so far send the directory.
func (c *Context) follow(b event.Body) {
	switch b.(type) {
	case *event.ContextCreated, *event.ContextResumed:
		c.want = Running
	case *event.ContextPaused, *event.ContextAwaiting:
		c.want = Paused
	case *event.ContextCompleted, *event.ContextStopped, *event.ContextFailed:
		c.want, c.ended = Completed, true
	}
}
