package jetstream

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"agent/internal/cluster"
)

// What one request for lines may bring.
const (
	batchLines = 10_000
	batchBytes = 8 << 20
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
			for more := true; more && r.next <= r.end; {
				before := r.next
				if more, err = r.batch(ctx, yield); err == errStopped {
					return
				}
				if r.next > before {
					progress, wait = time.Now(), 0
				}
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
		if pos > r.end {
			r.next = r.end + 1
			return false, nil
		}
		line, err := r.b.line(ctx, r.uuid, pos, m.Header, m.Data)
		if err != nil {
			return false, err
		}
		before, r.next = pos, pos+1
		if !yield(line, nil) {
			return false, errStopped
		}
	}
}
