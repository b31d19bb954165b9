package contexts

import (
	"errors"
	"fmt"
	"path"

	"agent/eventlog"
	"agent/eventlog/event"
)

// Acquire takes a context for work, see [Store.AcquireInPlace], and moves its directory to
// where the log says.
func (s *Store) Acquire(uuid string, visit func(event.Event) error) (*Context, error) {
	c, err := s.AcquireInPlace(uuid, visit)
	if err != nil {
		return nil, err
	}
	if err := c.Relocate(); err != nil {
		return nil, errors.Join(fmt.Errorf("context %s: %w", uuid, err), c.Close())
	}
	return c, nil
}

// AcquireInPlace takes a context for work and leaves its directory where it is, for those
// who have to put it in order before it goes where nobody looks again: it takes
// the lock (ErrBusy), finds the directory, opens the log with recovery of a torn
// tail, and calls visit for every event in order, as [event.DecodeToFold] gives it (nil visits none). Damage, an
// event of a newer release (event.ErrNewer) and an error of visit leave
// everything as it is.
func (s *Store) AcquireInPlace(uuid string, visit func(event.Event) error) (*Context, error) {
	return s.AcquireTo(uuid, func(*Context) func(event.Event) error { return visit })
}

// AcquireTo is AcquireInPlace for those who stage files while they read: begin gets the
// context before its log is read, and nothing but [Context.StageFile] may be called yet.
func (s *Store) AcquireTo(uuid string, begin func(*Context) (visit func(event.Event) error)) (*Context, error) {
	lock, err := s.lockContext(uuid)
	if err != nil {
		return nil, fmt.Errorf("context %s: %w", uuid, err)
	}
	var c *Context
	if s.o.Member == nil {
		c, err = s.hold(uuid, begin)
	} else {
		c, err = s.holdShared(uuid, begin)
	}
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("context %s: %w", uuid, err)
	}
	c.lock = lock
	return c, nil
}

// holdShared is hold with the history's copy.
func (s *Store) holdShared(uuid string, begin func(*Context) func(event.Event) error) (*Context, error) {
	pos, healed, err := s.bring(uuid, 0)
	if err != nil {
		return nil, err
	}
	ctx, cancel := shared()
	defer cancel()
	c, err := s.hold(uuid, begin)
	if ExitCode(err) == ExitDamage {
		// The copy here was damaged: the history may have what it lost.
		at, locateErr := s.locate(uuid)
		if locateErr != nil {
			return nil, err
		}
		var equal bool
		if pos, healed, equal, locateErr = s.reconcile(ctx, uuid, at, 0); locateErr == nil && !equal {
			pos, healed, locateErr = s.bring(uuid, 0)
		}
		if locateErr != nil {
			return nil, err
		}
		c, err = s.hold(uuid, begin)
	}
	if err != nil {
		return nil, err
	}
	if err := s.fetchObjects(ctx, uuid, c.Objects()); err != nil {
		return nil, errors.Join(err, c.closeLog())
	}
	c.healed, c.replica = healed, &replica{bus: s.o.Bus, uuid: uuid, pos: pos}
	if c.log != nil {
		c.log.Replicate(c.replica)
	}
	return c, nil
}

// here takes a context for what concerns only the copy of this machine.
func (s *Store) here(uuid string) (*Context, error) {
	if err := checkUUID(uuid); err != nil {
		return nil, err
	}
	lock, err := s.lock(uuid + ".lock")
	if err != nil {
		return nil, fmt.Errorf("context %s: %w", uuid, err)
	}
	c, err := s.hold(uuid, func(*Context) func(event.Event) error { return nil })
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("context %s: %w", uuid, err)
	}
	c.lock = lock
	if err := c.Relocate(); err != nil {
		return nil, errors.Join(fmt.Errorf("context %s: %w", uuid, err), c.Close())
	}
	return c, nil
}

func (s *Store) hold(uuid string, begin func(*Context) func(event.Event) error) (*Context, error) {
	at, err := s.keepLongest(uuid)
	if err != nil {
		return nil, err
	}
	c := s.context(uuid, at)
	if err := c.open(begin(c)); err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		c.closeLog()
		return nil, err
	}
	// A move by a process that was killed is seen but perhaps not durable. What
	// is acknowledged from now on must not go back to .staging/ with the directory.
	if err := s.fs.SyncDir(string(at)); err != nil {
		c.closeLog()
		return nil, err
	}
	return c, nil
}

// recall reads what the index knows of the context.
func (c *Context) recall(task string) error {
	c.known, c.stale = Info{}, true
	x, err := c.s.load()
	if err == nil {
		var found bool
		c.known, found, err = x.get(task, c.uuid)
		c.stale = !found
		x.Close()
	}
	if errors.Is(err, errIndex) {
		return nil
	}
	c.info.watch = c.known.Head
	return err
}

// check holds the log that was read against its directory and the index.
func (c *Context) check() error {
	if c.ahead() {
		return &DamageError{Name: c.path(), Reason: "it lies in completed/, but its log has not ended"}
	}
	if err := c.info.held(); err != nil {
		return err
	}
	c.stale = c.stale || c.known.State != c.info.State || c.known.Archived != (c.log == nil) ||
		c.info.Over() && c.known.Head != c.info.Head
	return nil
}

// ahead tells whether the directory lies where its log never sent it.
// Directories move after the log is durable, so the end of the log is lost.
func (c *Context) ahead() bool { return c.at == Completed && !c.ended }

// open opens the log and folds from it where the context belongs.
func (c *Context) open(visit func(event.Event) error) error {
	c.want, c.ended = "", false
	c.info, c.descent = Info{UUID: c.uuid}, descent{}
	log, torn, err := eventlog.Open(c.s.fs, c.path(), quarantineDir+"/"+c.uuid, func(r eventlog.Record) error {
		return c.see(r, visit)
	})
	if isMissing(err) {
		if _, archived := c.s.fs.Lstat(path.Join(c.path(), eventlog.ArchiveName)); archived == nil {
			return c.openArchive(visit)
		}
		return c.vanished(err)
	}
	if err != nil {
		return err
	}
	if c.want == "" {
		log.Close()
		return &DamageError{Name: c.path(), Reason: "its log holds no event"}
	}
	if err := c.descent.end(c.path(), c.uuid); err != nil {
		log.Close()
		return err
	}
	c.log = log
	if c.replica != nil {
		log.Replicate(c.replica)
	}
	if torn != nil {
		c.torn = torn
	}
	return nil
}

// openArchive reads an archived log. It is unpacked only to be appended to.
func (c *Context) openArchive(visit func(event.Event) error) error {
	for r, err := range eventlog.ReadFile(c.s.fs, c.path()) {
		if err == nil {
			err = c.see(r, visit)
		}
		if err != nil {
			return err
		}
	}
	if c.want == "" {
		return &DamageError{Name: c.path(), Reason: "its archive holds no event"}
	}
	return c.descent.end(c.path(), c.uuid)
}

// unpack makes an archived log one that can be appended to.
func (c *Context) unpack() error {
	if c.log != nil {
		return nil
	}
	if err := eventlog.Unpack(c.s.fs, c.path()); err != nil {
		return err
	}
	log, _, err := eventlog.Open(c.s.fs, c.path(), quarantineDir+"/"+c.uuid, func(eventlog.Record) error { return nil })
	if c.log = log; err == nil && c.replica != nil {
		log.Replicate(c.replica)
	}
	return err
}

// vanished tells a context without a log, which is damage, from a store that
// was removed under our feet.
func (c *Context) vanished(err error) error {
	if _, statErr := c.s.fs.Lstat(c.path()); statErr == nil {
		return &DamageError{Name: c.path(), Reason: "it has no log"}
	}
	return err
}

func (c *Context) see(r eventlog.Record, visit func(event.Event) error) error {
	e, err := toFold(c.path(), r)
	if err != nil {
		return err
	}
	if err := c.descent.apply(e, c.info.Head); err != nil {
		return &DamageError{Name: c.path(), Reason: err.Error()}
	}
	if created, ok := e.Body.(*event.ContextCreated); ok {
		if created.Format > event.Format {
			return fmt.Errorf("seq %d: format %d: %w", e.Seq, created.Format, event.ErrNewer)
		}
		if err := c.recall(created.TaskKey); err != nil {
			return err
		}
	}
	event.Fetch(e.Body, func(hash string) ([]byte, error) { return c.s.blob(c.uuid, c.path(), hash) })
	c.follow(e)
	c.info.saw(eventlog.HeadOf(r))
	if visit == nil {
		return nil
	}
	return visit(e)
}

// decode reads a record. What this release should understand and does not is damage.
func decode(name string, r eventlog.Record) (event.Event, error) {
	e, err := event.Decode(r)
	return e, undecoded(name, err)
}

// toFold is decode for folds.
func toFold(name string, r eventlog.Record) (event.Event, error) {
	e, err := event.DecodeToFold(r)
	return e, undecoded(name, err)
}

func undecoded(name string, err error) error {
	if err != nil && !errors.Is(err, event.ErrNewer) {
		return &DamageError{Name: name, Reason: err.Error()}
	}
	return err
}

// follow keeps track of where the events so far send the directory.
func (c *Context) follow(e event.Event) {
	c.info.apply(e)
	switch e.Body.(type) {
	case *event.ContextCreated, *event.ContextResumed, *event.ContextForked:
		c.want, c.ended = Running, false
	case *event.ContextPaused, *event.ContextAwaiting:
		c.want = Paused
	case *event.ContextCompleted, *event.ContextStopped, *event.ContextFailed:
		c.want, c.ended = Completed, true
	}
}

// lifecycle tells the events that change the state of a context.
func lifecycle(b event.Body) bool {
	switch b.(type) {
	case *event.ContextCreated, *event.ContextForked, *event.ContextResumed, *event.ContextPaused, *event.ContextAwaiting,
		*event.ContextCompleted, *event.ContextStopped, *event.ContextFailed:
		return true
	}
	return false
}
