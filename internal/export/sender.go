package export

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"agent/eventlog/event"
)

// Sender sends the spans of contexts while they are worked on. It is best effort: [Sender.Saw]
// never waits, and a collector that does not answer loses spans, not work. What a process
// that was killed did not send, the next one sends.
type Sender struct {
	source Source // of all contexts: without UUID
	client Client
	log    *slog.Logger

	seen chan seen
	done chan struct{}

	// The rest belongs to the goroutine that sends.
	folds   map[string]*spans
	handled map[string]uint64 // the latest event of each context that is not followed now
	pending []Span
	after   time.Time // no try before
	down    bool      // the latest try failed
}

type seen struct {
	uuid string
	ev   event.Event
}

const (
	queue       = 4096 // events, and spans, that wait to be sent
	sendEvery   = 5 * time.Second
	tryAgain    = 30 * time.Second
	lastSending = 3 * time.Second // at the end of the process
)

// NewSender begins to send. source says what the spans are made of; its UUID is not used.
func NewSender(source Source, client Client, log *slog.Logger) *Sender {
	s := &Sender{source: source, client: client, log: log, seen: make(chan seen, queue), done: make(chan struct{}),
		folds: map[string]*spans{}, handled: map[string]uint64{}}
	go s.run()
	return s
}

// Saw takes an event that is durable. It must not be called after Close. An event that
// there is no room for is read from the log later.
func (s *Sender) Saw(uuid string, ev event.Event) {
	select {
	case s.seen <- seen{uuid, ev}:
	default:
	}
}

// Close sends what is left, for a few seconds at most.
func (s *Sender) Close() error {
	close(s.seen)
	<-s.done
	return nil
}

func (s *Sender) run() {
	defer close(s.done)
	tick := time.NewTicker(sendEvery)
	defer tick.Stop()
	for {
		select {
		case e, ok := <-s.seen:
			if !ok {
				ctx, cancel := context.WithTimeout(context.Background(), lastSending)
				defer cancel()
				s.after = time.Time{}
				s.flush(ctx)
				return
			}
			s.add(e)
		case <-tick.C:
			s.flush(context.Background())
		}
	}
}

func (s *Sender) add(e seen) {
	f := s.folds[e.uuid]
	if f == nil || s.handled[e.uuid]+1 != e.ev.Seq {
		f = s.catchUp(e)
	}
	f.add(e.ev)
	s.handled[e.uuid], s.folds[e.uuid] = e.ev.Seq, f
	switch e.ev.Body.(type) {
	case *event.ProcessEnded, *event.ContextCompleted, *event.ContextStopped, *event.ContextFailed:
		delete(s.folds, e.uuid)
	}
	if len(s.pending) >= batchSize {
		s.flush(context.Background())
	}
}

// catchUp reads the log up to an event. Spans are sent from the first event on that was
// not seen here; if none was, from where the latest process ended that said so.
func (s *Sender) catchUp(e seen) *spans {
	source := s.source
	source.UUID, source.brief = e.uuid, !source.Content
	var since []Span
	f := newSpans(source, func(span Span) { since = append(since, span) })
	if e.ev.Seq > 1 {
		known := s.handled[e.uuid]
		var damage error // somebody else says it
		for ev := range source.events(&damage) {
			if ev.Seq >= e.ev.Seq {
				break
			}
			f.add(ev)
			if _, ended := ev.Body.(*event.ProcessEnded); ev.Seq == known || known == 0 && ended || len(since) > queue {
				since = nil
			}
		}
	}
	s.wait(since...)
	f.out = func(span Span) { s.wait(span) }
	return f
}

// wait keeps spans until they are sent. Where there is no room the oldest are lost.
func (s *Sender) wait(spans ...Span) {
	s.pending = append(s.pending, spans...)
	if more := len(s.pending) - queue; more > 0 {
		s.pending = append(s.pending[:0], s.pending[more:]...)
	}
}

func (s *Sender) flush(ctx context.Context) {
	for len(s.pending) > 0 && time.Now().After(s.after) {
		n := min(len(s.pending), batchSize)
		data, err := s.source.marshal(batch(s.source.Version, s.pending[:n]))
		if err == nil {
			err = s.client.Post(ctx, data)
		}
		var answer *Answer
		if err != nil && (!errors.As(err, &answer) || answer.temporary()) {
			s.failed(err, answer)
			return
		}
		if err != nil { // they will not be taken later either
			s.log.Warn("telemetry: spans were refused", "error", err, "spans", n)
		}
		s.pending, s.down = append(s.pending[:0], s.pending[n:]...), false
	}
}

// failed says once that the collector cannot be reached, and leaves it alone for a while.
func (s *Sender) failed(err error, answer *Answer) {
	s.after = time.Now().Add(tryAgain)
	if answer != nil && answer.After > 0 {
		s.after = time.Now().Add(answer.After)
	}
	if !s.down {
		s.log.Warn("telemetry: spans could not be sent", "error", err)
	}
	s.down = true
}
