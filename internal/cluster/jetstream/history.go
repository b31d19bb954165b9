package jetstream

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"agent/internal/cluster"
)

const (
	headerExpected = jetstream.ExpectedLastSubjSeqHeader
	headerLarge    = "Agent-Line" // the hash of a line that is in the objects
	headerRoom     = 4096         // of a message's largest size, for its subject and header
)

func (b *Bus) lineSubject(uuid string) string { return b.o.Name + ".history." + uuid }

// roomFor is how much data a message may have.
func (b *Bus) room() int { return int(b.nc.MaxPayload()) - headerRoom }

func sequence(h nats.Header, name string) uint64 {
	n, _ := strconv.ParseUint(h.Get(name), 10, 64)
	return n
}

// contextName checks the name of a context, which is one token of a subject.
func contextName(uuid string) error {
	t, err := tokens(uuid)
	if err == nil && t != uuid {
		err = fmt.Errorf("%q is no name of a context", uuid)
	}
	return err
}

func failed(err error) func() (uint64, error) {
	return func() (uint64, error) { return 0, err }
}

// Append implements [cluster.History].
func (b *Bus) Append(ctx context.Context, uuid string, after uint64, line []byte) (wait func() (uint64, error)) {
	if err := contextName(uuid); err != nil {
		return failed(err)
	}
	if ctx.Err() != nil {
		return failed(b.unreachable(ctx, "append to "+uuid, ctx.Err()))
	}
	data := bytes.Clone(line)
	m := &nats.Msg{Subject: b.lineSubject(uuid), Data: data, Header: nats.Header{}}
	if fenced {
		m.Header[headerExpected] = []string{strconv.FormatUint(after, 10)}
	}
	if len(data) > b.room() {
		return func() (uint64, error) {
			hash := hex.EncodeToString(sum(data))
			if err := b.putParts(ctx, largeRoot(uuid)+hash, data); err != nil {
				return 0, err
			}
			m.Data = nil
			m.Header[headerLarge] = []string{hash}
			return b.appended(ctx, uuid, after, m, b.publish(m))
		}
	}
	answer := b.publish(m)
	return func() (uint64, error) { return b.appended(ctx, uuid, after, m, answer) }
}

func sum(data []byte) []byte {
	h := sha256.Sum256(data)
	return h[:]
}

// appended waits for the position of a line.
func (b *Bus) appended(ctx context.Context, uuid string, after uint64, m *nats.Msg, answer func(context.Context) (*jetstream.PubAck, error)) (uint64, error) {
	ctx, cancel := b.bounded(ctx)
	defer cancel()
	for doubts := 0; ; doubts++ {
		ack, err := answer(ctx)
		if err == nil {
			return ack.Sequence, nil
		}
		if apiCode(err) != jetstream.JSErrCodeStreamWrongLastSequence {
			return 0, err
		}
		last, err := b.latest(ctx, b.history(), m.Subject)
		switch {
		case err != nil:
			return 0, err
		case last.Seq == after, last.Seq < after && doubts < maxDoubts: // the answers are about two states
			answer = b.publish(m)
			if !b.pause(ctx, doubtTime) {
				return 0, b.unreachable(ctx, "append to "+uuid, ctx.Err())
			}
		case last.Seq > after && sequence(last.Header, headerExpected) == after && last.Header.Get(headerExpected) != "" &&
			last.Header.Get(headerLarge) == m.Header.Get(headerLarge) && bytes.Equal(last.Data, m.Data):
			return last.Seq, nil // it is ours, and an answer was lost
		default:
			return 0, fmt.Errorf("append to %s: the last line is at %d, not at %d: %w", uuid, last.Seq, after, cluster.ErrStale)
		}
	}
}

// line makes a line of the message that holds or names it.
func (b *Bus) line(ctx context.Context, uuid string, pos uint64, h nats.Header, data []byte) (cluster.Line, error) {
	if hash := h.Get(headerLarge); hash != "" {
		var err error
		if data, err = b.parts(ctx, largeRoot(uuid)+hash); err != nil {
			return cluster.Line{}, fmt.Errorf("line %d of %s: %w", pos, uuid, err)
		}
	}
	return cluster.Line{UUID: uuid, Pos: pos, Data: data}, nil
}

// Last implements [cluster.History].
func (b *Bus) Last(ctx context.Context, uuid string) (cluster.Line, error) {
	if err := contextName(uuid); err != nil {
		return cluster.Line{}, err
	}
	m, err := b.latest(ctx, b.history(), b.lineSubject(uuid))
	if err != nil || m.Seq == 0 {
		return cluster.Line{}, err
	}
	return b.line(ctx, uuid, m.Seq, m.Header, m.Data)
}

// state asks the leader of a stream how it is.
func (b *Bus) state(ctx context.Context, stream string, opts ...jetstream.StreamInfoOpt) (info *jetstream.StreamInfo, err error) {
	err = b.retry(ctx, "ask for the state of "+stream, func(ctx context.Context) error {
		s, err := b.js.Stream(ctx, stream)
		if err == nil && len(opts) > 0 {
			info, err = s.Info(ctx, opts...)
		} else if err == nil {
			info = s.CachedInfo()
		}
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			return final{fmt.Errorf("%w: %w", cluster.ErrMissing, err)}
		}
		return err
	})
	return info, err
}

// End implements [cluster.History].
func (b *Bus) End(ctx context.Context) (uint64, error) {
	info, err := b.state(ctx, b.history())
	if err != nil {
		return 0, err
	}
	return info.State.LastSeq, nil
}

// Forget implements [cluster.History].
func (b *Bus) Forget(ctx context.Context, uuid string) error {
	if err := contextName(uuid); err != nil {
		return err
	}
	if err := b.purge(ctx, b.history(), b.lineSubject(uuid)); err != nil {
		return err
	}
	return b.purge(ctx, b.objects(), b.partSubject("*", largeRoot(uuid)+">"))
}

// purge removes the messages of some subjects.
func (b *Bus) purge(ctx context.Context, stream, subjects string) error {
	return b.retry(ctx, "remove "+subjects, func(ctx context.Context) error {
		s, err := b.js.Stream(ctx, stream)
		if err != nil {
			return err
		}
		return s.Purge(ctx, jetstream.WithPurgeSubject(subjects))
	})
}
