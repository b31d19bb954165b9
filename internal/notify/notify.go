// Package notify tells people of what happened to tasks: by commands, webhooks, ntfy, Slack and e-mail.
//
// It sends beside the work. [Notifier.Saw] takes a durable event and never waits for a receiver;
// each receiver has a queue of its own. An attempt has a time limit, an answer and an output
// a bound, and [Notifier.Close] ends within some seconds, whatever a receiver does.
//
// Each receiver is told of an event at most once, also over restarts and kill -9: before the first
// attempt the event is claimed in the store ([contexts.Store.ClaimNotice]), durably. Further attempts are made
// only where the receiver cannot have taken the message: it was not reached, or says that it is
// too busy. An event that no process has claimed, because the one that wrote it died, is told by the next
// process, if it is not older than a day. So a message is lost if the process dies while it sends it,
// if a receiver fails in any other way, or if it fails three times.
//
// What is told comes from the log alone. It is redacted again before it is sent. What went wrong is a
// warning in the program's log.
package notify

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/config"
	"agent/internal/i18n"
	"agent/internal/redact"
	"agent/projections"
)

const (
	queue       = 256 // messages that wait for one receiver
	young       = 24 * time.Hour
	lookEvery   = 5 * time.Minute // for what processes that died did not tell
	lastSending = 5 * time.Second
)

// Options of a notifier.
type Options struct {
	Store   *contexts.Store
	Notify  []config.Notification
	Redact  *redact.Redactor
	Lang    i18n.Lang
	Log     *slog.Logger
	Version string // of the program
}

// Notifier tells receivers of events until it is closed.
type Notifier struct {
	o         Options
	run       string
	receivers []*receiver
	ids       []string

	ctx     context.Context // of sending
	cancel  context.CancelFunc
	closing chan struct{}
	grace   time.Duration // at the end of the process
	workers sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	followed map[string]*followed // by uuid
}

// followed is a context whose events are told.
type followed struct {
	waiting int  // messages that no receiver is done with
	over    bool // nothing more comes from this process
	behind  bool // a queue was full, or the store failed: the rest is read from the log later
}

// item is a message that waits for a receiver.
type item struct {
	uuid string
	seq  uint64
	Message
}

// New makes a notifier, and begins with what processes that died did not tell.
func New(o Options) *Notifier {
	n := &Notifier{o: o, run: uuid.NewString(), grace: lastSending, closing: make(chan struct{}), followed: map[string]*followed{}}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	for i, c := range o.Notify {
		r := newReceiver(i, c, o.Version)
		n.receivers, n.ids = append(n.receivers, r), append(n.ids, r.id)
		n.workers.Go(func() { n.serve(r) })
	}
	n.workers.Go(n.lookForUntold)
	return n
}

// Saw takes an event that is durable, with the state after it.
func (n *Notifier) Saw(ev event.Event, s *projections.State) {
	if s.Created == nil || s.Fork != nil { // a person runs a fork
		return
	}
	id := s.Created.UUID
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	f := n.followed[id]
	if f == nil {
		f = n.follow(id, ev.Seq)
	}
	f.over = false
	n.tell(f, id, ev, s)
	n.end(f, id, ends(ev.Body))
}

// follow begins with a context. What a process that died did not tell comes first.
func (n *Notifier) follow(id string, seq uint64) *followed {
	f := &followed{}
	n.followed[id] = f
	notes, err := n.o.Store.OpenNotices(id, n.run, n.ids, seq-1)
	if err == nil {
		err = n.readUntold(f, id, notes, seq-1)
	}
	if err != nil {
		f.behind = true
		n.o.Log.Warn("notifications of a context are left out", "context", id, "error", err)
	}
	return f
}

// tell hands an event to the receivers that want it.
func (n *Notifier) tell(f *followed, id string, ev event.Event, s *projections.State) {
	kinds := kindsOf(ev.Body, s)
	if len(kinds) == 0 || f.behind {
		return
	}
	m := n.message(kinds[0], ev, s)
	for _, r := range n.receivers {
		if !r.wants(kinds) {
			continue
		}
		select {
		case r.queue <- item{id, ev.Seq, m}:
			f.waiting++
		default:
			f.behind = true
		}
	}
}

// end notes that nothing more comes from this process, if so.
func (n *Notifier) end(f *followed, id string, over bool) {
	f.over = f.over || over
	if !f.over || f.waiting > 0 {
		return
	}
	delete(n.followed, id)
	if f.behind {
		return
	}
	if err := n.o.Store.CloseNotices(id, n.run); err != nil {
		n.o.Log.Warn("a note on notifications could not be removed", "context", id, "error", err)
	}
}

// ends reports whether the process adds nothing more after an event.
func ends(b event.Body) bool {
	switch b.(type) {
	case *event.ProcessEnded, *event.ContextCompleted, *event.ContextStopped, *event.ContextFailed:
		return true
	}
	return false
}

// serve sends one message after the other to a receiver.
func (n *Notifier) serve(r *receiver) {
	for it := range r.queue {
		left := n.ctx.Err() != nil // the next process tells it
		if !left {
			n.send(r, it)
		}
		n.mu.Lock()
		f := n.followed[it.uuid]
		f.waiting--
		f.behind = f.behind || left
		n.end(f, it.uuid, false)
		n.mu.Unlock()
	}
}

func (n *Notifier) send(r *receiver, it item) {
	log := n.o.Log.With("task", it.Task, "context", it.uuid, "event", it.Event, "receiver", r.name)
	ok, err := n.o.Store.ClaimNotice(it.uuid, r.id, it.seq)
	if err != nil {
		log.Warn("notification not sent", "error", err)
	}
	if !ok {
		return
	}
	attempts, err := r.deliver(n.ctx, it.Message)
	if err != nil {
		log.Warn("notification not sent", "error", err, "attempts", attempts)
		return
	}
	log.Info("notification sent", "attempts", attempts)
}

// Close sends what is left, for a few seconds at most.
func (n *Notifier) Close() error {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	close(n.closing)
	for _, r := range n.receivers {
		close(r.queue)
	}
	late := time.AfterFunc(n.grace, n.cancel)
	defer late.Stop()
	n.workers.Wait()
	n.cancel()
	return nil
}
