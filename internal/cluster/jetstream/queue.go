package jetstream

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"agent/internal/cluster"
)

const (
	lanes = 10
	// A job that was announced may not have come to the leader of its consumer yet.
	lateTime = 100 * time.Millisecond
)

// Offer implements [cluster.Queue].
func (b *Bus) Offer(ctx context.Context, id string, lane int, data []byte) error {
	t, err := tokens(id)
	if err == nil && (lane < 0 || lane >= lanes) {
		err = fmt.Errorf("offer %s: there is no lane %d", id, lane)
	}
	if err != nil {
		return err
	}
	// The identity keeps a repetition of this very offer out, after its job was done already.
	m := &nats.Msg{Subject: fmt.Sprintf("%s.queue.%d.%s", b.o.Name, lane, t), Data: data, Header: nats.Header{jetstream.MsgIDHeader: {rand.Text()}}}
	_, err = b.publish(m)(ctx)
	if occupied(err) {
		return nil
	}
	if err == nil {
		b.announce(lane)
	}
	return err
}

func (b *Bus) wakeSubject(lane string) string { return b.o.Name + ".wake." + lane }

// announce wakes those who wait for a job. Nothing depends on that it is heard.
func (b *Bus) announce(lane int) {
	if err := b.nc.Publish(b.wakeSubject(strconv.Itoa(lane)), nil); err != nil {
		b.o.Log.Debug("a job was not announced", "error", err)
	}
}

// taker is what those who wait for a job in this process share. They ask for jobs when they
// begin, when one is announced, and now and then, for those that another worker has
// given up. No request for a job ever outlives the call that made it: it could bring one that
// nobody wants, before others of a lower lane.
type taker struct {
	mu      sync.Mutex
	ready   bool // the consumers are there
	waiting map[chan int]bool
}

func consumerName(lane int) string { return "lane" + strconv.Itoa(lane) }

// prepareLanes makes the consumers.
func (b *Bus) prepareLanes(ctx context.Context) error {
	b.take.mu.Lock()
	ready := b.take.ready
	b.take.mu.Unlock()
	if ready {
		return nil
	}
	sub, err := b.nc.Subscribe(b.wakeSubject("*"), b.wake)
	if err != nil {
		return b.unreachable(ctx, "take a job", err)
	}
	err = atOnce(lanes, func(lane int) error {
		return b.retry(ctx, "make a consumer", func(ctx context.Context) error {
			_, err := b.js.CreateOrUpdateConsumer(ctx, b.queue(), jetstream.ConsumerConfig{
				Durable: consumerName(lane), FilterSubject: fmt.Sprintf("%s.queue.%d.>", b.o.Name, lane), AckPolicy: jetstream.AckExplicitPolicy,
				AckWait: b.o.AckWait, MaxDeliver: -1, MaxAckPending: -1, MaxWaiting: 16384})
			return err
		})
	})
	b.take.mu.Lock()
	defer b.take.mu.Unlock()
	if err != nil || b.take.ready {
		return errors.Join(err, sub.Unsubscribe())
	}
	b.take.ready = true
	return nil
}

func (b *Bus) wake(m *nats.Msg) {
	lane, err := strconv.Atoi(strings.TrimPrefix(m.Subject, b.wakeSubject("")))
	if err != nil || lane < 0 || lane >= lanes {
		return
	}
	b.take.mu.Lock()
	defer b.take.mu.Unlock()
	for waiting := range b.take.waiting {
		select {
		case waiting <- lane:
		default: // it has much to ask for
		}
	}
}

// wait begins to listen to announcements.
func (t *taker) wait() (announced chan int, end func()) {
	announced = make(chan int, lanes)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting == nil {
		t.waiting = map[chan int]bool{}
	}
	t.waiting[announced] = true
	return announced, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.waiting, announced)
	}
}

// Take implements [cluster.Queue].
func (b *Bus) Take(ctx context.Context, wait time.Duration) (cluster.Job, error) {
	if ctx.Err() != nil {
		return nil, b.unreachable(ctx, "take a job", ctx.Err())
	}
	over := time.NewTimer(wait)
	defer over.Stop()
	if err := b.prepareLanes(ctx); err != nil {
		return nil, err
	}
	announced, end := b.take.wait()
	defer end()
	j, err := b.first(ctx)
	for j == nil {
		again := time.NewTimer(b.o.AckWait/20 + mathrand.N(b.o.AckWait/10)) // workers do not ask all at once
		select {
		case lane := <-announced:
			if j, err = b.pull(lane, 0); j == nil && err == nil && len(announced) == 0 {
				j, err = b.pull(lane, lateTime)
			}
		case <-again.C:
			j, err = b.first(ctx)
		case <-over.C:
			return nil, err
		case <-ctx.Done():
			return nil, b.unreachable(ctx, "take a job", ctx.Err())
		case <-b.live.Done():
			return nil, b.unreachable(ctx, "take a job", nil)
		}
		again.Stop()
	}
	return j, nil
}

// first takes a job of the lowest lane that has one.
func (b *Bus) first(ctx context.Context) (*job, error) {
	for lane := range lanes {
		if j, err := b.pull(lane, 0); j != nil || err != nil {
			return j, err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, nil
}

// pull asks for a job of a lane, and waits for one. No job is no error. It does not end
// with the context of its caller: a job that is on its way would be lost for a while.
func (b *Bus) pull(lane int, wait time.Duration) (*job, error) {
	ctx, cancel := context.WithTimeout(b.live, wait+attemptTime)
	defer cancel()
	question := map[string]any{"batch": 1}
	if wait > 0 {
		question["expires"] = wait
	} else {
		question["no_wait"] = true
	}
	text, _ := json.Marshal(question)
	m, err := b.ask(ctx, "$JS.API.CONSUMER.MSG.NEXT."+b.queue()+"."+consumerName(lane), text)
	if err != nil {
		return nil, b.unreachable(ctx, "take a job", err)
	}
	switch status := m.Header.Get("Status"); {
	case status == "404" || status == "408": // none
		return nil, nil
	case status != "" || !strings.HasPrefix(m.Reply, "$JS.ACK."):
		return nil, b.unreachable(ctx, "take a job", fmt.Errorf("status %s %s", status, m.Header.Get("Description")))
	}
	return &job{b, m, lane}, nil
}

// ask is a request whose answer has another subject than it was asked to have, as that of
// a message of a consumer has.
func (b *Bus) ask(ctx context.Context, subject string, question []byte) (*nats.Msg, error) {
	sub, err := b.nc.SubscribeSync(b.nc.NewInbox())
	if err != nil {
		return nil, err
	}
	defer sub.Unsubscribe()
	if err := b.nc.PublishRequest(subject, sub.Subject, question); err != nil {
		return nil, err
	}
	return sub.NextMsgWithContext(ctx)
}

// job is one that was taken.
type job struct {
	b    *Bus
	m    *nats.Msg
	lane int
}

func (j *job) Data() []byte { return j.m.Data }

func (j *job) say(what string) error {
	if err := j.b.nc.Publish(j.m.Reply, []byte(what)); err != nil {
		return fmt.Errorf("%w: %w", cluster.ErrUnreachable, err)
	}
	return nil
}

func (j *job) Working() error { return j.say("+WPI") }

func (j *job) Later(after time.Duration) error {
	what := "-NAK"
	if after > 0 {
		what += fmt.Sprintf(` {"delay": %d}`, after.Nanoseconds())
	}
	time.AfterFunc(after, func() { j.b.announce(j.lane) })
	return j.say(what)
}

// Done waits until the job has gone from the stream, so that one of its id can be offered
// again.
func (j *job) Done() error {
	return j.b.retry(context.Background(), "end a job", func(ctx context.Context) error {
		if _, err := j.b.nc.RequestWithContext(ctx, j.m.Reply, []byte("+ACK")); err != nil {
			return err
		}
		meta, err := j.m.Metadata()
		if err != nil {
			return final{err}
		}
		for {
			last, err := j.b.latest(ctx, j.b.queue(), j.m.Subject)
			if err != nil || last.Seq != meta.Sequence.Stream {
				return err
			}
			if !j.b.pause(ctx, 5*time.Millisecond) {
				return ctx.Err()
			}
		}
	})
}
