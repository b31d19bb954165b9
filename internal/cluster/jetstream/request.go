package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"agent/internal/cluster"
)

// An answer is waited for no longer than this before the question is sent again: to
// another leader, after the one that it was sent to has died.
const attemptTime = 2 * time.Second

// A server that was stopped, or cut off from the others, may answer as the leader for a
// moment. So an answer that looks as if something had been lost is asked for again.
const (
	maxDoubts = 20
	doubtTime = 100 * time.Millisecond
)

// final is an error that no repetition changes.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

// bounded gives a context that has an end.
func (b *Bus) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, limited := ctx.Deadline(); limited {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, b.o.Timeout)
}

// retry does something that may be done twice, until it has an answer or the time is over.
func (b *Bus) retry(ctx context.Context, what string, do func(context.Context) error) error {
	ctx, cancel := b.bounded(ctx)
	defer cancel()
	var last error
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 250*time.Millisecond) {
		err := ctx.Err()
		if err == nil {
			attempt, done := context.WithTimeout(ctx, attemptTime)
			err = do(attempt)
			done()
		}
		if f, is := errors.AsType[final](err); is {
			return fmt.Errorf("%s: %w", what, f.error)
		}
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		if !b.pause(ctx, wait) {
			return b.unreachable(ctx, what, last)
		}
	}
}

// pause waits, and says whether there is time for more.
func (b *Bus) pause(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return !b.nc.IsClosed()
	case <-ctx.Done():
	case <-b.live.Done():
	}
	return false
}

func (b *Bus) unreachable(ctx context.Context, what string, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		err = ctx.Err()
	}
	if err == nil {
		err = nats.ErrConnectionClosed
	}
	return fmt.Errorf("%s: %w: %w", what, cluster.ErrUnreachable, err)
}

func apiCode(err error) jetstream.ErrorCode {
	if api, is := errors.AsType[*jetstream.APIError](err); is {
		return api.ErrorCode
	}
	return 0
}

// stored is a message of a stream.
type stored struct {
	Subject string      `json:"subject"`
	Seq     uint64      `json:"seq"`
	Header  nats.Header `json:"-"`
	Data    []byte      `json:"data"`
	Raw     []byte      `json:"hdrs"`
}

// latest asks the leader of a stream for the last message of a subject; one with Seq 0
// says that there is none.
func (b *Bus) latest(ctx context.Context, stream, subject string) (m stored, err error) {
	err = b.retry(ctx, "ask for "+subject, func(ctx context.Context) error {
		question, _ := json.Marshal(map[string]string{"last_by_subj": subject})
		reply, err := b.nc.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET."+stream, question)
		if err != nil {
			return err
		}
		var answer struct {
			Error   *jetstream.APIError `json:"error"`
			Message *stored             `json:"message"`
		}
		if err := json.Unmarshal(reply.Data, &answer); err != nil {
			return err
		}
		switch {
		case answer.Error != nil && answer.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
			m = stored{}
			return nil
		case answer.Error != nil:
			return answer.Error
		case answer.Message == nil:
			return errors.New("an answer without a message")
		}
		m = *answer.Message
		if len(m.Raw) > 0 {
			m.Header, err = nats.DecodeHeadersMsg(m.Raw)
		}
		return err
	})
	return m, err
}

// direct asks any replica for the message of a subject that never changes. A replica that
// is behind does not have it yet, so the leader is asked, too.
func (b *Bus) direct(ctx context.Context, stream, subject string) (m stored, err error) {
	attempt, done := context.WithTimeout(ctx, attemptTime)
	defer done()
	reply, err := b.nc.RequestWithContext(attempt, "$JS.API.DIRECT.GET."+stream+"."+subject, nil)
	if err != nil || reply.Header.Get("Status") != "" {
		return b.latest(ctx, stream, subject)
	}
	return stored{Subject: subject, Seq: sequence(reply.Header, jetstream.SequenceHeader), Header: reply.Header, Data: reply.Data}, nil
}

// publish sends a message to a stream and says how to wait for the answer. The message
// may be sent more than once: that must be no harm.
func (b *Bus) publish(m *nats.Msg) func(ctx context.Context) (*jetstream.PubAck, error) {
	send := func() (jetstream.PubAckFuture, error) {
		return b.js.PublishMsgAsync(m, jetstream.WithRetryAttempts(1), jetstream.WithRetryWait(100*time.Millisecond))
	}
	future, err := send()
	return func(ctx context.Context) (ack *jetstream.PubAck, _ error) {
		return ack, b.retry(ctx, "publish "+m.Subject, func(ctx context.Context) error {
			if future == nil && err == nil {
				future, err = send()
			}
			f, failed := future, err
			future, err = nil, nil // of this attempt
			if failed != nil {
				return failed
			}
			select {
			case ack = <-f.Ok():
				return nil
			case failed := <-f.Err():
				if apiCode(failed) == jetstream.JSErrCodeStreamWrongLastSequence || occupied(failed) {
					return final{failed}
				}
				return failed
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}
}

// occupied tells that a subject has as many messages as it may have. The code is that of
// any failure to store, as of a full disk.
func occupied(err error) bool {
	api, is := errors.AsType[*jetstream.APIError](err)
	return is && strings.Contains(api.Description, "maximum messages per subject")
}
