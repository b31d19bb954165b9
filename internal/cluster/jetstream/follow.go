package jetstream

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"agent/internal/cluster"
)

const (
	heartbeat   = 2 * time.Second // of a consumer that has nothing to say
	followBytes = 8 << 20         // wait for a slow reader
)

// consumer reads a stream in order, without acknowledgements. It lives in the memory of one
// server: when that dies, another one continues.
type consumer struct {
	b       *Bus
	info    *jetstream.ConsumerInfo
	c       jetstream.Consumer
	it      jetstream.MessagesContext
	counted uint64
}

func (b *Bus) consume(ctx context.Context, stream string, config jetstream.ConsumerConfig) (*consumer, error) {
	config.AckPolicy = jetstream.AckNonePolicy
	config.MemoryStorage = true
	config.Replicas = 1
	config.InactiveThreshold = time.Minute
	var c jetstream.Consumer
	err := b.retry(ctx, "read "+stream, func(ctx context.Context) (err error) {
		c, err = b.js.CreateConsumer(ctx, stream, config)
		return err
	})
	if err != nil {
		return nil, err
	}
	it, err := c.Messages(jetstream.PullMaxMessagesWithBytesLimit(500, followBytes), jetstream.PullHeartbeat(heartbeat), jetstream.PullExpiry(15*time.Second))
	if err != nil {
		return nil, b.unreachable(ctx, "read "+stream, err)
	}
	return &consumer{b: b, info: c.CachedInfo(), c: c, it: it}, nil
}

// next waits for a message. After an error the consumer is of no use.
func (c *consumer) next(ctx context.Context) (jetstream.Msg, *jetstream.MsgMetadata, error) {
	m, err := c.it.Next(jetstream.NextContext(ctx))
	if err != nil {
		return nil, nil, err
	}
	meta, err := m.Metadata()
	if err != nil {
		return nil, nil, err
	}
	if c.counted++; meta.Sequence.Consumer != c.counted {
		return nil, nil, fmt.Errorf("message %d came as number %d", meta.Sequence.Consumer, c.counted)
	}
	return m, meta, nil
}

func (c *consumer) close() {
	c.it.Stop()
	if !c.b.nc.IsConnected() {
		return // it ends by itself
	}
	ctx, cancel := context.WithTimeout(context.Background(), attemptTime)
	defer cancel()
	if err := c.b.js.DeleteConsumer(ctx, c.info.Stream, c.info.Name); err != nil {
		c.b.o.Log.Debug("a consumer ends by itself", "error", err)
	}
}

// follower is what Follow knows of the history.
type follower struct {
	b    *Bus
	next uint64    // position
	made time.Time // of the stream
	last time.Time // when the line before next was stored; zero if it was not seen
}

// Follow implements [cluster.History].
func (b *Bus) Follow(ctx context.Context, from uint64) iter.Seq2[cluster.Line, error] {
	return func(yield func(cluster.Line, error) bool) {
		f := follower{b: b, next: max(from, 1)}
		for {
			err := f.some(ctx, yield)
			switch {
			case err == errStopped:
				return
			case ctx.Err() != nil:
				err = ctx.Err()
			case !errors.Is(err, cluster.ErrMissing) && b.pause(ctx, 100*time.Millisecond):
				b.o.Log.Debug("follow the history anew", "from", f.next, "error", err)
				continue
			case b.nc.IsClosed():
				err = b.unreachable(ctx, "follow the history", nil)
			}
			yield(cluster.Line{}, err)
			return
		}
	}
}

// check fails if the history is not the one that was followed, or has lost its end.
func (f *follower) check(ctx context.Context) error {
	for doubts := 0; ; doubts++ {
		err := f.checkOnce(ctx)
		if !errors.Is(err, cluster.ErrMissing) || doubts == maxDoubts || !f.b.pause(ctx, doubtTime) {
			return err
		}
	}
}

func (f *follower) checkOnce(ctx context.Context) error {
	info, err := f.b.state(ctx, f.b.history())
	switch {
	case err != nil:
		return err
	case !f.made.IsZero() && !info.Created.Equal(f.made):
		return fmt.Errorf("the history was recreated at %v: %w", info.Created, cluster.ErrMissing)
	case f.next > info.State.LastSeq+1:
		return fmt.Errorf("follow the history from %d, its end is %d: %w", f.next, info.State.LastSeq, cluster.ErrMissing)
	}
	f.made = info.Created
	return nil
}

// some gives lines until there is an error. It begins with the line that was given last,
// to see that it is the same.
func (f *follower) some(ctx context.Context, yield func(cluster.Line, error) bool) error {
	if err := f.check(ctx); err != nil {
		return err
	}
	start := f.next
	if !f.last.IsZero() {
		start--
	}
	c, err := f.b.consume(ctx, f.b.history(), jetstream.ConsumerConfig{DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: start})
	if err != nil {
		return err
	}
	defer c.close()
	for {
		m, meta, err := c.next(ctx)
		if err != nil {
			return err
		}
		pos := meta.Sequence.Stream
		if pos == f.next-1 && !f.last.IsZero() && !meta.Timestamp.Equal(f.last) {
			return fmt.Errorf("line %d is another one than before: %w", pos, cluster.ErrMissing)
		}
		if pos < f.next { // a replica that is behind begins earlier
			continue
		}
		uuid := strings.TrimPrefix(m.Subject(), f.b.lineSubject(""))
		line, err := f.b.line(ctx, uuid, pos, m.Headers(), m.Data())
		if err != nil {
			return err
		}
		f.next, f.last = pos+1, meta.Timestamp
		if !yield(line, nil) {
			return errStopped
		}
	}
}
