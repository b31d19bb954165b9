package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"agent/internal/cluster"
)

// deletedFor is how long a mark is kept that a key was deleted. A watch that cannot
// continue for longer than its consumer lives ends, so none misses a mark.
const deletedFor = time.Hour

const (
	headerOperation = "KV-Operation" // of a mark that a key was deleted
	headerMarker    = "Nats-Marker-Reason"
	headerTTL       = "Nats-TTL"
)

func (b *Bus) keyPrefix() string { return "$KV." + b.o.Name + "_keys." }

func (b *Bus) keySubject(key string) (string, error) {
	t, err := tokens(key)
	return b.keyPrefix() + t, err
}

func deleted(h nats.Header) bool {
	op := h.Get(headerOperation)
	return op == "DEL" || op == "PURGE" || h.Get(headerMarker) != ""
}

// Key implements [cluster.Keys].
func (b *Bus) Key(ctx context.Context, key string) (cluster.Value, error) {
	subject, err := b.keySubject(key)
	if err != nil {
		return cluster.Value{}, err
	}
	m, err := b.latest(ctx, b.keys(), subject)
	if err == nil && (m.Seq == 0 || deleted(m.Header)) {
		err = fmt.Errorf("key %s: %w", key, cluster.ErrMissing)
	}
	if err != nil {
		return cluster.Value{}, err
	}
	return cluster.Value{Key: key, Data: m.Data, Revision: m.Seq}, nil
}

// SetKey implements [cluster.Keys].
func (b *Bus) SetKey(ctx context.Context, key string, data []byte, revision uint64) (uint64, error) {
	return b.setKey(ctx, key, revision, data, nats.Header{})
}

// DeleteKey implements [cluster.Keys].
func (b *Bus) DeleteKey(ctx context.Context, key string, revision uint64) error {
	_, err := b.setKey(ctx, key, revision, nil, nats.Header{headerOperation: {"DEL"}, headerTTL: {deletedFor.String()}})
	return err
}

func (b *Bus) setKey(ctx context.Context, key string, revision uint64, data []byte, h nats.Header) (uint64, error) {
	subject, err := b.keySubject(key)
	if err != nil {
		return 0, err
	}
	ctx, cancel := b.bounded(ctx)
	defer cancel()
	expect := revision
	for doubts := 0; ; doubts++ {
		h[headerExpected] = []string{strconv.FormatUint(expect, 10)}
		made, err := b.setOnce(ctx, &nats.Msg{Subject: subject, Data: data, Header: h})
		if apiCode(err) != jetstream.JSErrCodeStreamWrongLastSequence {
			return made, err
		}
		last, err := b.latest(ctx, b.keys(), subject)
		gone := last.Seq == 0 || deleted(last.Header)
		switch {
		case err != nil:
			return 0, err
		case last.Seq == expect, last.Seq < expect && doubts < maxDoubts: // the answers are about two states
		case revision == 0 && gone:
			expect = last.Seq // a deleted key is as one that never was
			continue
		default:
			return 0, fmt.Errorf("key %s has another revision than %d: %w", key, revision, cluster.ErrStale)
		}
		if !b.pause(ctx, doubtTime) {
			return 0, b.unreachable(ctx, "set "+key, ctx.Err())
		}
	}
}

// setOnce sends a change of a key. It is not sent again if there is no answer: the answer
// to the second one would be that somebody was first, and that may be the first one.
func (b *Bus) setOnce(ctx context.Context, m *nats.Msg) (made uint64, err error) {
	err = b.retry(ctx, "set "+m.Subject, func(ctx context.Context) error {
		ack, err := b.js.PublishMsg(ctx, m, jetstream.WithRetryAttempts(0))
		switch {
		case err == nil:
			made = ack.Sequence
			return nil
		case errors.Is(err, jetstream.ErrNoStreamResponse), errors.Is(err, nats.ErrNoResponders),
			apiCode(err) == jetstream.JSErrCodeStreamWrongLastSequenceConstant: // nothing was changed
			return err
		case apiCode(err) != 0:
			return final{err}
		}
		return final{fmt.Errorf("%w: %w", cluster.ErrUnreachable, err)}
	})
	return made, err
}

// WatchKeys implements [cluster.Keys]. It does not continue if its consumer was lost: marks
// of deleted keys may have gone since.
func (b *Bus) WatchKeys(ctx context.Context, prefix string) iter.Seq2[cluster.Value, error] {
	return func(yield func(cluster.Value, error) bool) {
		err := b.watch(ctx, prefix, yield)
		switch {
		case err == errStopped:
			return
		case ctx.Err() != nil:
			err = ctx.Err()
		case !errors.Is(err, cluster.ErrUnreachable):
			err = b.unreachable(ctx, "watch "+prefix, err)
		}
		yield(cluster.Value{}, err)
	}
}

func (b *Bus) watch(ctx context.Context, prefix string, yield func(cluster.Value, error) bool) error {
	subjects, err := filter(prefix)
	if err != nil {
		return err
	}
	if b.o.NoCreate { // there may be no keys yet, and nobody makes them while we wait
		if _, err := b.state(ctx, b.keys()); err != nil {
			return err
		}
	}
	c, err := b.consume(ctx, b.keys(), jetstream.ConsumerConfig{DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy, FilterSubject: b.keyPrefix() + subjects})
	if err != nil {
		return err
	}
	defer c.close()
	known, err := b.snapshot(ctx, c, subjects)
	if err != nil {
		return err
	}
	for _, v := range append(known, cluster.Value{}) {
		if !yield(v, nil) {
			return errStopped
		}
	}
	for {
		m, meta, err := c.next(ctx)
		if err != nil {
			return err
		}
		if !yield(b.value(m, meta), nil) {
			return errStopped
		}
	}
}

// snapshot reads the keys as they are. The consumer may be on a replica that is behind,
// so the leader says how far that is to come.
func (b *Bus) snapshot(ctx context.Context, c *consumer, subjects string) ([]cluster.Value, error) {
	newest, err := b.latest(ctx, b.keys(), b.keyPrefix()+subjects)
	if err != nil {
		return nil, err
	}
	values := map[string]cluster.Value{}
	var seen uint64
	for pending := c.info.NumPending; pending > 0 || seen < newest.Seq; {
		attempt, done := context.WithTimeout(ctx, b.o.Timeout)
		m, meta, err := c.next(attempt)
		done()
		if err != nil {
			return nil, err
		}
		v := b.value(m, meta)
		values[v.Key] = v
		seen, pending = v.Revision, meta.NumPending
	}
	return slices.SortedFunc(maps.Values(values), func(a, b cluster.Value) int { return cmp.Compare(a.Revision, b.Revision) }), nil
}

func (b *Bus) value(m jetstream.Msg, meta *jetstream.MsgMetadata) cluster.Value {
	v := cluster.Value{Key: name(strings.TrimPrefix(m.Subject(), b.keyPrefix())), Revision: meta.Sequence.Stream, Deleted: deleted(m.Headers())}
	if !v.Deleted {
		v.Data = m.Data()
	}
	return v
}
