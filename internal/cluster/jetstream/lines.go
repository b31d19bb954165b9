package jetstream

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"agent/internal/cluster"
)

// What one request for lines may bring. More of them come faster by a consumer, which
// takes longer to make than a request.
const (
	batchLines = 500
	batchBytes = 4 << 20
)

// Lines implements [cluster.History]. The leader says which line is the last one, any
// replica gives them.
func (b *Bus) Lines(ctx context.Context, uuid string, from uint64) iter.Seq2[cluster.Line, error] {
	return func(yield func(cluster.Line, error) bool) {
		if err := contextName(uuid); err != nil {
			yield(cluster.Line{}, err)
			return
		}
		r := reader{b: b, uuid: uuid, next: max(from, 1)}
		progress, wait := time.Now(), time.Duration(0)
		for {
			last, err := b.latest(ctx, b.history(), b.lineSubject(uuid))
			if err != nil {
				yield(cluster.Line{}, err)
				return
			}
			if r.end == 0 || last.Seq < r.end { // lines may have been removed
				r.end = last.Seq
			}
			before := r.next
			if err = r.read(ctx, yield); err == errStopped {
				return
			}
			if r.next > before {
				progress, wait = time.Now(), 0
			}
			if r.next > r.end {
				return
			}
			// That replica is behind, or did not answer.
			wait = min(2*wait+10*time.Millisecond, time.Second)
			if _, limited := ctx.Deadline(); !b.pause(ctx, wait) || !limited && time.Since(progress) > b.o.Timeout {
				yield(cluster.Line{}, b.unreachable(ctx, "read the lines of "+uuid, err))
				return
			}
		}
	}
}

// reader reads the lines of a context.
type reader struct {
	b         *Bus
	uuid      string
	next, end uint64
}

var errStopped = io.EOF // the reader wants no more

// read reads as many lines as it can.
func (r *reader) read(ctx context.Context, yield func(cluster.Line, error) bool) error {
	if r.next > r.end {
		return nil
	}
	more, err := r.batch(ctx, yield)
	if err != nil || !more || r.next > r.end {
		return err
	}
	c, err := r.b.consume(ctx, r.b.history(), jetstream.ConsumerConfig{DeliverPolicy: jetstream.DeliverByStartSequencePolicy,
		OptStartSeq: r.next, FilterSubject: r.b.lineSubject(r.uuid)})
	if err != nil {
		return err
	}
	defer c.close()
	for r.next <= r.end {
		attempt, done := context.WithTimeout(ctx, attemptTime)
		m, meta, err := c.next(attempt)
		done()
		if err != nil {
			return err
		}
		if err := r.give(ctx, yield, meta.Sequence.Stream, m.Headers(), m.Data()); err != nil {
			return err
		}
	}
	return nil
}

// give gives a line to the reader, if it is one that it asked for.
func (r *reader) give(ctx context.Context, yield func(cluster.Line, error) bool, pos uint64, h nats.Header, data []byte) error {
	switch {
	case pos < r.next: // a replica that is behind begins earlier
		return nil
	case pos > r.end:
		r.next = r.end + 1
		return nil
	}
	line, err := r.b.line(ctx, r.uuid, pos, h, data)
	if err != nil {
		return err
	}
	r.next = pos + 1
	if !yield(line, nil) {
		return errStopped
	}
	return nil
}

// batch reads some lines, and says whether there may be more at once.
func (r *reader) batch(ctx context.Context, yield func(cluster.Line, error) bool) (more bool, err error) {
	sub, err := r.b.nc.SubscribeSync(r.b.nc.NewInbox())
	if err != nil {
		return false, err
	}
	defer sub.Unsubscribe()
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return false, err
	}
	question, _ := json.Marshal(map[string]any{"seq": r.next, "next_by_subj": r.b.lineSubject(r.uuid), "batch": batchLines, "max_bytes": batchBytes})
	if err := r.b.nc.PublishRequest("$JS.API.DIRECT.GET."+r.b.history(), sub.Subject, question); err != nil {
		return false, err
	}
	var before uint64
	for {
		attempt, done := context.WithTimeout(ctx, attemptTime)
		m, err := sub.NextMsgWithContext(attempt)
		done()
		if err != nil {
			return false, err
		}
		if status := m.Header.Get("Status"); status != "" {
			return status == "204" && before > 0 && m.Header.Get("Nats-Num-Pending") != "0", nil
		}
		pos := sequence(m.Header, jetstream.SequenceHeader)
		if pos < r.next || sequence(m.Header, jetstream.LastSequenceHeader) != before {
			return false, fmt.Errorf("line %d of %s came out of order", pos, r.uuid)
		}
		if err := r.give(ctx, yield, pos, m.Header, m.Data); err != nil || r.next > r.end {
			return false, err
		}
		before = pos
	}
}
