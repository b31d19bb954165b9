package notify

import (
	"errors"
	"fmt"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/projections"
)

// lookForUntold tells from time to time what processes that died did not tell.
func (n *Notifier) lookForUntold() {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		notified, err := n.o.Store.Notified()
		if err != nil {
			n.o.Log.Warn("notes on notifications could not be read", "error", err)
		}
		for id, written := range notified {
			if err := n.catchUp(id); err != nil {
				n.giveUp(id, written, err)
			}
		}
		select {
		case <-n.closing:
			return
		case <-tick.C:
		}
	}
}

// catchUp tells what is not told of a context that nobody follows.
func (n *Notifier) catchUp(id string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || n.followed[id] != nil {
		return nil
	}
	if locked, err := n.o.Store.Locked(id); err != nil || locked {
		return err
	}
	mark, err := n.o.Store.MarkOf(id)
	if err != nil {
		return err
	}
	notes, err := n.o.Store.OpenNotices(id, n.run, n.ids, mark.Head.Seq)
	if err != nil {
		return err
	}
	f := &followed{}
	n.followed[id] = f
	err = n.readUntold(f, id, notes, mark.Head.Seq)
	f.behind = f.behind || err != nil || !ended[mark.Type]
	n.end(f, id, true)
	return err
}

// ended are the last events of a process that did not die.
var ended = map[string]bool{
	string((*event.ProcessEnded)(nil).Type()):     true,
	string((*event.ContextCompleted)(nil).Type()): true,
	string((*event.ContextStopped)(nil).Type()):   true,
	string((*event.ContextFailed)(nil).Type()):    true,
}

// readUntold tells the events up to a seq that not all receivers were told of.
func (n *Notifier) readUntold(f *followed, id string, notes contexts.Notices, to uint64) error {
	from := to
	for _, told := range notes.Told {
		from = min(from, told)
	}
	if from == to {
		return nil
	}
	s := projections.NewState()
	for ev, err := range n.o.Store.Events(id) {
		switch {
		case contexts.IsTorn(err):
			return nil
		case err != nil:
			return fmt.Errorf("what was not told: %w", err)
		case ev.Seq > to:
			return nil
		}
		s.Apply(ev)
		if ev.Seq > from && time.Since(ev.Time) < young && s.Fork == nil {
			n.tell(f, id, ev, s)
		}
	}
	return nil
}

// giveUp forgets a context that is gone, or that could not be read for a day.
func (n *Notifier) giveUp(id string, written time.Time, err error) {
	if !errors.Is(err, contexts.ErrUnknown) && time.Since(written) < young {
		n.o.Log.Warn("what is not told of a context could not be read", "context", id, "error", err)
		return
	}
	if err := n.o.Store.DropNotices(id); err != nil {
		n.o.Log.Warn("a note on notifications could not be removed", "context", id, "error", err)
	}
}
